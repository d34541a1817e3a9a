"""A decoder as a step function, ready for search."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from reference.decoder import decoder_step
from reference.errors import ArgumentError
from reference.scores import Score
from reference.shapes import Array, ArrayLike, bind, floating
from reference.tables import Step
from reference.wiring import ContextIn, Order, QueryState, wire

__all__ = ["step_function"]


class _Lagging(NamedTuple):
    """A state that the last word hasn't entered yet."""

    state: ArrayLike


def step_function(
    H: ArrayLike,
    params: Mapping[str, ArrayLike],
    embedding: ArrayLike,
    preset: str = "l16",
    *,
    score: Score | None = None,
    query_state: QueryState | None = None,
    order: Order | None = None,
    context_in: ContextIn | None = None,
    mask: ArrayLike | None = None,
) -> Step:
    """Return ``step(y, s) -> (P, s_new)`` over word ids for one sentence.

    Start a search with :func:`reference.initial_state`, e.g.
    ``greedy_decode(step_function(H, params, E), initial_state(H), bos, eos, max_len)``.

    Parameters
    ----------
    H : array_like, (n, dh)
        Encoder states.
    params, preset, score, query_state, order, context_in, mask
        As in :func:`reference.decoder_step`.
    embedding : array_like, (words, de)
        A row for each word id, start symbol included (D-12).

    Returns
    -------
    callable
        ``y`` is the last word's id; P has shape (V,). Where the state is updated with the word that
        was chosen (s2), the state lags by one word, and the first step ignores ``y``.

    Raises
    ------
    ShapeError, CircularityError, ArgumentError
        Wirings are checked at once, shapes in the first step. The step raises ArgumentError for a
        word without embedding.

    Notes
    -----
    S0 section 3.1 with (4)-(8); the update of the state is what the printed loop lacks (F-05).
    """
    wiring = wire(preset, score=score, query_state=query_state, order=order, context_in=context_in)
    H, embedding = floating(H=H, embedding=embedding)
    bind(("H", H, ("n", "dh")), ("embedding", embedding, ("words", "de")))
    choices: dict[str, Any] = {
        "score": score,
        "query_state": query_state,
        "order": order,
        "context_in": context_in,
        "mask": mask,
    }

    def embed(y: int) -> Array:
        if not 0 <= y < len(embedding):
            raise ArgumentError(f"word {y} has no embedding; there are {len(embedding)}")
        return embedding[y]

    def step(y: int, s: ArrayLike) -> tuple[Array, Array]:
        done = decoder_step(embed(y), s, H, params, preset, **choices)
        return done.probabilities, done.state

    def lagging_step(y: int, s: ArrayLike | _Lagging) -> tuple[Array, _Lagging]:
        if isinstance(s, _Lagging):
            _, s = step(y, s.state)
        P = decoder_step(embed(y), s, H, params, preset, **choices).probabilities
        return P, _Lagging(s)

    return lagging_step if wiring.state_follows_word else step
