"""Which of a student's hand-ins of one item came first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from engine.course import HandedFile

__all__ = ["Ranked", "in_sequence"]

_AT_LAST = datetime.max.replace(tzinfo=UTC)  # what doesn't say when it was handed in


@dataclass(frozen=True, slots=True)
class Ranked:
    """A hand-in, and what tells its place among the others of its kind.

    Parameters
    ----------
    file : HandedFile
    about : str
        Item, or id of the quiz: only hand-ins about the same thing are put in order.
    copy : int
        Which copy of a file its name says it is: ``softmax-1.py`` comes after ``softmax.py``.
    order : int
        What the system counts: later hand-ins have larger numbers.
    """

    file: HandedFile
    about: str
    copy: int = 0
    order: int = 0


def in_sequence(hand_ins: Sequence[Ranked]) -> tuple[HandedFile, ...]:
    """Return a student's files, those about the same thing in the order in which they came, numbered.

    The first is 0; what a name says to be the third copy isn't below 3, so that a later download, which holds
    it alone, goes on from there.
    """
    files = [one.file for one in hand_ins]
    places: dict[str, list[int]] = {}
    for place, one in enumerate(hand_ins):
        places.setdefault(one.about, []).append(place)
    for taken in places.values():
        number = -1
        ordered = sorted((hand_ins[place] for place in taken), key=_when)
        for place, one in zip(taken, ordered, strict=True):
            number = max(number + 1, one.copy)
            files[place] = replace(one.file, sequence=number)
    return tuple(files)


def _when(ranked: Ranked) -> tuple[datetime, int, int]:
    return ranked.file.handed or _AT_LAST, ranked.copy, ranked.order
