"""The helper process: reads source from stdin, writes signatures as JSON lines to stdout.

Run as ``python -I -S child.py``, never imported by lionplug. It takes its own limits
before it reads a byte, knows nothing of lionplug, opens no file and answers file by
file, so that what it found before a crash is not lost (security rule S36).

Input: one line of JSON, ``[[size, [name, ...]], ...]``, then the bytes of those files one
after the other. Output: for each file one line, ``{name: signature, ...}``, with
``{"unread": why, ...}`` in the place of a signature that there is not. A file with ``null``
in the place of the names is asked for its imports: ``{"imports": [[name, line, column], ...]}``.
"""

from __future__ import annotations

import ast
import json
import resource
import sys
from collections.abc import Iterable
from typing import Any

MEMORY = 512 * 2**20  # bytes of address space
CPU_SECONDS = 2

MAX_PARAMETERS = 64
MAX_ANNOTATION = 300  # characters
MAX_DOC = 2000  # characters
MAX_TEXT_DEFAULT = 200  # characters
MAX_ITEMS = 20  # in a default that is a list or a mapping
MAX_INTEGER = 2**53  # beyond it JSON readers disagree
MAX_MESSAGE = 200  # characters of what the parser says
MAX_NEAR = 500  # functions, and characters of a name, among which a like name is looked for
MAX_NEAR_NAME = 64
MAX_IMPORTS = 200  # of one file

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def take_limits() -> None:
    """Limit this process, or end it: without limits nothing foreign is read."""
    _limit(resource.RLIMIT_CPU, CPU_SECONDS)
    _limit(resource.RLIMIT_FSIZE, 0)
    _limit(resource.RLIMIT_CORE, 0)
    try:
        _limit(resource.RLIMIT_AS, MEMORY)
    except (OSError, ValueError):
        if sys.platform != "darwin":  # which has the constant and refuses the limit
            raise


def _limit(kind: int, value: int) -> None:
    hard = resource.getrlimit(kind)[1]
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    resource.setrlimit(kind, (value, value))


def main() -> None:
    """Answer one request."""
    take_limits()
    stdin = sys.stdin.buffer
    for size, names in json.loads(stdin.readline()):
        data = stdin.read(size)
        answer = imports(data) if names is None else describe(data, names)
        sys.stdout.write(json.dumps(answer, allow_nan=False) + "\n")
        sys.stdout.flush()


def describe(data: bytes, names: list[str]) -> dict[str, Any]:
    """Return a signature, or why there is none, for each of ``names`` in one source file."""
    try:
        bindings = _bindings(ast.parse(data.decode("utf-8-sig")))
        return {name: _describe_one(bindings, name) for name in names}
    except SyntaxError as error:
        return dict.fromkeys(names, _unparsed(error.lineno, error.msg))
    except ValueError as error:  # a NUL character, for some versions of Python
        return dict.fromkeys(names, _unparsed(0, str(error)))
    except (RecursionError, MemoryError):
        return {name: {"unread": "nested"} for name in names}


def imports(data: bytes) -> dict[str, Any]:
    """Return the first names of the absolute imports of one source file, once for each name.

    Left out is what stands below ``if TYPE_CHECKING:``, which is never run.
    """
    try:
        found: dict[str, list[Any]] = {}
        waiting: list[ast.AST] = [ast.parse(data.decode("utf-8-sig"))]
        while waiting and len(found) < MAX_IMPORTS:
            node = waiting.pop()
            for name in _imported(node):
                found.setdefault(name, [name, node.lineno, node.col_offset + 1])  # type: ignore[attr-defined]
            below = list(ast.iter_child_nodes(node))
            if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
                below = [part for part in below if part not in node.body]
            waiting.extend(reversed(below))
        return {"imports": list(found.values())}
    except SyntaxError as error:
        return _unparsed(error.lineno, error.msg)
    except ValueError as error:
        return _unparsed(0, str(error))
    except (RecursionError, MemoryError):
        return {"unread": "nested"}


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        names = [node.module]
    else:
        return []
    return [name.partition(".")[0] for name in names if len(name) <= MAX_ANNOTATION]


def _unparsed(line: int | None, message: str) -> dict[str, Any]:
    text = message.encode("utf-8", "replace").decode()[:MAX_MESSAGE]
    return {"unread": "syntax", "line": max(line or 0, 0), "message": text}


def _describe_one(bindings: _Bindings, name: str) -> dict[str, Any]:
    if name in bindings.functions:
        return signature(*bindings.functions[name]) or {"unread": "parameters"}
    if name in bindings.instead:
        return {"unread": bindings.instead[name]}
    if bindings.is_open:
        return {"unread": "unknown"}
    return {"unread": "missing", "near": _near(name, bindings.functions)}


def _near(name: str, functions: Iterable[str]) -> str:
    """Return the function with the most similar name, ``""`` if none is similar."""
    import difflib  # only for those who need it: the helper must start fast

    known = [one for one in functions if len(one) <= MAX_NEAR_NAME][:MAX_NEAR]
    return "".join(difflib.get_close_matches(name[:MAX_NEAR_NAME], known, 1))


class _Bindings:
    """What a module's names are bound to, following its statements in order.

    ``functions`` has name to (definition, whether it is uncertain that this is what is
    called: decorated, assigned again, or defined in several branches), ``instead`` what
    another name stands for: ``"class"``, ``"import"`` or ``"value"``.
    """

    def __init__(self) -> None:
        self.functions: dict[str, tuple[ast.FunctionDef | ast.AsyncFunctionDef, bool]] = {}
        self.instead: dict[str, str] = {}
        self._star = False
        self._touched: set[str] = set()

    @property
    def is_open(self) -> bool:
        """Whether the module may have names that its statements don't show."""
        return self._star or "__getattr__" in self.functions

    def define(self, node: ast.FunctionDef | ast.AsyncFunctionDef, branch: bool) -> None:
        rivals = branch and node.name in self._touched
        self.functions[node.name] = (node, rivals or bool(node.decorator_list))
        self._touched.add(node.name)

    def rebind(
        self, name: str, branch: bool, kind: str = "value", *, value_known: bool = False
    ) -> None:
        """Note that ``name`` may now be something else, certainly so if ``value_known``."""
        self._touched.add(name)
        self.instead[name] = kind
        if value_known and not branch:
            self.functions.pop(name, None)
        elif name in self.functions:
            self.functions[name] = (self.functions[name][0], True)

    def rebind_all(self) -> None:
        """Note an ``import *``, which may bind any name."""
        self._star = True
        for name in self.functions:
            self.rebind(name, True, "import")


def _bindings(module: ast.Module) -> _Bindings:
    """Return what the module's own names stand for."""
    bindings = _Bindings()
    _follow(module.body, bindings, branch=False)
    return bindings


def _follow(body: list[ast.stmt], bindings: _Bindings, branch: bool) -> None:
    for statement in body:
        if isinstance(statement, _FUNCTIONS):
            bindings.define(statement, branch)
        elif isinstance(statement, ast.ClassDef):
            bindings.rebind(statement.name, branch, "class", value_known=True)
        elif isinstance(statement, (ast.Import, ast.ImportFrom)):
            _follow_import(statement, bindings, branch)
        else:
            _follow_other(statement, bindings, branch)


def _follow_import(
    statement: ast.Import | ast.ImportFrom, bindings: _Bindings, branch: bool
) -> None:
    for alias in statement.names:
        if alias.name == "*":
            bindings.rebind_all()
        else:
            name = alias.asname or alias.name.partition(".")[0]
            bindings.rebind(name, branch, "import", value_known=True)


def _follow_other(statement: ast.stmt, bindings: _Bindings, branch: bool) -> None:
    """Follow a statement that may bind names by its expressions and by blocks inside it."""
    blocks: list[list[ast.stmt]] = []
    for part in ast.iter_child_nodes(statement):
        if not isinstance(part, ast.stmt):
            _follow_part(part, bindings, blocks)
    own = [getattr(statement, field, None) for field in ("body", "orelse", "finalbody")]
    inner = branch or not isinstance(statement, (ast.With, ast.AsyncWith))
    for block in [own[0], *blocks, *own[1:]]:
        if isinstance(block, list):
            _follow(block, bindings, inner)


def _follow_part(part: ast.AST, bindings: _Bindings, blocks: list[list[ast.stmt]]) -> None:
    waiting = [part]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.stmt):
            continue
        if isinstance(node, (ast.ExceptHandler, ast.match_case)):
            blocks.append(node.body)
        if isinstance(node, ast.Name):
            name = None if isinstance(node.ctx, ast.Load) else node.id
        else:  # ``except E as name``, ``case [*name]``, ``case {**rest}``
            name = getattr(node, "name", None) or getattr(node, "rest", None)
        if isinstance(name, str):
            bindings.rebind(name, True)
        waiting.extend(ast.iter_child_nodes(node))


def signature(
    node: ast.FunctionDef | ast.AsyncFunctionDef, uncertain: bool
) -> dict[str, Any] | None:
    """Return one function's signature as JSON-ready data, ``None`` if it is too large."""
    parameters = list(_parameters(node.args))
    if len(parameters) > MAX_PARAMETERS:
        return None
    doc = ast.get_docstring(node) or ""
    return {
        "parameters": parameters,
        "is_async": isinstance(node, ast.AsyncFunctionDef),
        "uncertain": uncertain,
        "doc": doc.encode("utf-8", "replace").decode()[:MAX_DOC],
        "line": node.lineno,
    }


def _parameters(args: ast.arguments) -> list[dict[str, Any]]:
    positional = [*args.posonlyargs, *args.args]
    missing = len(positional) - len(args.defaults)
    found = []
    for index, arg in enumerate(positional):
        first = index < len(args.posonlyargs)
        kind = "positional_only" if first else "positional_or_keyword"
        default = args.defaults[index - missing] if index >= missing else None
        found.append(_parameter(arg, kind, default))
    if args.vararg:
        found.append(_parameter(args.vararg, "var_positional", None))
    for arg, default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
        found.append(_parameter(arg, "keyword_only", default))
    if args.kwarg:
        found.append(_parameter(args.kwarg, "var_keyword", None))
    return found


def _parameter(arg: ast.arg, kind: str, default: ast.expr | None) -> dict[str, Any]:
    result: dict[str, Any] = {"name": arg.arg, "kind": kind}
    if arg.annotation is not None:
        text = ast.unparse(arg.annotation)
        result["annotation"] = text if len(text) <= MAX_ANNOTATION else "..."
    if default is not None:
        result["has_default"] = True
        try:
            result["default"] = literal(default)
        except ValueError:
            pass
    return result


def literal(node: ast.expr, depth: int = 0) -> Any:
    """Return the value of a literal that JSON can carry unchanged.

    :raises ValueError: It is not such a literal, or is too large.
    """
    if isinstance(node, ast.Constant):
        return _constant(node.value)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = literal(node.operand, depth)
        if type(value) in (int, float):
            return -value
    elif isinstance(node, ast.List) and depth < 2 and len(node.elts) <= MAX_ITEMS:
        return [literal(item, depth + 1) for item in node.elts]
    elif isinstance(node, ast.Dict) and depth < 2 and len(node.keys) <= MAX_ITEMS:
        pairs = zip(node.keys, node.values, strict=True)
        return {_key(key): literal(value, depth + 1) for key, value in pairs}
    raise ValueError("not a simple literal")


def _key(node: ast.expr | None) -> str:
    key = literal(node, 2) if node is not None else None
    if isinstance(key, str):
        return key
    raise ValueError("not a text key")


def _constant(value: object) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int) and abs(value) <= MAX_INTEGER:
        return value
    if isinstance(value, float) and abs(value) < float("inf"):
        return value
    if isinstance(value, str) and len(value) <= MAX_TEXT_DEFAULT:
        value.encode("utf-8")  # lone surrogates are a UnicodeEncodeError, which is a ValueError
        return value
    raise ValueError("not a simple constant")


if __name__ == "__main__":
    main()
