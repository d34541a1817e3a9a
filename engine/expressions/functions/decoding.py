"""Decoding on a probability tree, right and by known mistakes.

A tree has one row of next-token probabilities for every prefix, in the order (), (0), (1) …
(0, 0), (0, 1) …; sequences are tuples of token numbers from 0.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import reference
from engine.expressions.functions.registry import FunctionGroup
from engine.expressions.values import Array, as_float, as_tensor
from engine.text.words import agree, count_noun
from reference.tangents import plain

function = FunctionGroup("Decoding")

Prefix = tuple[int, ...]


def _rows(tree: Any) -> tuple[dict[Prefix, list[float]], int]:
    """Return the rows by prefix, and the depth."""
    # the reference refuses a tree that isn't full, too; the mistakes here need the rows themselves
    table = plain(as_tensor(tree))
    count, words = table.shape
    rows: dict[Prefix, list[float]] = {}
    for depth in itertools.count(1):
        for prefix in itertools.product(range(words), repeat=depth - 1):
            rows[prefix] = table[len(rows)].tolist() if len(rows) < count else []
        if len(rows) >= count:
            if len(rows) > count:
                raise TypeError(
                    f"{count_noun(count, 'row')} of {count_noun(words, 'word')} "
                    f"{agree(count, 'are')} no full tree"
                )
            return rows, depth
    raise AssertionError


@function("words", exact=True)
def as_words(sequence: Any, vocabulary: str = "A B C D E F G H") -> str:
    """Return a sequence (or one token) as words joined by blanks."""
    # letters by default, as in the lectures' trees
    names = vocabulary.split()
    tokens = sequence if isinstance(sequence, tuple) else (sequence,)
    if any(not 0 <= int(t) < len(names) for t in tokens):
        raise TypeError(f"the vocabulary {vocabulary!r} has no word for some token of {tokens}")
    return " ".join(names[int(t)] for t in tokens)


@function(exact=True)
def greedy_decode(tree: Any) -> Prefix:
    """Return the sequence of greedy search."""
    return tuple(reference.greedy_decode(plain(as_tensor(tree))))


@function(exact=True)
def beam_search(tree: Any, b: Any, rank: Any = 0) -> Prefix:
    """Return the sequence that beam search with width b ranks first (or `rank`-th, from 0)."""
    return tuple(
        reference.beam_search(plain(as_tensor(tree)), b=int(as_float(b)))[int(as_float(rank))].tokens
    )


@function(exact=True)
def beam_survivors(tree: Any, b: Any, step: Any) -> str:
    """Return the prefixes that survive step `step` (from 1), best first, as words "AB, AC"."""
    beam = reference.beam_search(plain(as_tensor(tree)), b=int(as_float(b)), max_len=int(as_float(step)))
    return _prefix_list(hypothesis.tokens for hypothesis in beam)


def _prefix_list(prefixes: Iterable[Sequence[int]]) -> str:
    return ", ".join("".join(as_words(token) for token in prefix) for prefix in prefixes)


@function(exact=True)
def best_sequence(tree: Any, rank: Any = 0) -> Prefix:
    """Return the most probable sequence of full length, by trying all (or the `rank`-th, from 0)."""
    return tuple(reference.exhaustive(plain(as_tensor(tree)))[int(as_float(rank))].tokens)


@function()
def sequence_prob(tree: Any, sequence: Any) -> Array:
    """Return the probability of a sequence by the chain rule, S3 (3)."""
    return as_tensor(reference.sequence_prob(plain(as_tensor(tree)), sequence))


@function()
def chain_prob(p: Any) -> Array:
    """Return the product of conditional probabilities, S3 (3)."""
    return as_tensor(reference.chain_prob(as_tensor(p)))


@function(exact=True)
def step_probs(tree: Any, sequence: Any) -> Array:
    """Return the probability of each token of a sequence after the tokens before it."""
    rows, _ = _rows(tree)
    return as_tensor([rows[tuple(sequence[:i])][token] for i, token in enumerate(sequence)])


# Known mistakes


@function(exact=True)
def second_choice(tree: Any) -> Prefix:
    """Return the sequence that takes the second best token in each step."""
    rows, depth = _rows(tree)
    prefix: Prefix = ()
    for _ in range(depth):
        row = rows[prefix]
        # of equal tokens the first, as the reference has it
        prefix = (*prefix, sorted(range(len(row)), key=lambda w: (-row[w], w))[1])
    return prefix


@function(exact=True)
def step_max(tree: Any) -> Prefix:
    """Return the token of the largest entry of each step, over all prefixes (m-step-max)."""
    rows, depth = _rows(tree)
    chosen: list[int] = []
    for length in range(depth):
        entries = [
            (-p, prefix, word)
            for prefix, row in rows.items()
            if len(prefix) == length
            for word, p in enumerate(row)
        ]
        chosen.append(min(entries)[2])
    return tuple(chosen)


@function()
def step_max_prob(tree: Any) -> Array:
    """Return the product of the largest entries of the steps, over all prefixes (m-step-max)."""
    rows, depth = _rows(tree)
    largest = [max(max(r) for prefix, r in rows.items() if len(prefix) == length) for length in range(depth)]
    return as_tensor(math.prod(largest))


def _search(
    tree: Any,
    width: int,
    score: Callable[[tuple[float, ...]], float],
    *,
    steps: int | None = None,
    per_parent: bool = False,
    best_only: bool = False,
) -> list[Prefix]:
    """Return the beam, best first, of a search that ranks, prunes or expands in another way.

    With `per_parent` every hypothesis keeps its own `width` continuations, with `best_only` only the first
    hypothesis is expanded; `steps` stops early.
    """
    rows, depth = _rows(tree)
    beam: list[tuple[Prefix, tuple[float, ...]]] = [((), ())]
    for _ in range(depth if steps is None else steps):
        expanded = beam[:1] if best_only else beam
        grown = [[((*p, w), (*ps, q)) for w, q in enumerate(rows[p])] for p, ps in expanded]
        groups = grown if per_parent else [list(itertools.chain(*grown))]
        beam = [h for group in groups for h in sorted(group, key=lambda h: (-score(h[1]), h[0]))[:width]]
    return [h[0] for h in sorted(beam, key=lambda h: (-score(h[1]), h[0]))]


def _reversed_search(tree: Any, width: int, score: Callable[..., float], steps: int) -> list[Prefix]:
    return _search(tree, width, score, steps=steps)[::-1]


def _last(probabilities: tuple[float, ...]) -> float:
    return probabilities[-1]


_SEARCHES: dict[str, Callable[..., list[Prefix]]] = {
    "m-beam-best": partial(_search, score=math.prod, best_only=True),
    "m-beam-per": partial(_search, score=math.prod, per_parent=True),
    "m-beam-sum": partial(_search, score=math.fsum),
    "m-beam-last": partial(_search, score=_last),
    "m-survivors-order": partial(_reversed_search, score=math.prod),
}


def _first_of(name: str, mistake: str, words: str) -> None:
    def call(tree: Any, b: Any) -> Prefix:
        return _SEARCHES[mistake](tree, int(as_float(b)))[0]

    call.__doc__ = f"Return {words} ({mistake})."
    function(name, exact=True)(call)


_first_of("beam_best_only", "m-beam-best", "what remains when only the best of the b hypotheses is expanded")
_first_of("beam_per_parent", "m-beam-per", "the first when b hypotheses are kept for each parent")
_first_of("beam_by_sum", "m-beam-sum", "the first when probabilities are added")
_first_of("beam_by_last", "m-beam-last", "the first when only the last step's probability ranks")


@function(exact=True)
def mistaken_survivors(tree: Any, b: Any, step: Any, mistake: str) -> str:
    """Return what survives step `step` by a mistake (m-beam-best, -per, -sum, -last), as `beam_survivors`.
    m-survivors-order gives the right survivors, the least probable first.
    """
    if mistake not in _SEARCHES:
        raise TypeError(f"the mistake is {mistake!r}, expected one of {', '.join(_SEARCHES)}")
    return _prefix_list(_SEARCHES[mistake](tree, int(as_float(b)), steps=int(as_float(step))))
