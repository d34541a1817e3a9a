"""How a decoder step is wired: which state asks, and where the context enters.

The lectures disagree (D-1, D-2); each has its preset::

    l16   scores from s_(t-1);  s_t = tanh(Wx [c_t; y_(t-1)] + Ws s_(t-1));  P = softmax(Wy s_t)
    s1    s_t = tanh(Wx y_(t-1) + Ws s_(t-1));  scores s_t · h_i;  P = softmax(Wy [c_t; s_t])
    s2    scores from s_(t-1);  P = softmax(Wy [c_t; s_(t-1)]);  s_t = tanh(Wx y_t + Ws s_(t-1))
    s3    scores and state as l16;  P = softmax(Wy [y_(t-1); s_t; c_t])
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from reference.errors import ArgumentError, CircularityError
from reference.scores import Score

__all__ = ["PRESETS", "ContextIn", "Order", "Preset", "QueryState", "Wiring", "wire"]

Preset: TypeAlias = Literal["l16", "s1", "s2", "s3"]
QueryState: TypeAlias = Literal["prev", "current"]
Order: TypeAlias = Literal["attend_then_rnn", "rnn_then_attend"]
ContextIn: TypeAlias = Literal["state", "output", "both"]

_CHOICES: Mapping[str, tuple[str, ...]] = {
    "query_state": ("prev", "current"),
    "order": ("attend_then_rnn", "rnn_then_attend"),
    "context_in": ("state", "output", "both"),
}


@dataclass(frozen=True, slots=True)
class Wiring:
    """How a decoder step is wired: what it scores with, and what enters the state and the prediction.

    Parameters
    ----------
    score : str or callable
        As in :func:`reference.attention`.
    query_state : {"prev", "current"}
        s_(t-1) or s_t in the score.
    order : {"attend_then_rnn", "rnn_then_attend"}
        Whether c_t or s_t is computed first.
    context_in : {"state", "output", "both"}
        Where c_t enters: s_t, P, or both.
    output : tuple of {"token", "context", "state", "previous_state"}
        What Wy multiplies, in this order.
    """

    score: Score
    query_state: QueryState
    order: Order
    context_in: ContextIn
    output: tuple[str, ...]

    @property
    def context_in_state(self) -> bool:
        """Whether s_t = tanh(Wx [c_t; y] + …), with the context first."""
        return self.context_in != "output"

    @property
    def state_follows_word(self) -> bool:
        """Whether P reads s_(t-1), and s_t is made of the word y_t that was chosen from P."""
        return "previous_state" in self.output


PRESETS: Mapping[str, Wiring] = {
    "l16": Wiring("additive", "prev", "attend_then_rnn", "state", ("state",)),
    "s1": Wiring("dot", "current", "rnn_then_attend", "output", ("context", "state")),
    "s2": Wiring("additive", "prev", "attend_then_rnn", "output", ("context", "previous_state")),
    "s3": Wiring("additive", "prev", "attend_then_rnn", "both", ("token", "state", "context")),
}


def wire(
    preset: str = "l16",
    *,
    score: Score | None = None,
    query_state: QueryState | None = None,
    order: Order | None = None,
    context_in: ContextIn | None = None,
) -> Wiring:
    """Return a preset with some of its choices replaced.

    ``query_state="current"`` brings ``order="rnn_then_attend"`` with it, unless an order is given.
    Where the context is to enter the output and the preset has no place for it, it goes first.

    Raises
    ------
    ArgumentError
        For an unknown preset or choice.
    CircularityError
        If a value would be needed before it exists (F-09).
    """
    if preset not in PRESETS:
        raise ArgumentError(f"preset is {preset!r}, expected one of {', '.join(PRESETS)}")
    base = PRESETS[preset]
    if score is None and query_state is None and order is None and context_in is None:
        return base
    for name, value in (("query_state", query_state), ("order", order), ("context_in", context_in)):
        if value is not None and value not in _CHOICES[name]:
            raise ArgumentError(f"{name} is {value!r}, expected one of {', '.join(_CHOICES[name])}")
    if query_state == "current" and order is None:
        order = "rnn_then_attend"
    changed = replace(
        base,
        score=base.score if score is None else score,
        query_state=query_state or base.query_state,
        order=order or base.order,
        context_in=context_in or base.context_in,
    )
    _refuse_circles(changed)
    return replace(changed, output=_output_blocks(changed))


def _refuse_circles(wiring: Wiring) -> None:
    if wiring.query_state == "current" and wiring.order == "attend_then_rnn":
        raise CircularityError(
            "the score uses s_t, but s_t is computed only after attending; "
            'use query_state="prev", or order="rnn_then_attend" (F-09)'
        )
    if wiring.order == "rnn_then_attend" and wiring.state_follows_word:
        raise CircularityError(
            "s_t would need the word y_t, but y_t is chosen only after attending; "
            'use order="attend_then_rnn" (F-09)'
        )
    if wiring.order == "rnn_then_attend" and wiring.context_in_state:
        raise CircularityError(
            "s_t would need c_t, but c_t is computed only after s_t; "
            'use context_in="output", or order="attend_then_rnn" (F-09)'
        )


def _output_blocks(wiring: Wiring) -> tuple[str, ...]:
    if wiring.context_in == "state":
        return tuple(block for block in wiring.output if block != "context")
    return wiring.output if "context" in wiring.output else ("context", *wiring.output)
