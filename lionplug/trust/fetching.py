"""Commands that fetch code: what they run is not what was approved (security rule S25, S38)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

# Programs that fetch, whatever their arguments.
_ALWAYS = frozenset(
    (
        *("npx", "pnpx", "bunx", "uvx", "pipx", "dnx", "curl", "wget", "aria2c", "nix-shell"),
        *("iwr", "irm", "invoke-webrequest", "invoke-restmethod", "easy_install", "http", "https"),
    )
)
# Programs that fetch with one of these words as their first.
_PIP = ("install", "download", "wheel")
_CONDA = ("install", "create", "update", "env")
_SYSTEM = ("install", "add", "-S", "upgrade")
_WITH_WORD: dict[str, tuple[str, ...]] = {
    "pip": _PIP,
    "uv": ("run", "tool", "pip", "sync", "add", "x"),
    "poetry": ("install", "add"),
    "pipenv": ("install", "sync"),
    "conda": _CONDA,
    "mamba": _CONDA,
    "micromamba": _CONDA,
    "npm": ("exec", "x", "install", "i", "ci", "add", "init", "create", "update"),
    "yarn": ("dlx", "add", "install", "create"),
    "pnpm": ("dlx", "add", "install", "i", "create"),
    "bun": ("x", "add", "install", "i", "create"),
    "deno": ("install", "add"),
    "go": ("run", "install", "get"),
    "cargo": ("install", "binstall"),
    "gem": ("install",),
    "bundle": ("install",),
    "composer": ("install", "require", "global"),
    "dotnet": ("tool", "restore"),
    "docker": ("run", "pull", "create", "compose", "build"),
    "podman": ("run", "pull", "create", "compose", "build"),
    "nerdctl": ("run", "pull", "create", "compose", "build"),
    "docker-compose": ("up", "run", "pull"),
    "git": ("clone", "fetch", "pull", "submodule"),
    "gh": ("repo", "release", "extension"),
    "hg": ("clone", "pull"),
    "svn": ("checkout", "co", "export", "update"),
    "nix": ("run", "shell", "develop"),
    "brew": ("install",),
    "apt": _SYSTEM,
    "apt-get": _SYSTEM,
    "dnf": _SYSTEM,
    "yum": _SYSTEM,
    "apk": _SYSTEM,
    "pacman": _SYSTEM,
}
_PYTHON = re.compile(r"(?:python|pypy)w?[0-9.]*\Z|py\Z")
_PIP_NAME = re.compile(r"pip[0-9.]*\Z")
# Programs that run a command which their arguments hold.
_STARTERS = frozenset(
    (
        *("sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "cmd", "powershell", "pwsh"),
        *("env", "sudo", "doas", "nohup", "nice", "ionice", "time", "timeout", "exec", "command"),
        *("xargs", "stdbuf", "setsid", "script", "unbuffer", "strace", "busybox", "watch", "flock"),
    )
)
_REMOTE = re.compile(r"(?:https?|npm|jsr|git\+https?|git\+ssh|ssh):", re.IGNORECASE)
# In a shell's text anything that can't stand in a program's name separates words.
_SHELL_WORDS = re.compile(r"[^\s;&|()<>`$\"'{}\\]+")

# Words behind a program among which its subcommand is looked for.
_WORDS_AFTER = 12


def fetching_program(argv: Sequence[str]) -> str | None:
    """Return the program in a command that fetches code, ``None`` if none is known to.

    Behind a shell, ``env``, ``sudo`` and other programs that start another one, every
    word counts as a possible command: a flag too many is a question, one too few is a
    surprise. A list of known programs can't be complete, and what a bundle's own script
    fetches is not seen.

    :param argv: The command.
    :returns: Text such as ``"npx"`` or ``"git clone"``.
    """
    if not argv:
        return None
    program = _name(argv[0])
    if program not in _STARTERS:
        return _direct(program, argv[1 : 1 + _WORDS_AFTER])
    words = [word for element in argv for word in _SHELL_WORDS.findall(element)]
    for index, word in enumerate(words):
        found = _direct(_name(word), words[index + 1 : index + 1 + _WORDS_AFTER])
        if found:
            return found
    return None


def _name(word: str) -> str:
    """Return a program's name without folder, ending and case."""
    word = word.removeprefix("--split-string=").removeprefix("-S")  # ``env -S"npx x"``
    name = re.split(r"[/\\]", word)[-1].lower()
    for suffix in (".exe", ".cmd", ".bat"):
        name = name.removesuffix(suffix)
    return name.partition("@")[0]


def _direct(program: str, rest: Sequence[str]) -> str | None:
    if program in _ALWAYS:
        return program
    if _PYTHON.match(program):
        return _python_module(rest)
    if _PIP_NAME.match(program):
        program = "pip"
    if program in ("deno", "node", "bun") and any(_REMOTE.match(word) for word in rest):
        return f"{program} with a remote module"
    words = _WITH_WORD.get(program, ())
    for word in _first_words(rest):
        if word in words:
            return f"{program} {word}"
    if program == "yarn" and not any(not word.startswith("-") for word in rest):
        return program
    return None


def _python_module(rest: Sequence[str]) -> str | None:
    for index, word in enumerate(rest):
        if word == "-m" or (word.startswith("-m") and word[2:]):
            module = word[2:] or "".join(rest[index + 1 : index + 2])
            after = rest[index + (1 if word[2:] else 2) :]
            if module in ("pip", "uv", "pipx"):
                return _direct(module, after)
            return "python -m ensurepip" if module == "ensurepip" else None
        if not word.startswith("-"):
            return None
    return None


def _first_words(rest: Sequence[str]) -> Iterator[str]:
    """Yield the words that can be the subcommand: the first, and more behind options."""
    option = False
    for word in rest:
        if word.startswith("-"):
            if word == "-S":
                yield word
            option = "=" not in word
        else:
            yield word
            if not option:
                return
            option = False
