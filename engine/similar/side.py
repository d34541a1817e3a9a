"""One pair of files as two columns of lines, with the passages that they share marked in both."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass

from engine.similar.normal import Normal, normal_form
from engine.similar.passages import Passage, passages
from engine.similar.work import Pair

__all__ = ["COLOURS", "Detail", "Line", "detail", "ranges"]

COLOURS = 6
_MOST_LINES = 3_000
_LONGEST_LINE = 500


@dataclass(frozen=True, slots=True)
class Line:
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
class Detail:
    """A pair with its passages.

    Parameters
    ----------
    pair : Pair
    passages : tuple of Passage
        In the order of the first file; number 1 is the first.
    first, second : tuple of Line
        The files; at most 3,000 lines of each.
    left : tuple of int
        How many lines of either file aren't shown.
    notes : tuple of str
        What a reader should know of how either file was read; empty where there is nothing.
    """

    pair: Pair
    passages: tuple[Passage, ...]
    first: tuple[Line, ...]
    second: tuple[Line, ...]
    left: tuple[int, int]
    notes: tuple[str, str]

    @property
    def longest(self) -> int:
        """Length of the longest passage, in tokens."""
        return max((passage.tokens for passage in self.passages), default=0)


def detail(pair: Pair, usual: Collection[Hashable]) -> Detail:
    """Return a pair with the passages of its files that aren't `usual`."""
    forms = normal_form(pair.first.source), normal_form(pair.second.source)
    found = passages(*forms, usual=usual)
    first = _lines(pair.first.source, [passage.first for passage in found])
    second = _lines(pair.second.source, [passage.second for passage in found])
    left = max(0, len(first) - _MOST_LINES), max(0, len(second) - _MOST_LINES)
    shown = tuple(first[:_MOST_LINES]), tuple(second[:_MOST_LINES])
    return Detail(pair, found, *shown, left, (_note(forms[0]), _note(forms[1])))


def _note(form: Normal) -> str:
    notes = []
    if not form.is_whole:
        notes.append("Python can't read this file: it was compared as far as it can be read.")
    if form.is_cut:
        notes.append("It is very long: only its beginning was compared.")
    return " ".join(notes)


def _lines(source: str, taken: Sequence[Sequence[int]]) -> list[Line]:
    owner: dict[int, int] = {}
    begins: dict[int, list[int]] = {}
    for number, lines in sorted(enumerate(taken, start=1), key=lambda entry: len(entry[1])):
        owner |= dict.fromkeys(lines, number)
        begins.setdefault(lines[0], []).append(number)
    found = []
    for number, text in enumerate(source.removeprefix("\ufeff").rstrip("\n").split("\n"), start=1):
        cut = text if len(text) <= _LONGEST_LINE else text[:_LONGEST_LINE] + " …"
        found.append(Line(number, cut, owner.get(number, 0), tuple(sorted(begins.get(number, ())))))
    return found


def ranges(lines: Sequence[int]) -> str:
    """Return ``3–5, 9`` for the lines 3, 4, 5 and 9."""
    parts: list[list[int]] = []
    for line in lines:
        if parts and line == parts[-1][-1] + 1:
            parts[-1].append(line)
        else:
            parts.append([line])
    return ", ".join(str(part[0]) if len(part) == 1 else f"{part[0]}–{part[-1]}" for part in parts)
