"""Which column of a table is what: the value that every kind of table fills in."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from engine.course.person_columns import person_columns, plain_head

__all__ = ["Kind", "Layout", "head_place", "questions_of"]


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns of a table, by their places from 0.

    Parameters
    ----------
    who : mapping of str to int
        The columns that tell the student, by field.
    questions : mapping of str to int
        The columns of answers, by their heads.
    handed, quiz : int or None
        The columns of the time of handing in and of the quiz's name.
    state : int or None
        The column that tells whether an attempt was handed in at all.
    no_answer : collection of str
        What such a table writes where nothing was answered.
    doubled : tuple of str
        Heads that stand over several columns: which of them counts isn't known.
    """

    who: Mapping[str, int]
    questions: Mapping[str, int]
    handed: int | None = None
    quiz: int | None = None
    state: int | None = None
    no_answer: Collection[str] = ()
    doubled: tuple[str, ...] = field(default=())


# A kind of table: its header → its columns, None where it is another kind.
Kind = Callable[[Sequence[str]], Layout | None]


def head_place(header: Sequence[str], names: Sequence[str]) -> int | None:
    """Return the place of the first head that is called so; None where there is none."""
    heads = [plain_head(cell) for cell in header]
    return next((heads.index(name) for name in names if name in heads), None)


def questions_of(
    header: Sequence[str], known: Collection[int | None], others: Callable[[str], bool] = lambda head: False
) -> tuple[dict[str, int], tuple[str, ...]]:
    """Return the columns that are left for questions, and the heads among them that stand twice.

    Parameters
    ----------
    header : sequence of str
    known : collection of int or None
        Columns that are something else.
    others : callable
        Head in small letters → whether such a table has this column for something else.
    """
    person = set(person_columns(header).values())
    found: dict[str, int] = {}
    doubled: list[str] = []
    for place, head in enumerate(header):
        if not head or place in known or place in person or others(head.casefold()):
            continue
        if head in found:
            doubled.append(head)
        else:
            found[head] = place
    for head in doubled:
        found.pop(head, None)
    return found, tuple(dict.fromkeys(doubled))
