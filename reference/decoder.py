"""One step of a decoder with attention, wired as each lecture has it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from reference.attending import AttentionResult, attention
from reference.errors import ArgumentError
from reference.scores import SCORES, Score, take
from reference.shapes import Array, ArrayLike, bind, floating, join, matvec, namespace
from reference.weights import softmax
from reference.wiring import ContextIn, Order, QueryState, Wiring, wire

__all__ = ["DecoderStep", "decoder_step", "initial_state"]


class DecoderStep(NamedTuple):
    """All quantities of one step, in the order of S0 (4)-(8).

    Attributes
    ----------
    scores, weights : array, (..., n)
    context : array, (..., dh)
    preactivation : array, (..., ds)
        What goes into the tanh of the state.
    state : array, (..., ds)
        s_t.
    probabilities : array, (..., V)
    """

    scores: Array
    weights: Array
    context: Array
    preactivation: Array
    state: Array
    probabilities: Array


def initial_state(H: ArrayLike, s0: ArrayLike | str = "encoder_final") -> Array:
    """Return the decoder's first state (D-14).

    Parameters
    ----------
    H : array_like, (..., n, dh)
        Encoder states.
    s0 : "encoder_final" or array_like, (..., ds)
        The last encoder state, or a state of one's own.

    Returns
    -------
    array, (..., dh) or (..., ds)

    Notes
    -----
    S0 greedy algorithm, line 1.
    """
    if isinstance(s0, str):
        if s0 != "encoder_final":
            raise ArgumentError(f's0 is {s0!r}, expected "encoder_final" or an array')
        (H,) = floating(H=H)
        bind(("H", H, ("n", "dh")))
        return H[..., -1, :]
    (s0, _) = floating(s0=s0, H=H)
    bind(("s0", s0, ("ds",)))
    return s0


def decoder_step(
    y: ArrayLike,
    s: ArrayLike,
    H: ArrayLike,
    params: Mapping[str, ArrayLike],
    preset: str = "l16",
    *,
    score: Score | None = None,
    query_state: QueryState | None = None,
    order: Order | None = None,
    context_in: ContextIn | None = None,
    mask: ArrayLike | None = None,
) -> DecoderStep:
    """Return one decoder step: scores, weights, context, state and word probabilities.

    Parameters
    ----------
    y : array_like, (..., de)
        Embedding of a token: y_(t-1); for the preset s2, whose state is updated last, y_t.
    s : array_like, (..., ds)
        s_(t-1).
    H : array_like, (..., n, dh)
        Encoder states: keys and values.
    params : mapping
        Wx (ds, dh + de), context first, or (ds, de) where the context doesn't enter the state;
        Ws (ds, ds); Wy (V, …), its columns as :class:`reference.wiring.Wiring` orders the output;
        and what the score needs: W (da, ds), U (da, dh), v (da,) for the additive one. Each may
        have leading axes. Others are ignored.
    preset : {"l16", "s1", "s2", "s3"}
        See :mod:`reference.wiring`.
    score, query_state, order, context_in : optional
        Replace the preset's choice.
    mask : array_like of bool, optional
        Encoder positions that may be attended to.

    Returns
    -------
    DecoderStep

    Raises
    ------
    ShapeError
        For shapes that don't fit.
    CircularityError
        If a value would be needed before it exists (F-09).
    ArgumentError
        For an unknown choice or a missing parameter.

    Notes
    -----
    S0 (4)-(8) with v added (F-01); S1 "Attention: In Equations"; S2 steps 1-4; S3 displays A-D.
    """
    wiring = wire(preset, score=score, query_state=query_state, order=order, context_in=context_in)
    y, s, H, *matrices = floating(y=y, s=s, H=H, **_needed(params, wiring))
    given = dict(zip(_names(wiring), matrices, strict=True))
    # the square matrix first: where it and the state differ, the state is what doesn't fit
    bind(("y", y, ("de",)), ("Ws", given["Ws"], ("ds", "ds")), ("s", s, ("ds",)), ("H", H, ("n", "dh")))
    tanh = namespace(H).tanh
    if wiring.order == "attend_then_rnn":
        attended = _attend(s, H, given, wiring, mask)
        pre = _preactivation(y, s, attended.output, given, wiring)
        state = tanh(pre)
    else:
        pre = _preactivation(y, s, None, given, wiring)
        state = tanh(pre)
        attended = _attend(state if wiring.query_state == "current" else s, H, given, wiring, mask)
    blocks = {"token": y, "context": attended.output, "state": state, "previous_state": s}
    P = _probabilities([blocks[name] for name in wiring.output], given["Wy"], wiring)
    return DecoderStep(attended.scores, attended.weights, attended.output, pre, state, P)


def _names(wiring: Wiring) -> tuple[str, ...]:
    score = SCORES.get(wiring.score) if isinstance(wiring.score, str) else None
    return ("Wx", "Ws", "Wy", *(score[1] if score else ()))


def _needed(params: Mapping[str, ArrayLike], wiring: Wiring) -> dict[str, ArrayLike]:
    names = _names(wiring)
    return dict(zip(names, take(params, names, "this decoder"), strict=True))


def _attend(
    query: Array, H: Array, params: Mapping[str, Array], wiring: Wiring, mask: ArrayLike | None
) -> AttentionResult:
    return attention(query, H, None, wiring.score, mask, params=params)


def _preactivation(y: Array, s: Array, c: Array | None, params: Mapping[str, Array], wiring: Wiring) -> Array:
    recurrent = _product("Ws", params["Ws"], "ds", s, "ds")
    if c is not None and wiring.context_in_state:
        return _product("Wx", params["Wx"], "ds", join(c, y), "[c; y]", s) + recurrent
    return _product("Wx", params["Wx"], "ds", y, "de", s) + recurrent


def _probabilities(blocks: list[Array], Wy: Array, wiring: Wiring) -> Array:
    entering = blocks[0] if len(blocks) == 1 else join(*blocks)
    return softmax(_product("Wy", Wy, "V", entering, f"[{'; '.join(wiring.output)}]"))


def _product(name: str, W: Array, rows: str, x: Array, columns: str, result: Array | None = None) -> Array:
    known = () if result is None else ((rows, result, (rows,)),)
    bind(*known, (columns, x, (columns,)), (name, W, (rows, columns)))
    return matvec(W, x)
