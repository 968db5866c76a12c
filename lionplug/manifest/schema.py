"""The JSON Schema of ``plugin.yaml``, from the same declarations that read it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lionplug.documents.declare import EXTENSION, json_schema, table_of
from lionplug.documents.fields import Choice, Text
from lionplug.manifest.head import SPECIFIER, Head
from lionplug.manifest.schema_keywords import DIALECT
from lionplug.manifest.section import Section
from lionplug.manifest.sections import SECTIONS

_ANNOTATIONS = {f"^{EXTENSION}": True}


def manifest_schema(
    host: str = "lionplug", sections: Mapping[str, Section] = SECTIONS
) -> dict[str, Any]:
    """Return a JSON Schema (2020-12) for the manifests of one host.

    Every manifest that is read without a problem is valid, except one in which a text is
    an unquoted ``null``. A valid one may still be refused for what JSON Schema can't say:
    names that stand twice, patterns that leave out a declared file, details of PEP 440,
    PEP 508 and regular expressions, and everything about the spelling of YAML.

    :param host: Name of the host.
    :param sections: What may stand below ``capabilities``.
    """
    schema = json_schema(Head)
    properties = schema.pop("properties")
    # The key of another host is told by its value, and no other key has such a value.
    others = {"type": "string", "pattern": SPECIFIER.schema["pattern"]}
    return {
        "$schema": DIALECT,
        "$id": f"urn:lionplug:plugin-manifest:1:{host}",
        "title": f"Manifest of a plugin for {host} (plugin.yaml)",
        "description": "What a plugin declares: pure data, read without running anything.",
        **schema,
        "properties": {
            **properties,
            host: {**SPECIFIER.json_schema(), "description": f"Versions of {host} that it fits."},
            "capabilities": _capabilities(sections, properties["capabilities"]["description"]),
        },
        "patternProperties": _ANNOTATIONS,
        "additionalProperties": others,
    }


def _capabilities(sections: Mapping[str, Section], doc: str) -> dict[str, Any]:
    return {
        "type": "object",
        "description": doc,
        "properties": {key: _section(section) for key, section in sections.items()},
        "patternProperties": _ANNOTATIONS,
        "additionalProperties": False,
    }


def _section(section: Section) -> dict[str, Any]:
    if section.bare:
        entry = table_of(section.entry).keys[section.bare].type.json_schema()
    else:
        entry = json_schema(section.entry)
    entry = {"title": section.entry.__name__, **entry}
    if section.layout == "list":
        return {"type": "array", "description": section.doc, "items": entry}
    schema: dict[str, Any] = {
        "type": "object",
        "description": section.doc,
        "additionalProperties": entry,
    }
    if isinstance(section.keys, (Choice, Text)):
        schema["propertyNames"] = {**section.keys.json_schema(), "type": "string"}
    return schema
