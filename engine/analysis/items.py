"""One item: its statistics, its parts and options, and in words what is odd about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from engine.analysis import ItemStatistics, wilson
from engine.analysis.classical import correlation
from engine.analysis.scores import Floats
from engine.itemreport.exercises import Exercise
from engine.itemreport.families import Family
from engine.itemreport.gather import Missing
from engine.itemreport.options import OptionTable
from engine.itemreport.work import Work

__all__ = ["THRESHOLDS", "ItemFigures", "PartFigures", "flags_of", "mean_interval", "parts_of"]

_FEWEST = 10  # students under which nothing is flagged
_HARD, _EASY = 0.20, 0.95
_WEAK = 0.10
_ALPHA_RISES = 0.02
_FEWEST_SHOWN, _FEWEST_CHOSE = 20, 5

THRESHOLDS = {
    "too hard": f"the mean share is under {_HARD:.2f}",
    "nearly all right": f"the mean share is over {_EASY:.2f}",
    "negative discrimination: key wrong?": "the whole interval of item–rest lies below 0",
    "discrimination below 0": "item–rest is below 0, but its interval reaches 0",
    "hardly tells students apart": f"item–rest is from 0 to {_WEAK:.2f}",
    "alpha rises without it": f"by {_ALPHA_RISES:.2f} or more",
    "an option nobody picks": f"shown to {_FEWEST_SHOWN} students or more, chosen by none",
    "a wrong option draws able students": f"seen by {_FEWEST_SHOWN} or more, chosen by {_FEWEST_CHOSE} or "
    "more, its point-biserial is above 0 and above every key's",
    "variants unequal": "q is at most 0.05 (Benjamini–Hochberg over all families)",
    "all have the same points": "nobody differs, so nothing can be told of discrimination",
}
"""What is said of an item → when; nothing is said under 10 students."""


@dataclass(frozen=True, slots=True)
class PartFigures:
    """One answer field of an item with several.

    ``item_rest`` is with the student's standing on the other items, not on the item's other parts.
    """

    part: str
    students: int
    mean_share: float
    interval: tuple[float, float]
    item_rest: float | None


@dataclass(frozen=True, slots=True)
class ItemFigures:
    """All that is told of one item.

    Parameters
    ----------
    item, title : str
    number : int
        Of the question in the quiz; 0 elsewhere.
    full : float
        Full marks.
    statistics : ItemStatistics
    mean_interval : (float, float)
    alpha_without : float or None
    blank : int
        Students who left it blank: they have 0.
    missing : Missing
    diagnoses : tuple of (str, int)
        Known mistake → students who showed it here, the most frequent first.
    parts, options : tuple
    family : Family or None
    exercise : Exercise or None
    flags : tuple of str
        Keys of ``THRESHOLDS``.
    """

    item: str
    title: str
    number: int
    full: float
    statistics: ItemStatistics
    mean_interval: tuple[float, float]
    alpha_without: float | None
    blank: int
    missing: Missing
    diagnoses: tuple[tuple[str, int], ...]
    parts: tuple[PartFigures, ...]
    options: tuple[OptionTable, ...]
    family: Family | None
    exercise: Exercise | None
    flags: tuple[str, ...]


def mean_interval(shares: Sequence[float]) -> tuple[float, float]:
    """Return Wilson's interval of a mean share.

    Shares between 0 and 1 vary at most as much as right and wrong answers of the same mean, so that with
    partial credit it is wider than it would have to be, never too narrow.
    """
    return wilson(min(sum(shares), float(len(shares))), len(shares))


def parts_of(works: Sequence[Work], standing: Floats) -> list[PartFigures]:
    """Return the answer fields of an item one by one."""
    names = list(dict.fromkeys(part.id for work in works for part in work.parts))
    found = []
    for name in names:
        pairs = [
            (part.share, float(other))
            for work, other in zip(works, standing, strict=True)
            for part in work.parts
            if part.id == name
        ]
        shares = [share for share, _ in pairs]
        placed = np.array([pair for pair in pairs if pair[1] == pair[1]]).reshape(-1, 2)
        found.append(
            PartFigures(
                name,
                len(shares),
                sum(shares) / len(shares),
                mean_interval(shares),
                correlation(placed[:, 0], placed[:, 1]),
            )
        )
    return found


def flags_of(
    statistics: ItemStatistics,
    alpha: float | None,
    alpha_without: float | None,
    options: Sequence[OptionTable],
    family: Family | None,
) -> list[str]:
    """Return what is odd about an item, in the words of ``THRESHOLDS``."""
    mean = statistics.mean_share
    if statistics.students < _FEWEST or mean is None:
        return []
    said = {
        "too hard": mean < _HARD,
        "nearly all right": mean > _EASY,
        **_discrimination(statistics),
        "alpha rises without it": None not in (alpha, alpha_without)
        and (alpha_without or 0.0) - (alpha or 0.0) >= _ALPHA_RISES,
        "an option nobody picks": any(map(_is_idle, options)),
        "a wrong option draws able students": any(map(_misleads, options)),
        "variants unequal": family is not None and family.is_unequal,
    }
    return [words for words, holds in said.items() if holds]


def _discrimination(statistics: ItemStatistics) -> Mapping[str, bool]:
    rest, interval = statistics.item_rest, statistics.item_rest_interval
    if rest is None:
        return {"all have the same points": statistics.item_total is None}
    surely = interval is not None and interval[1] < 0
    return {
        "negative discrimination: key wrong?": surely,
        "discrimination below 0": rest < 0 and not surely,
        "hardly tells students apart": 0 <= rest < _WEAK,
    }


def _is_idle(table: OptionTable) -> bool:
    return any(
        row.choice.students == 0 and not row.choice.is_key and row.shown >= _FEWEST_SHOWN
        for row in table.rows
    )


def _misleads(table: OptionTable) -> bool:
    known = [row.choice for row in table.rows if row.shown >= _FEWEST_SHOWN and row.choice.option]
    keys = [choice.point_biserial for choice in known if choice.is_key and choice.point_biserial is not None]
    return bool(keys) and any(
        not choice.is_key
        and choice.students >= _FEWEST_CHOSE
        and choice.point_biserial is not None
        and choice.point_biserial > max(0.0, *keys)
        for choice in known
    )
