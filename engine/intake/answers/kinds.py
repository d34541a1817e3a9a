"""Which files hold the answers of a whole class, by name and first look."""

from __future__ import annotations

import re

__all__ = ["TABLES", "is_class_yaml"]

# Suffixes of tables; YAML has to be looked into, since a student's own quiz file is YAML too.
TABLES = frozenset({".csv", ".tsv", ".xlsx"})
_OWN_QUIZ = re.compile(r"^(questions|student)[ \t]*:", re.MULTILINE)
# A line without indent that begins an entry of a list, or a student's mapping or list.
_ENTRY = re.compile(r"^(?:-(?:[ \t].*)?|[^\s#\-].*:[ \t]*(?:[{\[].*|#.*)?)$", re.MULTILINE)


def is_class_yaml(text: str) -> bool:
    """Return whether a YAML text is a list or mapping of students, and no student's own quiz file."""
    return _OWN_QUIZ.search(text) is None and _ENTRY.search(text.removeprefix("\ufeff")) is not None
