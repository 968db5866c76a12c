"""Rules about what is called: the functions of tools and hooks, and their arguments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lionplug.authoring.places import Places
from lionplug.documents.nodes import shown
from lionplug.errors import Problem
from lionplug.files.trees import Tree
from lionplug.manifest.capability import Capability, label
from lionplug.manifest.model import Manifest
from lionplug.sources import Parameter, Signatures, SourceSignature, read_signatures

#: Words of a schema beside which ``properties`` and ``required`` don't say everything.
_FURTHER = frozenset(("$ref", "allOf", "anyOf", "oneOf", "if", "patternProperties"))

_NAMED = ("positional_or_keyword", "keyword_only")


def call_problems(manifest: Manifest, tree: Tree, places: Places) -> Iterator[Problem]:
    """Yield what is wrong with the tools and hook implementations of a manifest.

    :param manifest: The manifest.
    :param tree: Its files; what is missing there is told by another rule.
    :param places: Where the capabilities stand.
    """
    signatures = _signatures(manifest, tree)
    for capability in manifest.capabilities:
        signature = signatures.get(capability.target)
        if capability.target in signatures:
            yield from _target_problems(capability, signatures, places)
        if capability.surface == "tools":
            yield from _tool_problems(capability, signature, places)


def _signatures(manifest: Manifest, tree: Tree) -> Signatures:
    """Read the signatures of all targets whose file is there, importing nothing (S36)."""
    files: dict[str, bytes] = {}
    targets = []
    for capability in manifest.capabilities:
        path, colon, name = capability.target.partition(":")
        if colon and tree.is_file(path):
            targets.append((path, name))
            if path not in files:
                files[path] = tree.read(path)
    return read_signatures(files, targets)


def _target_problems(
    capability: Capability, signatures: Signatures, places: Places
) -> Iterator[Problem]:
    unread = signatures.unread.get(capability.target)
    if unread is None or (not unread.missing and "parameters" in capability.detail):
        return
    who = label(capability.surface, capability.name)
    code = "target-missing" if unread.missing else "target-unread"
    end = (
        "correct the target, or define the function."
        if unread.missing
        else "so what it takes is not known; define it there by 'def', or declare it."
    )
    yield places.problem(
        capability,
        "target",
        code,
        f"{who}: {shown(capability.target, 200)}: {unread.reason}; {end}",
    )


def _tool_problems(
    tool: Capability, signature: SourceSignature | None, places: Places
) -> Iterator[Problem]:
    who = label(tool.surface, tool.name)
    schema = tool.detail.get("parameters")
    is_known = signature is not None or not tool.target  # the docstring, too, may be elsewhere
    if not tool.detail.get("description") and is_known and not (signature and signature.summary):
        where = "the function a docstring, or the entry " if tool.target else "the entry "
        message = f"{who} says nowhere what it does; give {where}a 'description'."
        yield places.problem(tool, "target", "tool-without-description", message)
    if isinstance(schema, Mapping):
        if signature is not None and not signature.uncertain:
            yield from _disagreements(tool, schema, signature, places)
    elif signature is None and not tool.target:
        message = f"nothing says which arguments {who} takes; declare 'parameters'."
        yield places.problem(tool, "target", "tool-without-schema", message)
    elif signature is not None:
        for parameter in signature.parameters:
            if parameter.kind in _NAMED and not parameter.annotation:
                yield places.problem(
                    tool,
                    "target",
                    "parameter-without-type",
                    f"the parameter {shown(parameter.name)} of {who} has no annotation, so that "
                    "any value is accepted; annotate it, or declare 'parameters'.",
                )
    if signature is not None and not signature.uncertain:
        yield from _positional(tool, signature, places)


def _positional(tool: Capability, signature: SourceSignature, places: Places) -> Iterator[Problem]:
    for parameter in signature.parameters:
        if parameter.kind == "positional_only" and not parameter.has_default:
            yield places.problem(
                tool,
                "target",
                "parameter-by-position",
                f"the parameter {shown(parameter.name)} of {label(tool.surface, tool.name)} can "
                "be given by position only, and tools are called with names; remove the '/' from "
                "the signature.",
            )


def _disagreements(
    tool: Capability, schema: Mapping[str, Any], signature: SourceSignature, places: Places
) -> Iterator[Problem]:
    """Yield where a declared schema and the function's signature can't both be right."""
    named = {one.name: one for one in signature.parameters if one.kind in _NAMED}
    takes_all = any(one.kind == "var_keyword" for one in signature.parameters)
    properties, required = schema.get("properties"), schema.get("required")
    arguments = list(properties) if isinstance(properties, Mapping) else []
    if isinstance(required, (list, tuple)):
        arguments += [name for name in required if name not in arguments]
    for name in arguments:
        if name not in named and not takes_all:
            yield places.problem(
                tool,
                "parameters",
                "schema-unknown-argument",
                f"the schema of {label(tool.surface, tool.name)} has {shown(name)}, and "
                f"{_function(tool)} takes no such argument; correct one of them.",
                "properties",
                name,
            )
    if _FURTHER.isdisjoint(schema):
        needed = required if isinstance(required, (list, tuple)) else ()
        for parameter in named.values():
            if _is_needed(parameter) and parameter.name not in needed:
                yield places.problem(
                    tool,
                    "parameters",
                    "schema-missing-argument",
                    f"{_function(tool)} needs the argument {shown(parameter.name)}, and the schema "
                    "does not require it; add it to 'required', or give it a default.",
                    "required",
                )


def _is_needed(parameter: Parameter) -> bool:
    return not parameter.has_default


def _function(tool: Capability) -> str:
    return f"the function {shown(tool.target.partition(':')[2])}"
