"""What a file of a bundle is to a reader: code, instructions, data or a binary."""

from __future__ import annotations

#: Endings of files that some program runs, imports or loads.
CODE_ENDINGS = frozenset(
    (
        *("py", "pyw", "pyx", "pyc", "pyo", "pyd", "pth", "ipynb", "so", "dll", "dylib"),
        *("sh", "bash", "zsh", "ksh", "fish", "csh", "ps1", "psm1", "bat", "cmd", "vbs"),
        *("js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx", "node", "wasm", "html", "svg"),
        *("rb", "pl", "pm", "php", "lua", "tcl", "awk", "r", "jl", "groovy", "scpt"),
        *("go", "rs", "c", "h", "cc", "cpp", "hpp", "java", "kt", "swift", "cs", "jar", "class"),
        *("exe", "com", "msi", "bin", "elf", "o", "a", "mk", "desktop", "command", "service"),
    )
)
#: Files without an ending that a program runs when it is pointed at their folder.
CODE_NAMES = frozenset(("makefile", "gnumakefile", "dockerfile", "justfile", "rakefile", ".envrc"))

#: Endings of text that a model or a person is meant to read.
INSTRUCTION_ENDINGS = frozenset(("md", "markdown", "mdx", "txt", "rst", "prompt", "mdc"))

PYTHON_ENDINGS = frozenset(("py", "pyw"))


def ending(path: str) -> str:
    """Return the lower-case ending of a path's last component, without its dot."""
    stem, dot, last = path.rpartition("/")[2].rpartition(".")
    return last.lower() if dot and stem else ""


def is_code(path: str, head: bytes, run_bit: bool) -> bool:
    """Tell whether a file is code: by run bit, ending, name or ``#!`` line.

    :param path: Path in the bundle.
    :param head: The first bytes of the file, at least two.
    :param run_bit: Whether its owner may execute it.
    """
    return (
        run_bit
        or head.startswith(b"#!")
        or ending(path) in CODE_ENDINGS
        or path.rpartition("/")[2].lower() in CODE_NAMES
    )


def is_instruction(path: str) -> bool:
    """Tell by its ending whether a file is prose."""
    return ending(path) in INSTRUCTION_ENDINGS


def is_python_name(path: str) -> bool:
    """Tell by its ending whether a file is Python source."""
    return ending(path) in PYTHON_ENDINGS


def is_python(path: str, head: bytes) -> bool:
    """Tell whether a Python interpreter would be given the file."""
    if is_python_name(path):
        return True
    first = head.split(b"\n", 1)[0]
    return first.startswith(b"#!") and b"python" in first
