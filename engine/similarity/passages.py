"""Find where two files match: runs of the same tokens under one consistent exchange of names.

The share of a pair says that two files are alike; a person who judges has to see where.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from engine.similarity.fingerprints import LEAST, NormalForm, grams, normal_form
from engine.similarity.gather import FilePair
from engine.similarity.tokens import CodeToken

# A gram that stands in more places of a file (a table of numbers, a loop written out) starts no run: every
# place would be tried with every other.
_MOST_PLACES = 16
# More marks than this a reader can't follow on a page.
_MOST_PASSAGES = 40
_MOST_STEPS = 300_000  # tokens compared; files that repeat one line a thousand times would take for ever


@dataclass(frozen=True, slots=True)
class SharedPassage:
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


def passages(
    first: NormalForm, second: NormalForm, *, usual: Collection[Hashable] = ()
) -> tuple[SharedPassage, ...]:
    """Return the passages that two files share, in the order of the first one.

    No token is in two of them: longer ones are taken first, at most 40. Runs that begin and end within what
    is `usual` (hashes of grams) don't count.
    """
    search = _Search(_Side(first), _Side(second), frozenset(usual))
    return tuple(sorted(search.passages(), key=lambda passage: (passage.first, passage.second)))


class _Side:
    """One file as one sequence of tokens; ``ends`` are the places after which a statement ends."""

    def __init__(self, normal: NormalForm) -> None:
        self.tokens: list[CodeToken] = []
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

    def passages(self) -> list[SharedPassage]:
        runs = sorted(self._runs(), key=lambda run: (-run.size, run.first, run.second))
        used: tuple[set[int], set[int]] = (set(), set())
        shared: list[SharedPassage] = []
        for run in runs:
            for part in self._free(run, *used):
                places = (
                    range(part.first, part.first + part.size),
                    range(part.second, part.second + part.size),
                )
                used[0].update(places[0])
                used[1].update(places[1])
                shared.append(self._passage(*places))
        return sorted(shared, key=lambda passage: -passage.tokens)[:_MOST_PASSAGES]

    def _runs(self) -> set[_Run]:
        # The rarest grams first: they lead to the longest runs with the fewest steps.
        places: dict[int, list[int]] = defaultdict(list)
        for hashed, at, _ in self._second.grams:
            if hashed not in self._usual and len(places[hashed]) < _MOST_PLACES:
                places[hashed].append(at)
        seeds = [gram for gram in self._first.grams if places.get(gram[0])]
        runs: set[_Run] = set()
        visited: set[tuple[int, int]] = set()  # pairs of places within a run
        steps = _MOST_STEPS
        for hashed, at, size in sorted(seeds, key=lambda gram: len(places[gram[0]])):
            for other in places[hashed]:
                if steps > 0 and (at, other) not in visited:
                    run = self._grown(at, other, size)
                    visited.update((run.first + i, run.second + i) for i in range(run.size))
                    steps -= run.size
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
        # A run goes over the end of a statement in both files or in none.
        ends = self._first.ends.get(first), self._second.ends.get(second)
        if ends[0] != ends[1] or ends[0] is True:
            return False
        place, other = first + shift, second + shift
        if not (0 <= place < len(self._first.tokens) and 0 <= other < len(self._second.tokens)):
            return False
        return names.fits(self._first.tokens[place], self._second.tokens[other])

    def _free(self, run: _Run, first: Collection[int], second: Collection[int]) -> list[_Run]:
        parts: list[_Run] = []
        start = 0
        for i in range(run.size + 1):
            if i == run.size or run.first + i in first or run.second + i in second:
                if i - start >= LEAST:
                    parts.append(_Run(run.first + start, run.second + start, i - start))
                start = i + 1
        return parts

    def _passage(self, first: Sequence[int], second: Sequence[int]) -> SharedPassage:
        ours = [self._first.tokens[i] for i in first]
        theirs = [self._second.tokens[i] for i in second]
        names = {a.name: b.name for a, b in zip(ours, theirs, strict=True) if a.name}
        return SharedPassage(
            tuple(sorted({token.line for token in ours})),
            tuple(sorted({token.line for token in theirs})),
            len(ours),
            MappingProxyType(names),
        )


class _Exchange:
    # One for one, both ways: a renaming that maps two names to one isn't a renaming.
    def __init__(self) -> None:
        self._there: dict[str, str] = {}
        self._back: dict[str, str] = {}

    def fits(self, ours: CodeToken, theirs: CodeToken) -> bool:
        """Return whether two tokens agree with all before them, and remember them if so."""
        if ours.text != theirs.text or bool(ours.name) != bool(theirs.name):
            return False
        if not ours.name:
            return True
        known, back = self._there.get(ours.name), self._back.get(theirs.name)
        if known is None and back is None:
            self._there[ours.name], self._back[theirs.name] = theirs.name, ours.name
            return True
        return known == theirs.name and back == ours.name


# One pair of files as two columns of lines, with the passages that they share marked in both.

# So many shades can be told apart; the seventh passage begins again with the first.
COLOURS = 6
# A browser has to show both files; what comes after is counted and left out.
_MOST_LINES = 3_000
# A line of data may have a million characters, and a browser lays out each of them.
_LONGEST_LINE = 500


@dataclass(frozen=True, slots=True)
class FileLine:
    """One line of a file.

    Parameters
    ----------
    number : int
        From 1.
    text : str
        Foreign.
    passage : int
        Number of the passage that it belongs to, from 1; 0 for none. Of several it is the longest.
    begins : tuple of int
        The passages whose first line this is.
    """

    number: int
    text: str
    passage: int
    begins: tuple[int, ...] = ()

    @property
    def colour(self) -> int:
        """Number of its colour, from 1; colours come again after six passages."""
        return (self.passage - 1) % COLOURS + 1 if self.passage else 0


@dataclass(frozen=True, slots=True)
class PairDetail:
    """A pair with its passages.

    Parameters
    ----------
    pair : FilePair
    passages : tuple of SharedPassage
        In the order of the first file; number 1 is the first.
    first, second : tuple of FileLine
        The files; at most 3,000 lines of each.
    left : tuple of int
        How many lines of either file aren't shown.
    notes : tuple of str
        What a reader should know of how either file was read; empty where there is nothing.
    """

    pair: FilePair
    passages: tuple[SharedPassage, ...]
    first: tuple[FileLine, ...]
    second: tuple[FileLine, ...]
    left: tuple[int, int]
    notes: tuple[str, str]

    @property
    def longest(self) -> int:
        """Length of the longest passage, in tokens."""
        return max((passage.tokens for passage in self.passages), default=0)


def detail(pair: FilePair, usual: Collection[Hashable]) -> PairDetail:
    """Return a pair with the passages of its files that aren't `usual`."""
    forms = normal_form(pair.first.source), normal_form(pair.second.source)
    shared = passages(*forms, usual=usual)
    first = _lines(pair.first.source, [passage.first for passage in shared])
    second = _lines(pair.second.source, [passage.second for passage in shared])
    lines_cut = max(0, len(first) - _MOST_LINES), max(0, len(second) - _MOST_LINES)
    heads = tuple(first[:_MOST_LINES]), tuple(second[:_MOST_LINES])
    return PairDetail(pair, shared, *heads, lines_cut, (_note(forms[0]), _note(forms[1])))


def _note(form: NormalForm) -> str:
    notes = []
    if not form.is_whole:
        notes.append("Python can't read this file: it was compared as far as it can be read.")
    if form.is_cut:
        notes.append("It is very long: only its beginning was compared.")
    return " ".join(notes)


def _lines(source: str, places: Sequence[Sequence[int]]) -> list[FileLine]:
    owner: dict[int, int] = {}
    begins: dict[int, list[int]] = {}
    for number, lines in sorted(enumerate(places, start=1), key=lambda entry: len(entry[1])):
        owner |= dict.fromkeys(lines, number)
        begins.setdefault(lines[0], []).append(number)
    file_lines = []
    for number, text in enumerate(source.removeprefix("\ufeff").rstrip("\n").split("\n"), start=1):
        cut = text if len(text) <= _LONGEST_LINE else text[:_LONGEST_LINE] + " …"
        file_lines.append(FileLine(number, cut, owner.get(number, 0), tuple(sorted(begins.get(number, ())))))
    return file_lines


def ranges(lines: Sequence[int]) -> str:
    """Return ``3–5, 9`` for the lines 3, 4, 5 and 9."""
    parts: list[list[int]] = []
    for line in lines:
        if parts and line == parts[-1][-1] + 1:
            parts[-1].append(line)
        else:
            parts.append([line])
    return ", ".join(str(part[0]) if len(part) == 1 else f"{part[0]}–{part[-1]}" for part in parts)
