"""Items on the decoder step: S0 (4)-(8) and the orders of the other lectures."""

from __future__ import annotations

import math
from collections.abc import Callable

from tests.integration.by_hand.drawing import Numbers
from tests.integration.by_hand.words import Cards, Pairs
from tests.oracles.loops import context, dot, product, softmax

__all__ = ["ITEMS", "full_step", "scores"]


def scores(x: Numbers) -> list[float]:
    """S0 (4) with the vector v in front, so that it is a number; W_1 belongs to the encoder state."""
    from_s = product(x["W_s"], x["s"])
    tanhs = [[math.tanh(a + b) for a, b in zip(product(x["W_h"], h), from_s, strict=True)] for h in x["H"]]
    return [dot(x["v"], t) for t in tanhs]


def new_state(x: Numbers, c: list[float]) -> list[float]:
    """S0 (7): the context first, then the token."""
    rows = zip(x["Wx"], x["Ws"], strict=True)
    return [math.tanh(dot(wx, [*c, *x["y"]]) + dot(ws, x["s"])) for wx, ws in rows]


def full_step(x: Numbers) -> Numbers:
    """S0 (4)-(8)."""
    e = scores(x)
    w = softmax(e)
    c = context(w, x["H"])
    s_new = new_state(x, c)
    return {"e": e, "w": w, "c": c, "s_new": s_new, "P": softmax(product(x["Wy"], s_new))}


def _joined(x: Numbers) -> Numbers:
    """How long the vectors are, by joining vectors of these lengths."""
    own, encoder, decoder, token = ([0] * int(x[name]) for name in ("h", "dh", "ds", "de"))
    return {"slides": len(own + own), "notes": len(encoder + decoder), "lecture": len(encoder + token)}


def _shapes(x: Numbers) -> Numbers:
    """Of a product that must fit: rows for what comes out, columns for what goes in."""
    ds, dh, de, da, V = (int(x[name]) for name in ("ds", "dh", "de", "da", "V"))

    def maps(into: int, out: int) -> str:
        return f"{out} x {into} matrix"

    shapes = {
        "Wₓ": maps(dh + de, ds),
        "Wₛ": maps(ds, ds),
        "W_y": maps(ds, V),
        "W₁": maps(dh, da),
        "W₂": maps(ds, da),
        "v": f"vector with {da} entries",
        "c⁽ᵗ⁾": f"vector with {dh} entries",
        "[c⁽ᵗ⁾, y⁽ᵗ⁻¹⁾]": f"vector with {dh + de} entries",
        "P": f"vector with {V} entries",
        "α̂^(t,t′)": "single number",
    }
    return {"answer": Pairs(shapes)}


_ATTEND = ("Score", "Exponentiate", "Divide the exponentials", "Mix the encoder states")
_ORDERS = {
    "S0": (*_ATTEND, "into one vector", "Compute the state", "Compute the probabilities", "Choose the token"),
    "S1": (
        "Compute the state",
        "Compute the inner products",
        *_ATTEND[1:],
        "into one vector",
        "Compute the probabilities",
        "Choose the next token",
    ),
    "S2": (*_ATTEND, "into one vector", "feed-forward network", "Write down the token", "Compute the state"),
    "S3": (
        "Compute the similarity",
        *_ATTEND[1:],
        "Compute the state",
        "Apply the output function",
        "Write down the token",
    ),
}

ITEMS: dict[str, Callable[[Numbers], Numbers]] = {
    "concat-dimension": _joined,
    "decoder-full-step": full_step,
    "decoder-output": lambda x: {"answer": softmax(product(x["Wy"], x["s_new"]))},
    "decoder-shapes": _shapes,
    "decoder-state": lambda x: {"answer": new_state(x, x["c"])},
    "decoder-step-order": lambda x: {"answer": Cards(_ORDERS[x["lecture"]])},
}
