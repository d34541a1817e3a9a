"""The keys that a class has at one field of one item, and how easily an answer meets one by chance."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median

from engine.answers import answer_type, right_response
from engine.errors import ResponseFormatError
from engine.model import Part

__all__ = ["COMPARED_TYPES", "LEAST_CHANCE", "Holder", "ItemKeys", "is_right"]

COMPARED_TYPES = frozenset({"number", "vector", "matrix", "token"})
"""Letters of options say nothing: there are few, and they stand in another order in each variant."""

LEAST_CHANCE = 1e-6
"""No smaller chance is claimed for one answer: the keys of one item hang together more than this counts."""

_SAMPLE = 300
_NUMERAL = re.compile(r"[0-9]+(?:[.,][0-9]+)?|[.,][0-9]+")
_SLACK = 1e-9

_Box = tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Holder:
    """One variant of an item: one of its fields, and whose it is."""

    variant: str
    part: Part
    students: frozenset[str]


class ItemKeys:
    """All variants of one field of one item.

    Parameters
    ----------
    holders : sequence of Holder
        One for each variant, at least one.
    """

    def __init__(self, holders: Sequence[Holder]) -> None:
        self.holders = holders
        self._boxes = [_box(holder.part) for holder in holders]

    def accepting(self, text: str, entries: Sequence[float]) -> list[Holder]:
        """Return the variants for which an answer earns full marks, by the item's own rule.

        Parameters
        ----------
        text : str
            As typed.
        entries : sequence of float
            Its numbers; none for words.
        """
        return [
            holder
            for holder, box in zip(self.holders, self._boxes, strict=True)
            if _inside(entries, box) and is_right(holder.part, text)
        ]

    def chance(self, text: str, accepting: int) -> float:
        """Return about how likely a wrong answer is one given classmate's key by chance.

        The largest of: the share of the other variants that have this key too; how often one variant's key
        is right for another; the two likeliest entries at random between the smallest and the largest
        key; as many digits at random; one in a million.
        """
        others = max(1, len(self.holders) - 1)
        typed = 10.0 ** -_digits(text) if self._boxes[0] else 1 / (others + 1)
        return max((accepting - 1) / others, self._meeting, self._at_random, typed, LEAST_CHANCE)

    @cached_property
    def _meeting(self) -> float:
        some = list(zip(self.holders, self._boxes, strict=True))[:_SAMPLE]
        hits = sum(
            one.variant != other.variant
            and _inside(_middle(box), other_box)
            and is_right(other.part, right_response(one.part))
            for one, box in some
            for other, other_box in some
        )
        return hits / max(1, len(some) * (len(some) - 1))

    @cached_property
    def _at_random(self) -> float:
        boxes = [box for box in self._boxes if len(box) == len(self._boxes[0])]
        if not boxes[0]:
            return 0.0
        shares = []
        for i, place in enumerate(self.holders[0].part.settings["places"]):
            unit = 0.0 if place is None else 10.0**-place
            width = max(unit, median(box[i][1] - box[i][0] for box in boxes))
            spread = max(box[i][1] for box in boxes) - min(box[i][0] for box in boxes)
            shares.append(width / (spread + width) if width else 0.0)
        return math.prod(sorted(shares)[-2:])


def is_right(part: Part, text: str) -> bool:
    """Tell whether a text earns full marks for a field; one that the field can't read doesn't."""
    try:
        return answer_type(part.type).grade(part, text).is_full
    except ResponseFormatError:
        return False


def _box(part: Part) -> _Box:
    """Return the accepted interval of each entry, a little wider; nothing for words."""
    if "lower" not in part.settings:
        return ()
    pairs = zip(map(float, part.settings["lower"]), map(float, part.settings["upper"]), strict=True)
    return tuple((low - _SLACK * (1 + abs(low)), high + _SLACK * (1 + abs(high))) for low, high in pairs)


def _middle(box: _Box) -> list[float]:
    return [(low + high) / 2 for low, high in box]


def _inside(entries: Sequence[float], box: _Box) -> bool:
    return len(entries) == len(box) and all(
        low <= entry <= high for entry, (low, high) in zip(entries, box, strict=True)
    )


def _digits(text: str) -> int:
    """Return how many digits say something: ``0.50`` has one, ``45.8`` three."""
    return sum(len(re.sub(r"[.,]", "", numeral).strip("0")) for numeral in _NUMERAL.findall(text))
