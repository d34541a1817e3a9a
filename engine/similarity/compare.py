"""Compare all files of one item, and rank the pairs that share most of what is rare.

A shared piece counts in bits: what two of a hundred students have in common says much, what half of the class
writes says nothing. So a class is measured by itself, and no threshold has to fit every exercise.
"""

from __future__ import annotations

import json
import math
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from heapq import nlargest
from importlib.resources import files
from itertools import combinations, islice, product

from engine.parallel import on_all_cores
from engine.similarity.fingerprints import all_grams, fingerprints, normal_form, words
from engine.similarity.gather import ComparedFile, FilePair, ItemComparison, SimilaritySpread

# How rare something is: shared by two of many it says much, shared by half of them nothing.

# What half of a class writes comes from the lecture or from the language, not from a neighbour. In a group
# of four or five, three who write the same may still have copied it.
_USUAL_SHARE = 0.5
_USUAL_LEAST = 3


@dataclass(frozen=True, slots=True)
class FeatureMatch:
    """What two sets of features share: how many, the plain share of either, and the surprise."""

    shared: int
    share_first: float
    share_second: float
    surprise: float


class FeatureRarity:
    """How many persons have each feature.

    Parameters
    ----------
    features : iterable of (person, features)
        One person may come several times.
    """

    def __init__(self, features: Iterable[tuple[Hashable, Collection[Hashable]]]) -> None:
        by_person: dict[Hashable, set[Hashable]] = {}
        for person, feature in features:
            by_person.setdefault(person, set()).update(feature)
        self.persons = len(by_person)
        self._counts: Mapping[Hashable, int] = Counter(f for feature in by_person.values() for f in feature)

    def usual(self) -> frozenset[Hashable]:
        """Return what more than half of the persons have, and more than three."""
        limit = max(_USUAL_LEAST, _USUAL_SHARE * self.persons)
        return frozenset(feature for feature, count in self._counts.items() if count > limit)

    def match(self, first: frozenset[Hashable], second: frozenset[Hashable]) -> FeatureMatch:
        """Compare two persons' features; the two themselves don't count as others who have one."""
        common = first & second
        bits = sum(self._bits(feature, 2) for feature in common)
        shares = [0.0]
        for features in (first, second):
            rest = sum(self._bits(feature, 1) for feature in features - common)
            if bits:
                shares.append(bits / (bits + rest))
        # By the larger share: what was copied into a longer file was copied as a whole all the same.
        return FeatureMatch(
            len(common),
            len(common) / len(first) if first else 0.0,
            len(common) / len(second) if second else 0.0,
            bits * max(shares),
        )

    def _bits(self, feature: Hashable, count: int) -> float:
        # half a person more: what nobody else has is rare and not impossible
        others = max(0, self._counts[feature] - count) + 0.5
        return max(0.0, -math.log2(others / max(1, self.persons - 1)))


# One kind of features of all files, and the pairs that share the rarest of them.

# A hundred holders are 4,950 pairs already; what so many have is too common to find copies by.
_MOST_HOLDERS = 100
"""A feature that more different files have finds no pair; it counts in the pairs that others find."""

_LEAST = 1.0  # a bit: what every second person has as well

Features = frozenset[Hashable]


class FeatureChannel:
    """Features of files, without what was given and what is usual.

    Parameters
    ----------
    works : sequence of ComparedFile
    features : mapping of str to frozenset
        By source.
    handouts : collection
        Features of what everybody got.
    """

    def __init__(
        self, works: Sequence[ComparedFile], features: Mapping[str, Features], handouts: Collection[Hashable]
    ) -> None:
        self.rarity = FeatureRarity((work.person, features[work.source]) for work in works)
        self.usual = frozenset(handouts) | self.rarity.usual()
        self._features = {source: feature - self.usual for source, feature in features.items()}
        self._works = works

    def match(self, first: ComparedFile, second: ComparedFile) -> FeatureMatch:
        """Compare two files."""
        return self.rarity.match(self._features[first.source], self._features[second.source])

    def best(
        self, keep: int, finer: Callable[[ComparedFile, ComparedFile], float]
    ) -> list[tuple[FeatureMatch, ComparedFile, ComparedFile]]:
        """Return the pairs of different people with the largest surprise, the best one for each two people.

        Parameters
        ----------
        keep : int
        finer : callable
            Puts pairs in order whose surprise is the same.
        """
        alike: dict[Features, list[ComparedFile]] = {}
        for work in self._works:
            if features := self._features[work.source]:
                alike.setdefault(features, []).append(work)
        forms = list(alike)
        scored = [
            (self.rarity.match(forms[i], forms[j]), alike[forms[i]], alike[forms[j]])
            for i, j in self._candidates(forms, alike)
        ]
        scored.sort(key=lambda entry: -entry[0].surprise)
        chosen: dict[frozenset[tuple[bool, str]], tuple[FeatureMatch, ComparedFile, ComparedFile]] = {}
        # By falling surprise: once enough pairs are chosen, only equals can still change their order.
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
        self, forms: Sequence[Features], alike: Mapping[Features, Sequence[ComparedFile]]
    ) -> set[tuple[int, int]]:
        # Only pairs that share something rare are looked at: a class of 500 has 125,000 pairs.
        holders: dict[Hashable, list[int]] = defaultdict(list)
        for number, form in enumerate(forms):
            for feature in form:
                holders[feature].append(number)
        candidates = {
            pair
            for numbers in holders.values()
            if len(numbers) <= _MOST_HOLDERS
            for pair in combinations(numbers, 2)
        }
        # a form that several files have is a pair with itself
        return candidates | {(i, i) for i, form in enumerate(forms) if len(alike[form]) > 1}


def _couples(
    first: Sequence[ComparedFile],
    second: Sequence[ComparedFile],
    keep: int,
    finer: Callable[[ComparedFile, ComparedFile], float],
) -> Iterator[tuple[ComparedFile, ComparedFile]]:
    # At most so many that a crowd with one form doesn't take for ever.
    every = combinations(first, 2) if first is second else product(first, second)
    able = ((a, b) for a, b in every if a.person != b.person and not (a.is_earlier and b.is_earlier))
    return iter(nlargest(keep, islice(able, 100 * keep), key=lambda couple: finer(*couple)))


# How alike two files are that have nothing to do with each other.

# Pairs grow with the square of the class; of 4,000 the 95 % point is sure to half a percent of the pairs.
_SAMPLE = 4_000


def spread(shares: Iterable[float]) -> SimilaritySpread:
    """Return what half, 95 % and all of the shares don't exceed."""
    ordered = sorted(shares)
    if not ordered:
        return SimilaritySpread(0, 0.0, 0.0, 0.0)
    last = len(ordered) - 1
    return SimilaritySpread(len(ordered), ordered[last // 2], ordered[last * 95 // 100], ordered[last])


def sample_spread(
    works: Sequence[ComparedFile], share: Callable[[ComparedFile, ComparedFile], float]
) -> SimilaritySpread:
    """Return the spread of the class: of all pairs of different people, or of 4,000 drawn by chance."""
    count = len(works)
    chance = random.Random(0)  # the same class gives the same figures
    if count * (count - 1) // 2 <= _SAMPLE:
        couples = [(a, b) for i, a in enumerate(works) for b in works[i + 1 :]]
    else:
        couples = [(chance.choice(works), chance.choice(works)) for _ in range(_SAMPLE)]
    return spread(share(a, b) for a, b in couples if a.person != b.person)


@cache
def known_spread(item: str) -> SimilaritySpread | None:
    """Return the spread of right solutions that were written independently, where we have measured it."""
    text = (files("engine.similarity") / "independent.json").read_text(encoding="utf-8")
    figures = json.loads(text).get(item)
    return SimilaritySpread(**figures) if figures else None


# Three or more people whose files hang together.

# Both have to hold: a short file shares much by necessity, a long one shares something rare by accident.
# 15 bits are one chance in 32,768, against some thousand pairs of a class.
CLOSE_SHARE = 0.6
CLOSE_SURPRISE = 15.0


def is_close(pair: FilePair, spread: SimilaritySpread) -> bool:
    """Return whether a pair stands out: it shares much, that is rare, and 95 % of all pairs share less."""
    return pair.share >= CLOSE_SHARE and pair.surprise >= CLOSE_SURPRISE and pair.share > spread.most


def identical(
    works: Iterable[ComparedFile], handouts: Iterable[str] = ()
) -> tuple[tuple[ComparedFile, ...], ...]:
    """Return the groups of students whose files are the same, the largest first.

    Blanks at line ends and empty lines don't count. What everybody got, such as a starter left as it was, is
    no group; nor are files of earlier years alone.
    """
    # Editors strip blanks and add empty lines by themselves: they make no other file.
    usual = {_lines(source) for source in handouts}
    same: dict[tuple[str, ...], dict[tuple[bool, str], ComparedFile]] = {}
    for work in works:
        same.setdefault(_lines(work.source), {}).setdefault(work.person, work)
    pairs = [
        tuple(sorted(persons.values(), key=lambda work: work.person))
        for lines, persons in same.items()
        if lines and lines not in usual and len(persons) > 1
        if not all(work.is_earlier for work in persons.values())
    ]
    return tuple(sorted(pairs, key=lambda works: (-len(works), [w.person for w in works])))


def _lines(source: str) -> tuple[str, ...]:
    return tuple(line.rstrip() for line in source.splitlines() if line.strip())


def groups(pairs: Iterable[FilePair]) -> tuple[tuple[ComparedFile, ...], ...]:
    """Return the groups of at least three that close pairs link, the largest first.

    Two of a group may share little: a chain of pairs is a group as well.
    """
    where: dict[tuple[bool, str], set[ComparedFile]] = {}
    for pair in pairs:
        joined = where.get(pair.first.person, {pair.first}) | where.get(pair.second.person, {pair.second})
        for work in joined:
            where[work.person] = joined
    crowds = {frozenset(works) for works in where.values() if len(works) > 2}
    ordered = [tuple(sorted(works, key=lambda work: work.person)) for works in crowds]
    return tuple(sorted(ordered, key=lambda works: (-len(works), [w.person for w in works])))


# Below, starting processes takes longer than they save.
_FORK_FROM = 300
_LEAST_WORDING = 10.0  # two rare names say nothing


def compare(
    item: str, works: Sequence[ComparedFile], *, handouts: Iterable[str] = (), keep: int = 50
) -> ItemComparison:
    """Compare all files of one item with each other.

    Parameters
    ----------
    item : str
        For the result only.
    works : sequence of ComparedFile
        One student may have several; no two files of one student are compared, nor two of earlier years.
    handouts : iterable of str
        Sources that everybody got, such as the starter: what comes from there doesn't count.
    keep : int
        How many pairs to return.
    """
    # Many hand in the same file again; each text is read once.
    sources = list(dict.fromkeys(work.source for work in works))
    handouts = list(handouts)
    all_features = on_all_cores(_features, sources, least=_FORK_FROM)
    features = {
        source: all_features[source] if source in all_features else _features(source) for source in sources
    }
    shape = FeatureChannel(
        works,
        {source: pair_match[0] for source, pair_match in features.items()},
        {gram for source in handouts for gram in all_grams(normal_form(source))},
    )
    wording = FeatureChannel(
        works,
        {source: pair_match[1] for source, pair_match in features.items()},
        {word for source in handouts for word in words(source)},
    )

    def pair(first: ComparedFile, second: ComparedFile) -> FilePair:
        match = shape.match(first, second)
        words_match = wording.match(first, second).surprise
        return FilePair(
            first, second, match.shared, match.share_first, match.share_second, match.surprise, words_match
        )

    def surprise(match: FeatureMatch) -> float:
        return match.surprise

    by_shape = shape.best(keep, lambda a, b: surprise(wording.match(a, b)))
    pairs = tuple(pair(a, b) for _, a, b in by_shape)
    structural = {frozenset((pair_match.first.person, pair_match.second.person)) for pair_match in pairs}
    # A pair stands in one list only: names and comments are further evidence where the structure shows it.
    by_wording = [
        pair(a, b)
        for match, a, b in wording.best(keep, lambda a, b: surprise(shape.match(a, b)))
        if match.surprise >= _LEAST_WORDING and frozenset((a.person, b.person)) not in structural
    ]
    spread = sample_spread(works, lambda a, b: _larger(shape.match(a, b)))
    return ItemComparison(
        item=item,
        files=len(works),
        students=shape.rarity.persons,
        pairs=pairs,
        by_wording=tuple(by_wording),
        groups=groups(pair_match for pair_match in pairs if is_close(pair_match, spread)),
        usual=shape.usual,
        spread=spread,
        identical=identical(works, handouts),
    )


def _features(source: str) -> tuple[Features, Features]:
    return fingerprints(normal_form(source)), words(source)


def _larger(match: FeatureMatch) -> float:
    return max(match.share_first, match.share_second)
