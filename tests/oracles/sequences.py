"""Search over decoding tables in exact fractions.

A table is a dict from prefix tuples to rows of fractions. Nothing here walks the tree as the reference
does: whole sequences are listed with ``itertools.product`` and judged afterwards.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product

Words = tuple[int, ...]
Table = dict[Words, list[Fraction]]


def tree(V: int, depth: int, draw_row) -> Table:
    """A full table; ``draw_row()`` gives one row."""
    return {prefix: draw_row() for length in range(depth) for prefix in product(range(V), repeat=length)}


def probability(table: Table, words: Words) -> Fraction:
    total = Fraction(1)
    for t in range(len(words)):
        total *= table[words[:t]][words[t]]
    return total


def is_sequence(words: Words, eos: int, length: int) -> bool:
    """Whether the words end with their first end symbol, or fill the length without one."""
    return eos not in words[:-1] and (len(words) == length or words[-1] == eos)


def every_sequence(V: int, length: int, eos: int) -> list[Words]:
    lengths = range(1, length + 1)
    return [w for n in lengths for w in product(range(V), repeat=n) if is_sequence(w, eos, length)]


def ranked(table: Table, words: list[Words]) -> list[tuple[Words, Fraction]]:
    """By probability, equals by their words."""
    judged = [(w, probability(table, w)) for w in words]
    return sorted(judged, key=lambda pair: (-pair[1], pair[0]))


def beam(table: Table, V: int, b: int, length: int, eos: int) -> list[tuple[Words, Fraction]]:
    """Step by step, of *all* sequences those whose shorter form survived."""
    survivors: list[Words] = [()]
    for t in range(1, length + 1):
        candidates = [
            w for w in every_sequence(V, t, eos)
            if (w in survivors if len(w) < t else w[:-1] in survivors and eos not in w[:-1])
        ]  # fmt: skip
        survivors = [w for w, _ in ranked(table, candidates)][:b]
    return ranked(table, survivors)


def greedy(table: Table, length: int, eos: int) -> Words:
    words: Words = ()
    while len(words) < length and (not words or words[-1] != eos):
        row = table[words]
        words += (min(w for w, p in enumerate(row) if p == max(row)),)
    return words
