"""What students are called on a page: by name, or hidden behind numbers."""

from __future__ import annotations

from collections.abc import Mapping

from engine.foreign import clean_line
from engine.similar.work import Work

__all__ = ["Labels"]


class Labels:
    """Labels of students.

    Parameters
    ----------
    names : mapping of str to str
        Names by id, as far as the roster has them.
    is_hidden : bool
        Number the students in the order in which they come up; the order of ids would tell who they are.
    """

    def __init__(self, names: Mapping[str, str] | None = None, *, is_hidden: bool = False) -> None:
        self.is_hidden = is_hidden
        self._names = names or {}
        self._numbers: dict[tuple[bool, str], int] = {}

    def of(self, work: Work) -> str:
        """Return the label of whoever handed in a file."""
        return self.student(work.who, is_earlier=work.is_earlier)

    def student(self, who: str, *, is_earlier: bool = False) -> str:
        """Return the label of a student; one of another year is marked so."""
        later = " (earlier)" if is_earlier else ""
        if self.is_hidden:
            number = self._numbers.setdefault((is_earlier, who), len(self._numbers) + 1)
            return f"Student {number}{later}"
        name = "" if is_earlier else clean_line(self._names.get(who, ""))
        shown = clean_line(who)
        return f"{name} ({shown}){later}" if name and name != shown else f"{shown}{later}"

    def filename(self, work: Work) -> str:
        """Return the name of a file; it often holds its student's, so it is hidden with that."""
        return "" if self.is_hidden else clean_line(work.filename)
