"""How rare something is: shared by two of many it says much, shared by half of them nothing."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass

__all__ = ["Match", "Rarity"]

_USUAL_SHARE = 0.5
_USUAL_LEAST = 3


@dataclass(frozen=True, slots=True)
class Match:
    """What two sets of features share: how many, the plain share of either, and the surprise."""

    shared: int
    share_first: float
    share_second: float
    surprise: float


class Rarity:
    """How many persons have each feature.

    Parameters
    ----------
    features : iterable of (person, features)
        One person may come several times.
    """

    def __init__(self, features: Iterable[tuple[Hashable, Collection[Hashable]]]) -> None:
        by_person: dict[Hashable, set[Hashable]] = {}
        for person, found in features:
            by_person.setdefault(person, set()).update(found)
        self.persons = len(by_person)
        self._counts: Mapping[Hashable, int] = Counter(f for found in by_person.values() for f in found)

    def usual(self) -> frozenset[Hashable]:
        """Return what more than half of the persons have, and more than three."""
        limit = max(_USUAL_LEAST, _USUAL_SHARE * self.persons)
        return frozenset(feature for feature, count in self._counts.items() if count > limit)

    def match(self, first: frozenset[Hashable], second: frozenset[Hashable]) -> Match:
        """Compare two persons' features; the two themselves don't count as others who have one."""
        common = first & second
        bits = sum(self._bits(feature, 2) for feature in common)
        shares = [0.0]
        for features in (first, second):
            rest = sum(self._bits(feature, 1) for feature in features - common)
            if bits:
                shares.append(bits / (bits + rest))
        return Match(
            len(common),
            len(common) / len(first) if first else 0.0,
            len(common) / len(second) if second else 0.0,
            bits * max(shares),
        )

    def _bits(self, feature: Hashable, own: int) -> float:
        # half a person more: what nobody else has is rare and not impossible
        others = max(0, self._counts[feature] - own) + 0.5
        return max(0.0, -math.log2(others / max(1, self.persons - 1)))
