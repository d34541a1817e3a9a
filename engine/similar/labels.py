"""What students are called on a page: by name, or hidden behind numbers."""

from __future__ import annotations

from engine.course import People
from engine.foreign import clean_line
from engine.similar.work import Work

__all__ = ["Labels"]


class Labels(People):
    """Labels of students, some of them of another year, and of their files."""

    def of(self, work: Work) -> str:
        """Return the label of whoever handed in a file."""
        return self.student(work.who, is_earlier=work.is_earlier)

    def student(self, who: str, *, is_earlier: bool = False) -> str:
        """Return the label of a student; one of another year is marked so."""
        later = " (earlier)" if is_earlier else ""
        if self.is_hidden:
            return f"{self.numbered((is_earlier, who))}{later}"
        name = "" if is_earlier else self.name(who)
        shown = clean_line(who)
        return f"{name} ({shown}){later}" if name and name != shown else f"{shown}{later}"

    def filename(self, work: Work) -> str:
        """Return the name of a file; it often holds its student's, so it is hidden with that."""
        return "" if self.is_hidden else clean_line(work.filename)
