"""One kind of features of all files, and the pairs that share the rarest of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from heapq import nlargest
from itertools import combinations, islice, product

from engine.similar.rarity import Match, Rarity
from engine.similar.work import Work

__all__ = ["Channel", "Features"]

_MOST_HOLDERS = 100
"""A feature that more different files have finds no pair; it counts in the pairs that others find."""

_LEAST = 1.0  # a bit: what every second person has as well

Features = frozenset[Hashable]


class Channel:
    """Features of files, without what was given and what is usual.

    Parameters
    ----------
    works : sequence of Work
    features : mapping of str to frozenset
        By source.
    given : collection
        What everybody got.
    """

    def __init__(
        self, works: Sequence[Work], features: Mapping[str, Features], given: Collection[Hashable]
    ) -> None:
        self.rarity = Rarity((work.person, features[work.source]) for work in works)
        self.usual = frozenset(given) | self.rarity.usual()
        self._features = {source: found - self.usual for source, found in features.items()}
        self._works = works

    def match(self, first: Work, second: Work) -> Match:
        """Compare two files."""
        return self.rarity.match(self._features[first.source], self._features[second.source])

    def best(self, keep: int, finer: Callable[[Work, Work], float]) -> list[tuple[Match, Work, Work]]:
        """Return the pairs of different people with the largest surprise, the best one for each two people.

        Parameters
        ----------
        keep : int
        finer : callable
            Puts pairs in order whose surprise is the same.
        """
        alike: dict[Features, list[Work]] = {}
        for work in self._works:
            if found := self._features[work.source]:
                alike.setdefault(found, []).append(work)
        forms = list(alike)
        scored = [
            (self.rarity.match(forms[i], forms[j]), alike[forms[i]], alike[forms[j]])
            for i, j in self._candidates(forms, alike)
        ]
        scored.sort(key=lambda entry: -entry[0].surprise)
        chosen: dict[frozenset[tuple[bool, str]], tuple[Match, Work, Work]] = {}
        least = 0.0
        for match, first, second in scored:
            if len(chosen) >= keep and match.surprise < least:
                break
            least = match.surprise
            for a, b in _couples(first, second, keep, finer):
                chosen.setdefault(frozenset((a.person, b.person)), (match, a, b))
        ranked = nlargest(keep, chosen.values(), key=lambda entry: (entry[0].surprise, finer(*entry[1:])))
        return [entry for entry in ranked if entry[0].surprise >= _LEAST]

    def _candidates(
        self, forms: Sequence[Features], alike: Mapping[Features, Sequence[Work]]
    ) -> set[tuple[int, int]]:
        holders: dict[Hashable, list[int]] = defaultdict(list)
        for number, form in enumerate(forms):
            for feature in form:
                holders[feature].append(number)
        found = {
            pair
            for numbers in holders.values()
            if len(numbers) <= _MOST_HOLDERS
            for pair in combinations(numbers, 2)
        }
        return found | {(i, i) for i, form in enumerate(forms) if len(alike[form]) > 1}


def _couples(
    first: Sequence[Work], second: Sequence[Work], keep: int, finer: Callable[[Work, Work], float]
) -> Iterator[tuple[Work, Work]]:
    """Yield couples of different people, at most so many that a crowd with one form doesn't take for ever."""
    every = combinations(first, 2) if first is second else product(first, second)
    able = ((a, b) for a, b in every if a.person != b.person and not (a.is_earlier and b.is_earlier))
    return iter(nlargest(keep, islice(able, 100 * keep), key=lambda couple: finer(*couple)))
