"""Where two files match: runs of the same tokens with the same exchange of names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from engine.similar.normal import Normal, Token
from engine.similar.winnow import LEAST, grams

__all__ = ["Passage", "passages"]

_MOST_PLACES = 16
_MOST_PASSAGES = 40
_MOST_STEPS = 300_000  # tokens compared; files that repeat one line a thousand times would take for ever


@dataclass(frozen=True, slots=True)
class Passage:
    """A run of tokens that both files have.

    Parameters
    ----------
    first, second : tuple of int
        Lines, from 1, in order; they needn't be neighbours.
    tokens : int
        Length of the run.
    names : mapping of str to str
        The first file's own names → what the second one calls the same.
    """

    first: tuple[int, ...]
    second: tuple[int, ...]
    tokens: int
    names: Mapping[str, str]


def passages(first: Normal, second: Normal, *, usual: Collection[Hashable] = ()) -> tuple[Passage, ...]:
    """Return the passages that two files share, in the order of the first one.

    No token is in two of them: longer ones are taken first, at most 40. Runs that begin and end within what
    is `usual` (hashes of grams) don't count.
    """
    search = _Search(_Side(first), _Side(second), frozenset(usual))
    return tuple(sorted(search.passages(), key=lambda passage: (passage.first, passage.second)))


class _Side:
    """One file as one sequence of tokens; ``ends`` are the places after which a statement ends."""

    def __init__(self, normal: Normal) -> None:
        self.tokens: list[Token] = []
        self.ends: dict[int, bool] = {}  # place after a statement → whether a function ends there too
        self.grams: list[tuple[int, int, int]] = []  # hash, place, length
        scope = -1
        for statement in normal.statements:
            start = len(self.tokens)
            self.ends[start] = statement.scope != scope
            scope = statement.scope
            self.grams += [(hashed, start + at, size) for hashed, at, size in grams(statement.tokens)]
            self.tokens += statement.tokens
        self.ends[len(self.tokens)] = True


@dataclass(frozen=True, slots=True)
class _Run:
    first: int
    second: int
    size: int


class _Search:
    def __init__(self, first: _Side, second: _Side, usual: frozenset[Hashable]) -> None:
        self._first, self._second, self._usual = first, second, usual

    def passages(self) -> list[Passage]:
        runs = sorted(self._runs(), key=lambda run: (-run.size, run.first, run.second))
        taken: tuple[set[int], set[int]] = (set(), set())
        found: list[Passage] = []
        for run in runs:
            for part in self._free(run, *taken):
                places = (
                    range(part.first, part.first + part.size),
                    range(part.second, part.second + part.size),
                )
                taken[0].update(places[0])
                taken[1].update(places[1])
                found.append(self._passage(*places))
        return sorted(found, key=lambda passage: -passage.tokens)[:_MOST_PASSAGES]

    def _runs(self) -> set[_Run]:
        """Return the longest run around each gram that both have, the rarest grams first."""
        places: dict[int, list[int]] = defaultdict(list)
        for hashed, at, _ in self._second.grams:
            if hashed not in self._usual and len(places[hashed]) < _MOST_PLACES:
                places[hashed].append(at)
        seeds = [gram for gram in self._first.grams if places.get(gram[0])]
        runs: set[_Run] = set()
        seen: set[tuple[int, int]] = set()  # pairs of places within a run
        left = _MOST_STEPS
        for hashed, at, size in sorted(seeds, key=lambda gram: len(places[gram[0]])):
            for other in places[hashed]:
                if left > 0 and (at, other) not in seen:
                    run = self._grown(at, other, size)
                    seen.update((run.first + i, run.second + i) for i in range(run.size))
                    left -= run.size
                    runs.add(run)
        return runs

    def _grown(self, first: int, second: int, size: int) -> _Run:
        names = _Exchange()
        for i in range(size):
            names.fits(self._first.tokens[first + i], self._second.tokens[second + i])
        while self._step(first + size, second + size, 0, names):
            size += 1
        while self._step(first, second, -1, names):
            first, second, size = first - 1, second - 1, size + 1
        return _Run(first, second, size)

    def _step(self, first: int, second: int, shift: int, names: _Exchange) -> bool:
        """Tell whether the run goes on: over the end of a statement in both files or in none."""
        ends = self._first.ends.get(first), self._second.ends.get(second)
        if ends[0] != ends[1] or ends[0] is True:
            return False
        one, other = first + shift, second + shift
        if not (0 <= one < len(self._first.tokens) and 0 <= other < len(self._second.tokens)):
            return False
        return names.fits(self._first.tokens[one], self._second.tokens[other])

    def _free(self, run: _Run, first: Collection[int], second: Collection[int]) -> list[_Run]:
        """Return the parts of a run that no longer run has taken and that say something."""
        parts: list[_Run] = []
        start = 0
        for i in range(run.size + 1):
            if i == run.size or run.first + i in first or run.second + i in second:
                if i - start >= LEAST:
                    parts.append(_Run(run.first + start, run.second + start, i - start))
                start = i + 1
        return parts

    def _passage(self, first: Sequence[int], second: Sequence[int]) -> Passage:
        ours = [self._first.tokens[i] for i in first]
        theirs = [self._second.tokens[i] for i in second]
        names = {a.name: b.name for a, b in zip(ours, theirs, strict=True) if a.name}
        return Passage(
            tuple(sorted({token.line for token in ours})),
            tuple(sorted({token.line for token in theirs})),
            len(ours),
            MappingProxyType(names),
        )


class _Exchange:
    """Which name stands for which: one for one, both ways."""

    def __init__(self) -> None:
        self._there: dict[str, str] = {}
        self._back: dict[str, str] = {}

    def fits(self, ours: Token, theirs: Token) -> bool:
        """Tell whether two tokens agree with all before them, and remember them if so."""
        if ours.text != theirs.text or bool(ours.name) != bool(theirs.name):
            return False
        if not ours.name:
            return True
        known, back = self._there.get(ours.name), self._back.get(theirs.name)
        if known is None and back is None:
            self._there[ours.name], self._back[theirs.name] = theirs.name, ours.name
            return True
        return known == theirs.name and back == ours.name
