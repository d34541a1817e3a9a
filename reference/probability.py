"""The probability of a whole sequence, by the chain rule."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from reference.errors import ArgumentError
from reference.shapes import Array, ArrayLike, bind, floating, namespace, whole
from reference.tables import Model, resolve, row_of

__all__ = ["chain_prob", "sequence_logprob", "sequence_prob"]


def chain_prob(p: ArrayLike) -> Array:
    """Return the product of conditional probabilities P(y_t | y_<t, x).

    Parameters
    ----------
    p : array_like, (..., T)
        Each between 0 and 1.

    Returns
    -------
    array, (...)

    Raises
    ------
    ArgumentError
        If an entry isn't a probability.

    Notes
    -----
    S3 (3).
    """
    (p,) = floating(p=p)
    bind(("p", p, ("T",)))
    xp = namespace(p)
    if not bool(xp.all((p >= 0) & (p <= 1))):
        raise ArgumentError("p holds entries that aren't between 0 and 1")
    return xp.prod(p, axis=-1)[...]  # of a single number numpy makes a scalar, and [...] an array again


def sequence_logprob(
    model: Model, seq: Sequence[int] | Array, s0: Any = None, bos: int | None = None
) -> float:
    """Return the log-probability of a sequence of words.

    Parameters
    ----------
    model : callable ``step(y, s) -> (P, s_new)``, or table
        See :mod:`reference.tables`.
    seq : sequence or array of whole numbers
        Word ids without the start symbol; the end symbol, if meant, included.
    s0 : object, optional
        The step function's first state.
    bos : int, optional
        Start symbol; a step function needs it.

    Returns
    -------
    float
        Sum of natural logarithms; ``-inf`` if a word has probability 0.

    Raises
    ------
    ArgumentError
        If a word isn't in the vocabulary, or the sequence is empty or longer than the table is deep.
    """
    return math.fsum(math.log(p) if p else -math.inf for p in _conditionals(model, seq, s0, bos))


def sequence_prob(model: Model, seq: Sequence[int] | Array, s0: Any = None, bos: int | None = None) -> float:
    """Return the probability of a sequence of words.

    Parameters and errors are those of :func:`sequence_logprob`.

    Returns
    -------
    float

    Notes
    -----
    S3 (3). Multiplied, not added as logarithms, so the decimals of short products stay clean.
    """
    return math.prod(_conditionals(model, seq, s0, bos))


def _conditionals(model: Model, seq: Sequence[int] | Array, s0: Any, bos: int | None) -> Iterator[float]:
    words = [whole("seq", word) for word in (seq if isinstance(seq, Sequence) else seq.tolist())]
    if not words:
        raise ArgumentError("seq is empty, expected at least one word")
    step, state, word, _, _ = resolve(model, s0, bos, -1, len(words), limit_name="the length of seq")
    for following in words:
        P, state = step(word, state)
        row = row_of(P)
        if following >= len(row):
            raise ArgumentError(f"seq holds {following}, expected word ids from 0 to {len(row) - 1}")
        yield row[following]
        word = following
