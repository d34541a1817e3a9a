"""What students are called in a report: by id and name, or by a number."""

from __future__ import annotations

from collections.abc import Mapping

from engine.foreign import clean_line

__all__ = ["People"]


class People:
    """Labels of students.

    Parameters
    ----------
    names : mapping of str to str
        Names by id, as far as the roster has them.
    is_hidden : bool
        Number the students in the order in which they come up: the order of ids would tell who they are.
    """

    def __init__(self, names: Mapping[str, str], *, is_hidden: bool = False) -> None:
        self.is_hidden = is_hidden
        self._names = names
        self._numbers: dict[str, int] = {}

    def id(self, student: str) -> str:
        """Return the id of a student, or the number in its place."""
        if self.is_hidden:
            return f"Student {self._numbers.setdefault(student, len(self._numbers) + 1)}"
        return clean_line(student)

    def name(self, student: str) -> str:
        """Return the name; empty where there is none or it is hidden."""
        return "" if self.is_hidden else clean_line(self._names.get(student, ""))
