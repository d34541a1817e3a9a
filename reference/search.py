"""Decoding: greedy, beam and exhaustive search.

Words are ids from 0; results include the end symbol and exclude the start symbol; ``max_len`` counts
returned words. Ties go to the smallest id. A model is a table, or ``step(y, s) -> (P, s_new)`` with the
last word y and a state s that search never changes. Probabilities are added up as float64 logarithms.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from reference.errors import ArgumentError
from reference.shapes import whole
from reference.tables import Model, Step, resolve, row_of

__all__ = ["Hypothesis", "beam_search", "exhaustive", "greedy_decode"]


class Hypothesis(NamedTuple):
    """A sequence of words and its total natural log-probability."""

    tokens: list[int]
    logprob: float


class _Partial(NamedTuple):
    tokens: tuple[int, ...]
    logprob: float
    state: Any
    finished: bool


def greedy_decode(
    model: Model,
    s0: Any = None,
    bos: int | None = None,
    eos: int | None = None,
    max_len: int | None = None,
) -> list[int]:
    """Return the words found by taking the most probable one in each step.

    Parameters
    ----------
    model : callable or table
        See :mod:`reference.tables`.
    s0 : object, optional
        First state of a step function.
    bos, eos : int, optional
        Start and end symbol. A step function needs both (F-04); an ``eos`` outside the vocabulary,
        such as -1, never ends. A table has no end symbol unless one is given.
    max_len : int, optional
        Most words to return; a step function needs it, a table has its depth.

    Returns
    -------
    list of int

    Raises
    ------
    ArgumentError
        For missing or unusable arguments.
    TableError
        For a row that isn't a distribution or that the table lacks.

    Notes
    -----
    S0 section 3.1, with the state update that the printed loop lacks (F-05).
    """
    step, state, word, eos, max_len = resolve(model, s0, bos, eos, max_len)
    tokens: list[int] = []
    while len(tokens) < max_len:
        P, state = step(word, state)
        row = row_of(P)
        word = row.index(max(row))  # index finds the first of equals
        tokens.append(word)
        if word == eos:
            break
    return tokens


def beam_search(
    model: Model,
    s0: Any = None,
    b: int | None = None,
    bos: int | None = None,
    eos: int | None = None,
    max_len: int | None = None,
) -> list[Hypothesis]:
    """Return the survivors of a search that keeps the b best hypotheses in each step.

    All unfinished hypotheses are expanded with all words that have a probability; of the candidates
    together with the finished hypotheses the b best by total log-probability are kept. A word of
    probability 0 is never taken. Lengths aren't normalised.

    Parameters
    ----------
    model : callable or table
        See :mod:`reference.tables`.
    s0, bos, eos, max_len
        As in :func:`greedy_decode`. Hypotheses that don't end are returned at ``max_len``.
    b : int
        Beam width, at least 1.

    Returns
    -------
    list of Hypothesis
        At most b, fewer if no more have a probability, the best first; equals by their words.

    Raises
    ------
    ArgumentError
        If ``b`` is missing or less than 1, and as in :func:`greedy_decode`.
    TableError
        For a row that isn't a distribution or that the table lacks.

    Notes
    -----
    S0 section 3.2. A larger b may end worse than a smaller one.
    """
    step, state, bos, eos, max_len = resolve(model, s0, bos, eos, max_len)
    if b is None:
        raise ArgumentError("beam_search needs b, the beam width")
    b = whole("b", b, least=1)
    beam = [_Partial((), 0.0, state, False)]
    for _ in range(max_len):
        if all(partial.finished for partial in beam):
            break
        candidates: list[_Partial] = []
        for partial in beam:
            grown = [partial] if partial.finished else _expand(step, partial, bos, eos)
            candidates += [one for one in grown if one.logprob > -math.inf]
        beam = sorted(candidates, key=_rank)[:b]
    return [Hypothesis(list(partial.tokens), partial.logprob) for partial in beam]


def exhaustive(
    model: Model,
    max_len: int | None = None,
    *,
    s0: Any = None,
    bos: int | None = None,
    eos: int | None = None,
    limit: int = 100_000,
) -> list[Hypothesis]:
    """Return every sequence with its log-probability, the best first.

    Parameters
    ----------
    model, max_len, s0, bos, eos
        As in :func:`greedy_decode`. A sequence ends with ``eos`` or at ``max_len``.
    limit : int
        Most sequences to hold.

    Returns
    -------
    list of Hypothesis
        Sorted as by :func:`beam_search`.

    Raises
    ------
    ArgumentError
        If there are more than ``limit`` sequences, and as in :func:`greedy_decode`.
    TableError
        For a row that isn't a distribution or that the table lacks.
    """
    step, state, bos, eos, max_len = resolve(model, s0, bos, eos, max_len)
    found: list[_Partial] = []
    growing = [_Partial((), 0.0, state, False)]
    for _ in range(max_len):
        candidates: list[_Partial] = []
        for partial in growing:
            candidates += _expand(step, partial, bos, eos)
            if len(found) + len(candidates) > limit:
                raise ArgumentError(f"more than {limit} sequences; use a smaller max_len or vocabulary")
        found += [partial for partial in candidates if partial.finished]
        growing = [partial for partial in candidates if not partial.finished]
    ranked = sorted(found + growing, key=_rank)
    return [Hypothesis(list(partial.tokens), partial.logprob) for partial in ranked]


def _expand(step: Step, partial: _Partial, bos: int, eos: int) -> list[_Partial]:
    P, state = step(partial.tokens[-1] if partial.tokens else bos, partial.state)
    return [
        _Partial(
            (*partial.tokens, word),
            partial.logprob + (math.log(p) if p else -math.inf),
            state,
            word == eos,
        )
        for word, p in enumerate(row_of(P))
    ]


def _rank(partial: _Partial) -> tuple[float, tuple[int, ...]]:
    return -partial.logprob, partial.tokens
