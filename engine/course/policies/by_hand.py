"""What a person decided stands above what was graded and ruled."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from engine.course.policies.points import exact, plain
from engine.course.results import Mark
from engine.foreign import clean_line

if TYPE_CHECKING:
    from engine.store import HandMark

__all__ = ["set_by_hand"]


_ACCOUNTS = frozenset({"", "root", "admin", "administrator", "ubuntu", "www-data"})


def set_by_hand(mark: Mark, hand: HandMark, max_score: float) -> Mark:
    """Return the mark with a person's decision on it; a comment alone changes no points."""
    # an account's name such as root tells a student nothing, and isn't theirs to know
    by = "the instructor" if hand.by in _ACCOUNTS else clean_line(hand.by, 100)
    if hand.excused:
        return Mark(mark.raw, None, (f"excused by {by}",), excused=True, comment=hand.comment)
    if hand.score is None:
        return replace(mark, comment=hand.comment)
    told = f"set by {by}: {plain(exact(hand.score))} of {plain(exact(max_score))}"
    return Mark(mark.raw, hand.score, (told,), comment=hand.comment, by_hand=True)
