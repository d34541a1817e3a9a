"""Known mistakes of the items on scaled dot-product attention and self-attention."""

from __future__ import annotations

import math
from collections.abc import Callable

from tests.integration.by_hand.drawing import Numbers
from tests.integration.by_hand.mistakes.formulas import contexts, scale, weights
from tests.integration.by_hand.self_attention import ITEMS as RIGHT
from tests.integration.by_hand.self_attention import scaled
from tests.oracles.loops import columns, context, dot, matmul, softmax

__all__ = ["ITEMS"]

Matrix = list[list[float]]


def _raw(Q: Matrix, K: Matrix) -> Matrix:
    return [[dot(q, k) for k in K] for q in Q]


def _over(A: Matrix, divisor: float) -> Matrix:
    return [[a / divisor for a in row] for row in A]


def _matrix_weights(Q: Matrix, K: Matrix) -> dict[str, Matrix]:
    """Weights where one row for each query is asked for."""
    raw, root = _raw(Q, K), math.sqrt(len(K[0]))
    e = _over(raw, root)
    total = sum(math.exp(a) for row in e for a in row)
    return {
        "m-unscaled": [softmax(row) for row in raw],
        "m-div-d": [softmax(row) for row in _over(raw, len(K[0]))],
        "m-sqrt-n": [softmax(row) for row in _over(raw, math.sqrt(len(K)))],
        "m-axis": columns([softmax(column) for column in columns(e)]),
        "m-all": [[math.exp(a) / total for a in row] for row in e],
        "m-scale-after": _over([softmax(row) for row in raw], root),
        "m-no-softmax": e,
    }


def _three_steps(x: Numbers) -> Numbers:
    right = RIGHT["sdpa-output"](x)
    return {
        "e": scale(x["q"], x["K"]),
        "w": weights(right["e"]),
        "c": contexts(right["w"], x["V"], right["e"]),
    }


def _shown(e: list[float], seen: list[bool]) -> list[float]:
    """Softmax of the positions that are seen; a row that sees nothing is zero."""
    powers = [math.exp(a) if s else 0.0 for a, s in zip(e, seen, strict=True)]
    total = sum(powers) or 1.0
    return [p / total for p in powers]


def _causal(x: Numbers) -> Numbers:
    X, n = x["X"], range(len(x["X"]))
    raw, e = _raw(X, X), scaled(X, X)
    t = int(x["t"]) - 1
    up_to = [[j <= i for j in n] for i in n]
    full = [softmax(row) for row in e]
    after = [[w * s for w, s in zip(row, seen, strict=True)] for row, seen in zip(full, up_to, strict=True)]
    own = RIGHT["causal-self-attention"](x)["W"][t]

    def masked(scores: Matrix, mask: list[list[bool]]) -> Matrix:
        return [_shown(row, seen) for row, seen in zip(scores, mask, strict=True)]

    return {
        "W": {
            "m-no-mask": full,
            "m-mask-after": after,
            "m-mask-zero": [softmax([a * s for a, s in zip(e[i], up_to[i], strict=True)]) for i in n],
            "m-mask-future": masked(e, [[j >= i for j in n] for i in n]),
            "m-mask-inv": masked(e, [[j > i for j in n] for i in n]),
            "m-mask-strict": masked(e, [[j < i for j in n] for i in n]),
            "m-unscaled": masked(raw, up_to),
            "m-div-d": masked(_over(raw, len(X[0])), up_to),
            "m-axis": columns([_shown([e[i][j] for i in n], [j <= i for i in n]) for j in n]),
        },
        "y": {
            "m-no-mask": context(full[t], X),
            "m-mask-after": context(after[t], X),
            "m-swap-w": context(own[::-1], X),
            "m-argmax": contexts(own, X)["m-argmax"],
            "m-own-token": X[t],
        },
    }


def _mask(x: Numbers) -> Numbers:
    n, N = range(int(x["n"])), int(x["N"])
    rules: dict[str, Callable[[int, int], bool]] = {
        "m-mask-strict": lambda i, j: j < i,
        "m-mask-future": lambda i, j: j >= i,
        "m-mask-inv": lambda i, j: j > i,
        "m-all-visible": lambda i, j: True,
        "m-diagonal-only": lambda i, j: i == j,
    }
    return {
        "mask": {name: [[int(rule(i, j)) for j in n] for i in n] for name, rule in rules.items()},
        "pairs": {
            "m-no-diagonal-count": N * (N - 1) / 2,
            "m-half-of-square": N**2 / 2,
            "m-hidden-counted": N**2,
        },
    }


def _values(x: Numbers) -> Numbers:
    V = matmul(x["H"], x["M"])
    return {
        "V": {"m-transpose": matmul(x["H"], columns(x["M"])), "m-states-as-values": x["H"]},
        "c": contexts(x["w"], V) | {"m-states-as-values": context(x["w"], x["H"])},
    }


def _outputs(x: Numbers) -> Numbers:
    wrong = _matrix_weights(x["Q"], x["K"])
    return {"answer": {name: [context(row, x["V"]) for row in W] for name, W in wrong.items()}}


def _layers(x: Numbers) -> Numbers:
    n, m = x["n"], x["m"]
    return {
        "encoder": {"m-half-of-square": n * (n + 1) / 2, "m-cross-for-self": n * m},
        "decoder": {
            "m-hidden-counted": m**2,
            "m-no-diagonal-count": m * (m - 1) / 2,
            "m-cross-for-self": n * m,
        },
        "cross": {"m-self-for-cross": m**2, "m-keys-attend-themselves": n**2, "m-joint-length": (m + n) ** 2},
    }


def _two(x: Numbers) -> Numbers:
    tokens = [[x["a"], 0.0], [0.0, x["b"]]]
    own, other = (tokens, tokens[::-1])[int(x["t"]) - 1]
    scores = [dot(own, token) for token in tokens]
    return {
        "w": {
            "m-other-query": softmax([dot(other, token) for token in tokens]),
            "m-linear-norm": [e / sum(scores) for e in scores],
            "m-base2": [2**e / sum(2**f for f in scores) for e in scores],
            "m-no-softmax": scores,
        },
        "y": {
            "m-own-value": own,
            "m-sum": [x["a"], x["b"]],
            "m-uniform": [x["a"] / 2, x["b"] / 2],
        },
    }


ITEMS: dict[str, Callable[[Numbers], Numbers]] = {
    "causal-mask-matrix": _mask,
    "causal-self-attention": _causal,
    "sdpa-matrix": _outputs,
    "sdpa-output": _three_steps,
    "self-attention-two-tokens": _two,
    "self-attention-weights": lambda x: {"answer": _matrix_weights(x["X"], x["X"])},
    "transformer-three-attentions": _layers,
    "value-transform": _values,
}
