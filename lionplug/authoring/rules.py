"""The rules of ``check``, one table: code, severity, what is wrong, how to mend it.

The page ``docs/reference/checks.md`` is generated from it. A code is stable: it is what
people search for, and what a project's own scripts compare.
"""

from __future__ import annotations

from attrs import frozen

ERROR, WARNING = "error", "warning"


@frozen
class Rule:
    """One rule.

    :param code: Stable identifier.
    :param severity: ``"error"``: it can't be approved, or something that is declared can't
        work; ``"warning"``: look at it.
    :param what: What is wrong, one sentence.
    :param mend: What to do, one sentence.
    """

    code: str
    severity: str
    what: str
    mend: str


def _errors(*rules: tuple[str, str, str]) -> tuple[Rule, ...]:
    return tuple(Rule(code, ERROR, what, mend) for code, what, mend in rules)


_READING = _errors(
    ("manifest-unreadable", "There is no `plugin.yaml`, or it can't be read.",
     "Add the file at the root of the bundle; at most 1 MiB, a regular file."),
    ("syntax", "The manifest is not valid YAML.", "Check indentation and quotes."),
    ("empty", "The manifest holds nothing.", "Write `name:` and `version:` at least."),
    ("not-a-mapping", "The manifest is a list or a text.", "Begin it with a key, `name:`."),
    ("several-documents", "A second document begins in the manifest.", "Remove the `---`."),
    ("encoding", "The manifest is not UTF-8.", "Save it as UTF-8."),
    ("nul", "The manifest holds a NUL character.", "Remove it."),
    ("lone-cr", "A carriage return stands without a line feed.", "End lines with LF or CRLF."),
    ("line-separator", "The manifest holds NEL, LS or PS.", "Remove it, or write it as an escape."),
    ("byte-order-mark", "A byte order mark stands inside the text.", "Remove it."),
    ("control-character", "The manifest holds a control character.",
     "Remove it, or write it as an escape in double quotes."),
    ("directive", "The manifest begins with a `%` directive.", "Remove it."),
    ("alias", "A value is an alias (`*name`).", "Write the value out."),
    ("anchor", "A value has an anchor (`&name`).", "Remove it."),
    ("tag", "A value has a tag (`!name`).", "Remove it; quote what is a text."),
    ("merge-key", "A mapping has a merge key (`<<`).", "Write the keys out."),
    ("complex-key", "A key is a list or a mapping.", "Write a text as key."),
    ("empty-key", "A colon has no key before it.", "Write one."),
    ("duplicate-key", "A key stands twice in one mapping.", "Keep one."),
    ("comment", "A ` #` cuts off what may be part of a text.", "Put the text in quotes."),
    ("empty-block", "A text looks like the start of a block.", "Put the text in quotes."),
    ("too-many-nodes", "The manifest has more than 50,000 keys and values.",
     "Move data into files of its own."),
    ("too-deep", "The manifest, or the tree, is nested too deeply.",
     "Nest less, or leave the directory out with `exclude`."),
    ("too-large", "The manifest has more than 1 MiB, or the tree more bytes than its limit.",
     "Move long texts into files; leave files out with `exclude`."),
    ("more", "There are more problems than are shown.", "Mend the others first."),
)  # fmt: skip

_FIELDS = _errors(
    ("missing-key", "A key that is required is not there.", "Add it."),
    ("unknown-key", "A key is not known.", "Correct it; begin keys of your own with `x-`."),
    ("type", "A value is of another kind than the key takes.", "Write what the message expects."),
    ("value", "A value is not one that the key takes.", "Write what the message expects."),
    ("number", "A number is beyond what JSON carries.", "Quote it if a text is meant."),
    ("name", "The name of the plugin has another form.", "Use a-z, 0-9 and `-`, at most 32."),
    ("specifier", "A range of versions is none.", "Write a PEP 440 range such as `>=1.2,<2`."),
    ("requirement", "A requirement is none.", "Write `name>=1.2`; see the manifest page."),
    ("pattern", "A pattern of `exclude` is none.", "Use `*`, `?` and `**` on relative paths."),
    ("path", "A path leads out of the bundle or has another form.",
     "Write a path relative to the bundle, with `/`."),
    ("reference", "A target is no `path.py:function`.", "Write the file and the function."),
    ("parameters", "The JSON Schema of a tool can't be used.", "Mend it as the message says."),
    ("matcher", "A matcher is no pattern.", "Mend it as the message says."),
    ("duplicate", "A list holds one item twice.", "Keep one."),
    ("duplicate-name", "Two entries of one surface have one name.", "Rename one of them."),
    ("excludes-declared", "`exclude` leaves out a file that the manifest needs.",
     "Make the pattern narrower."),
    ("no-host-key", "The manifest names no host.",
     "Add the key of the host with a range of its versions; without it the plugin is never used."),
)  # fmt: skip

_OTHER_HOST = Rule(
    "other-host", WARNING, "The manifest names other hosts than the one that it is checked for.",
    "Add the key of this host, or check for the other one with `--host`.",
)  # fmt: skip

_TREE = _errors(
    ("unreadable", "A file or directory can't be read.", "Change its mode or owner."),
    ("missing-file", "A file that the manifest names is not there.",
     "Add it or correct the manifest."),
    ("missing-directory", "A directory that the manifest names is not there, or lacks its file.",
     "Add it or correct the manifest."),
    ("name-form", "A name is empty, `.` or `..`.", "Rename it."),
    ("name-encoding", "A name is not UTF-8 in form NFC.", "Rename it."),
    ("name-character", "A name holds a backslash, a colon or a control character.", "Rename it."),
    ("name-ending", "A name ends in a dot or a space.", "Rename it."),
    ("name-reserved", "A name is that of a device on Windows.", "Rename it."),
    ("name-length", "A name or path is too long.", "Shorten it."),
    ("name-collision", "Two names differ in upper and lower case only.", "Rename one of them."),
    ("special-file", "Something is no regular file, directory or link.", "Remove it."),
    ("hard-link", "A file has a second name, by which it could be changed.",
     "Replace it by a copy."),
    ("link-absolute", "A link is absolute.", "Make it relative and inside the bundle."),
    ("link-outside", "A link leads out of the bundle.", "Point it inside."),
    ("link-dangling", "A link leads nowhere.", "Remove it or add its target."),
    ("link-loop", "A link needs too many links to resolve.", "Remove the loop."),
    ("link-excluded", "A link leads to what is left out.", "Point it elsewhere."),
    ("too-many", "The tree has too many entries.", "Leave some out with `exclude`."),
    ("changed", "The tree changed while it was read.", "Try again when it is at rest."),
    ("changed-while-copied", "A file changed while it was read.", "Try again."),
)  # fmt: skip

_TEXT = (
    Rule("text-encoding", ERROR, "Python source is not UTF-8, or declares another encoding.",
         "Save it as UTF-8 and remove the declaration."),
    Rule("source-too-large", ERROR, "Python source is too large to be examined.", "Split it."),
    Rule("text-bidi", WARNING, "Characters steer the direction of text.",
         "Remove them, or write them as escapes."),
    Rule("text-invisible", WARNING, "A file holds invisible characters.",
         "Remove them, or write them as escapes."),
    Rule("text-control", WARNING, "A file holds control characters.",
         "Remove them, or write them as escapes."),
    Rule("text-lone-cr", WARNING, "A carriage return stands without a line feed.",
         "End lines with LF or CRLF."),
    Rule("text-separator", WARNING, "A file holds line separators that editors don't show.",
         "Remove them, or write them as escapes."),
    Rule("text-long-line", WARNING, "A line is too long to be read by a person.",
         "Ship the source and not a minified form."),
    Rule("text-binary", WARNING, "Code that can't be shown as text.",
         "Leave it out, or say in the README what it is and how it was built."),
    Rule("text-unexamined", WARNING, "A file is too large to be examined in full.",
         "Make it smaller, or leave it out with `exclude`."),
)  # fmt: skip

_SCRIPTS = (
    Rule("command-not-executable", ERROR, "A file that the manifest runs has no run bit.",
         "Run `chmod +x` on it."),
    Rule("script-crlf", ERROR, "A script has CRLF line ends, with which it does not start.",
         "Save it with LF."),
    Rule("script-without-run-bit", WARNING, "A file begins with `#!` and has no run bit.",
         "Run `chmod +x` on it, or remove the line."),
    Rule("undeclared-executable", WARNING, "A file can be run and no capability names it.",
         "Name it in the manifest, take its run bit off, or leave it out with `exclude`."),
)  # fmt: skip

_CALLS = (
    Rule("target-missing", ERROR, "The file of a target has no such function.",
         "Correct the name, or define the function at the top level of the file."),
    Rule("target-unread", WARNING, "What a target takes can't be read from its source.",
         "Define it by `def` in the file, or declare `parameters`."),
    Rule("tool-without-description", WARNING, "A tool says nowhere what it does.",
         "Give the function a docstring, or the entry a `description`."),
    Rule("tool-without-schema", WARNING, "Nothing says which arguments a tool takes.",
         "Declare `parameters`."),
    Rule("parameter-without-type", WARNING, "A parameter has no annotation and no schema.",
         "Annotate it, or declare `parameters`."),
    Rule("parameter-by-position", ERROR, "A required parameter can be given by position only.",
         "Tools are called with names: remove the `/` from the signature."),
    Rule("schema-unknown-argument", ERROR, "The schema has an argument that the function lacks.",
         "Correct the schema or the function."),
    Rule("schema-missing-argument", ERROR,
         "The function needs an argument that the schema does not require.",
         "Add it to `properties` and `required`, or give it a default."),
)  # fmt: skip

_IMPORTS = (
    Rule("source-syntax", ERROR, "A Python file does not parse.",
         "Mend it, or leave it out with `exclude`."),
    Rule("import-beside", WARNING,
         "An absolute import names a file that lies beside the module and not at the root.",
         "Write `from . import name`: the folder of a module is on no path."),
    Rule("import-shadowed", WARNING,
         "An absolute import names a module of the standard library and a file of the bundle.",
         "Rename the file, or import it by `from . import name`."),
    Rule("stdlib-name", WARNING, "A file at the root has the name of a standard module.",
         "Rename it: `import name` always gives the standard library."),
    Rule("imports-unread", WARNING, "The imports of a Python file were not read.",
         "Split it: files of at most 64 KiB are read, 8 MiB in all."),
)  # fmt: skip

#: Headings of the page and the rules below each.
GROUPS: dict[str, tuple[Rule, ...]] = {
    "Reading the manifest": _READING,
    "Keys of the manifest": (*_FIELDS, _OTHER_HOST),
    "Files": _TREE,
    "Text": _TEXT,
    "Scripts": _SCRIPTS,
    "Tools and hooks": _CALLS,
    "Imports": _IMPORTS,
}

#: Every rule by its code.
RULES: dict[str, Rule] = {rule.code: rule for rules in GROUPS.values() for rule in rules}


def severity_of(code: str) -> str:
    """Return the severity of a code; one that is not listed, of a host's own, is an error."""
    rule = RULES.get(code)
    return rule.severity if rule else ERROR
