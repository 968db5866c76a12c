"""Which languages a directory is written in."""

import os
from collections import Counter

from . import walk

LANGUAGES = {
    ".c": "C",
    ".cfg": "INI",
    ".cpp": "C++",
    ".css": "CSS",
    ".go": "Go",
    ".h": "C",
    ".html": "HTML",
    ".java": "Java",
    ".js": "JavaScript",
    ".json": "JSON",
    ".md": "Markdown",
    ".py": "Python",
    ".rs": "Rust",
    ".rst": "reStructuredText",
    ".sh": "Shell",
    ".toml": "TOML",
    ".ts": "TypeScript",
    ".txt": "Text",
    ".yaml": "YAML",
    ".yml": "YAML",
}


def count_lines(path: str, limit: int = 10) -> str:
    """Count the files and lines of a directory by language.

    Args:
        path: Directory to look at.
        limit: How many languages to list.
    """
    file_count, line_count = Counter(), Counter()
    for file in walk.files(path):
        language = LANGUAGES.get(os.path.splitext(file)[1].lower())
        if language is not None:
            file_count[language] += 1
            line_count[language] += len(walk.lines(file))
    rows = [
        f"{language:<18}{file_count[language]:>6} files{lines:>9} lines"
        for language, lines in line_count.most_common(limit)
    ]
    return "\n".join(rows) or "No file of a known language."
