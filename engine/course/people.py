"""What students are called on pages for the instructor: by id and name, or by a number."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from engine.foreign import clean_line

__all__ = ["People"]


class People:
    """Labels of students.

    Parameters
    ----------
    names : mapping of str to str, optional
        Names by id, as far as the roster has them.
    is_hidden : bool
        Number the students in the order in which they come up: the order of ids would tell who they are.
    """

    def __init__(self, names: Mapping[str, str] | None = None, *, is_hidden: bool = False) -> None:
        self.is_hidden = is_hidden
        self._names = names or {}
        self._numbers: dict[Hashable, int] = {}

    def id(self, student: str) -> str:
        """Return the id of a student, or the number in its place."""
        return self.numbered(student) if self.is_hidden else clean_line(student)

    def numbered(self, who: Hashable) -> str:
        """Return the number that stands for somebody, the same one each time."""
        return f"Student {self._numbers.setdefault(who, len(self._numbers) + 1)}"

    def name(self, student: str) -> str:
        """Return the name; empty where there is none or it is hidden."""
        return "" if self.is_hidden else clean_line(self._names.get(student, ""))
