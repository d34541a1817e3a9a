"""Which of our columns stand under which heading."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from engine.course import ClassTable, Column
from engine.errors import UsageError
from engine.foreign import clean_line

__all__ = [
    "Target",
    "assignment_targets",
    "column_targets",
    "has_number",
    "named_targets",
    "plain_heading",
    "spoken",
]

TOTAL, PERCENT = "total", "percent"
_NUMBERED = re.compile(r"(?:(?<!\s)\s++)?\([0-9]++\)$")  # Canvas: "HW 1 (123)"


@dataclass(frozen=True, slots=True)
class Target:
    """One column of the file to be: a heading over the sum of some of our columns.

    Parameters
    ----------
    heading : str
    columns : tuple of Column
        Summed; all of them for ``total``.
    ids : str
        As a person would write them.
    maximum : float
        Full points: the most that they are for any student, for what is excused or dropped isn't counted.
    is_percent : bool
        It holds the weighted percent instead of points.
    """

    heading: str
    columns: tuple[Column, ...]
    ids: str
    maximum: float
    is_percent: bool = False


def assignment_targets(table: ClassTable, titles: Mapping[str, str]) -> list[Target]:
    """Return a target for every assignment, headed by its title (by its id where two have one title)."""
    names = list(dict.fromkeys(column.assignment for column in table.columns))
    heads = [titles.get(name, name) for name in names]
    plain = [plain_heading(head) for head in heads]
    return [
        _target(table, head if plain.count(plain_heading(head)) == 1 else name, name)
        for name, head in zip(names, heads, strict=True)
    ]


def column_targets(table: ClassTable) -> list[Target]:
    """Return a target for every column, and the total; the weighted percent where there is one."""
    ids = [column.id for column in table.columns]
    percent = [PERCENT] if any(row.percent is not None for row in table.rows) else []
    return [_target(table, name, name) for name in (*ids, TOTAL, *percent)]


def named_targets(table: ClassTable, given: Sequence[str]) -> list[Target]:
    """Return the targets of ``HEADING=ID+ID``.

    Raises
    ------
    UsageError
        It isn't of that form, names what there is no mark for, or heads two columns the same.
    """
    found: dict[str, Target] = {}
    for text in given:
        heading, equals, ids = text.rpartition("=")
        heading = heading.strip()
        if not equals or not heading or not ids.strip():
            raise UsageError(
                "--column can't be read", expected="HEADING=ID or HEADING=ID+ID", got=clean_line(text)
            )
        if heading in found:
            raise UsageError(f"two columns are headed {clean_line(heading)!r}")
        found[heading] = _target(table, heading, ids)
    return list(found.values())


def plain_heading(text: str) -> str:
    """Return a heading as it compares: without the number in brackets, case and needless blanks."""
    return _NUMBERED.sub("", spoken(text))


def spoken(text: str) -> str:
    """Return a heading without case and needless blanks."""
    return " ".join(unicodedata.normalize("NFC", text).split()).casefold()


def has_number(heading: str) -> bool:
    """Tell whether a heading ends in Canvas's number of the assignment."""
    return _NUMBERED.search(heading.rstrip()) is not None


def _target(table: ClassTable, heading: str, ids: str) -> Target:
    if ids.strip() == PERCENT and not _columns(table, PERCENT):
        return Target(heading, table.columns, PERCENT, 100.0, is_percent=True)
    names = [name.strip() for name in ids.split("+")]
    columns = dict.fromkeys(column for name in names for column in _known(table, name))
    ordered = tuple(column for column in table.columns if column in columns)
    return Target(heading, ordered, "+".join(names), _full(table, ordered))


def _known(table: ClassTable, name: str) -> Iterable[Column]:
    columns = _columns(table, name) or (table.columns if name == TOTAL else ())
    if columns:
        return columns
    known = sorted({i for c in table.columns for i in (c.id, c.assignment)} | {TOTAL, PERCENT})
    near = get_close_matches(name, known, n=1)
    raise UsageError(
        f"there is no mark for {clean_line(name, 80)!r}",
        expected=", ".join(known),
        next_step=f"did you mean {near[0]}?" if near else None,
    )


def _columns(table: ClassTable, name: str) -> list[Column]:
    return [c for c in table.columns if c.id == name] or [c for c in table.columns if c.assignment == name]


def _full(table: ClassTable, columns: Sequence[Column]) -> float:
    return max((row.maximum(columns) for row in table.rows), default=0.0) or sum(c.max_score for c in columns)
