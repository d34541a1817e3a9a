"""Rows of a new text file: a cell for each target."""

from __future__ import annotations

from collections.abc import Sequence

from engine.course import StudentRow
from engine.gradebooks.cells import text_cell
from engine.gradebooks.entries import comment_of, entry_of
from engine.gradebooks.gradebook import Listed, Request
from engine.gradebooks.signs import Signs, entry_cell, tell_entry
from engine.gradebooks.targets import Target

__all__ = ["NewRows"]


class NewRows:
    """Makes the cells of one student after another, and counts and lists what they hold.

    Parameters
    ----------
    targets : sequence of Target
    signs : Signs
    request : Request
        With ``feedback`` a column of comments follows each target's.
    scaled : bool
        As in :func:`engine.gradebooks.entries.entry_of`.
    """

    def __init__(
        self, targets: Sequence[Target], signs: Signs, request: Request, *, scaled: bool = True
    ) -> None:
        self._scaled = scaled
        self._targets = targets
        self._signs = signs
        self._feedback = request.feedback
        self._decimal_comma = request.decimal_comma
        self.marks = 0
        self.listed: list[Listed] = []

    @property
    def headings(self) -> dict[str, str]:
        """Heading → ids of ours."""
        return {target.heading: target.ids for target in self._targets}

    def head(self) -> list[str]:
        """Return the headings."""
        heads = [text_cell(target.heading) for target in self._targets]
        return [
            cell for head in heads for cell in ((head, f"{head} (feedback)") if self._feedback else (head,))
        ]

    def cells(self, row: StudentRow) -> list[str]:
        """Return the cells of one student."""
        found = []
        for target in self._targets:
            entry = entry_of(row, target, scaled=self._scaled)
            self.listed += tell_entry(entry, row.student, target.heading)
            self.marks += self._signs.has(entry)
            found.append(entry_cell(entry, self._signs, decimal_comma=self._decimal_comma))
            if self._feedback:
                found.append(text_cell(comment_of(row, target.columns)))
        return found
