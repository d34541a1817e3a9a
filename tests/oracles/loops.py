"""The lectures' formulas as loops over nested lists of floats, one index at a time.

Pure Python: no torch, no numpy, no batch axes. A matrix is a list of rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

Vector = Sequence[float]
Matrix = Sequence[Sequence[float]]


def softmax(e: Vector, temperature: float = 1.0) -> list[float]:
    top = max(e)
    powers = [math.exp((x - top) / temperature) for x in e]
    total = math.fsum(powers)
    return [p / total for p in powers]


def masked_softmax(e: Vector, visible: Sequence[bool]) -> list[float]:
    """Softmax over the sublist of visible scores, put back into place."""
    kept = [j for j, seen in enumerate(visible) if seen]
    weights = [0.0] * len(e)
    if kept:
        for j, w in zip(kept, softmax([e[j] for j in kept]), strict=True):
            weights[j] = w
    return weights


def dot(a: Vector, b: Vector) -> float:
    return math.fsum(x * y for x, y in zip(a, b, strict=True))


def product(W: Matrix, x: Vector) -> list[float]:
    """W x."""
    return [dot(row, x) for row in W]


def columns(A: Matrix) -> list[list[float]]:
    return [[row[j] for row in A] for j in range(len(A[0]))]


def matmul(A: Matrix, B: Matrix) -> list[list[float]]:
    return [[dot(row, column) for column in columns(B)] for row in A]


def dot_scores(q: Vector, K: Matrix) -> list[float]:
    return [dot(q, key) for key in K]


def scaled_dot_scores(q: Vector, K: Matrix) -> list[float]:
    return [dot(q, key) / math.sqrt(len(key)) for key in K]


def bilinear_scores(q: Vector, K: Matrix, W: Matrix) -> list[float]:
    return [
        math.fsum(q[i] * W[i][j] * key[j] for i in range(len(q)) for j in range(len(key))) for key in K
    ]  # fmt: skip


def alignment_vector(h: Vector, s: Vector, W_h: Matrix, W_s: Matrix) -> list[float]:
    return [math.tanh(a + b) for a, b in zip(product(W_h, h), product(W_s, s), strict=True)]


def additive_scores(q: Vector, K: Matrix, W: Matrix, U: Matrix, v: Vector) -> list[float]:
    return [dot(v, alignment_vector(key, q, U, W)) for key in K]


def concat_scores(q: Vector, K: Matrix, W1: Matrix, w2: Vector) -> list[float]:
    return [dot(w2, [math.tanh(z) for z in product(W1, [*q, *key])]) for key in K]


def context(w: Vector, H: Matrix) -> list[float]:
    return [math.fsum(w[j] * H[j][i] for j in range(len(H))) for i in range(len(H[0]))]


def attention_weights(
    Q: Matrix, K: Matrix, divisor: float, mask: Sequence[Sequence[bool]] | None = None
) -> list[list[float]]:
    rows = []
    for i, q in enumerate(Q):
        scores = [dot(q, key) / divisor for key in K]
        rows.append(softmax(scores) if mask is None else masked_softmax(scores, mask[i]))
    return rows


def sdpa(
    Q: Matrix,
    K: Matrix,
    V: Matrix,
    mask: Sequence[Sequence[bool]] | None = None,
    divisor: float | None = None,
) -> list[list[float]]:
    divisor = math.sqrt(len(K[0])) if divisor is None else divisor
    return [context(w, V) for w in attention_weights(Q, K, divisor, mask)]


def causal_mask(n: int) -> list[list[bool]]:
    return [[j <= i for j in range(n)] for i in range(n)]


def self_attention(X: Matrix, Wq: Matrix, Wk: Matrix, Wv: Matrix, causal: bool) -> list[list[float]]:
    mask = causal_mask(len(X)) if causal else None
    return sdpa(matmul(X, Wq), matmul(X, Wk), matmul(X, Wv), mask)


def multi_head(
    X: Matrix,
    Wq: Matrix,
    Wk: Matrix,
    Wv: Matrix,
    Wo: Matrix,
    h: int,
    mask: Sequence[Sequence[bool]] | None = None,
) -> list[list[float]]:
    """Head by head: head i owns the i-th block of columns."""
    joined: list[list[float]] = [[] for _ in X]
    for head in range(h):

        def block(W: Matrix, head: int = head) -> list[list[float]]:
            width = len(W[0]) // h
            return [list(row[head * width : (head + 1) * width]) for row in W]

        part = sdpa(matmul(X, block(Wq)), matmul(X, block(Wk)), matmul(X, block(Wv)), mask)
        for row, more in zip(joined, part, strict=True):
            row.extend(more)
    return matmul(joined, Wo)


def logistic(z: float) -> float:
    return 1.0 / (1.0 + math.exp(-z)) if z >= 0 else math.exp(z) / (1.0 + math.exp(z))


def rnn_step(x: Vector, h: Vector, W: Matrix, U: Matrix, f: Callable[[float], float]) -> list[float]:
    return [f(a + b) for a, b in zip(product(W, h), product(U, x), strict=True)]


def decoder_l16(y: Vector, s: Vector, H: Matrix, p: dict[str, list]) -> dict[str, list[float]]:
    """S0 (4)-(8), with v."""
    e = additive_scores(s, H, p["W"], p["U"], p["v"])
    w = softmax(e)
    c = context(w, H)
    pre = [a + b for a, b in zip(product(p["Wx"], [*c, *y]), product(p["Ws"], s), strict=True)]
    s_new = [math.tanh(z) for z in pre]
    P = softmax(product(p["Wy"], s_new))
    return _step(e, w, c, pre, s_new, P)


def decoder_s1(y: Vector, s: Vector, H: Matrix, p: dict[str, list]) -> dict[str, list[float]]:
    pre = [a + b for a, b in zip(product(p["Wx"], y), product(p["Ws"], s), strict=True)]
    s_new = [math.tanh(z) for z in pre]
    e = dot_scores(s_new, H)
    w = softmax(e)
    c = context(w, H)
    P = softmax(product(p["Wy"], [*c, *s_new]))
    return _step(e, w, c, pre, s_new, P)


def decoder_s2(y: Vector, s: Vector, H: Matrix, p: dict[str, list]) -> dict[str, list[float]]:
    e = additive_scores(s, H, p["W"], p["U"], p["v"])
    w = softmax(e)
    c = context(w, H)
    P = softmax(product(p["Wy"], [*c, *s]))
    pre = [a + b for a, b in zip(product(p["Wx"], y), product(p["Ws"], s), strict=True)]
    return _step(e, w, c, pre, [math.tanh(z) for z in pre], P)


def decoder_s3(y: Vector, s: Vector, H: Matrix, p: dict[str, list]) -> dict[str, list[float]]:
    step = decoder_l16(y, s, H, {**p, "Wy": [[0.0] * len(s)]})
    entering = [*y, *step["state"], *step["context"]]
    return {**step, "probabilities": softmax(product(p["Wy"], entering))}


def _step(
    e: list[float], w: list[float], c: list[float], pre: list[float], s: list[float], P: list[float]
) -> dict[str, list[float]]:
    return {"scores": e, "weights": w, "context": c, "preactivation": pre, "state": s, "probabilities": P}


def hard_alignment(A: Matrix) -> list[list[float]]:
    rows = []
    for row in A:
        best = 0
        for j, value in enumerate(row):
            if value > row[best]:
                best = j
        rows.append([1.0 if j == best else 0.0 for j in range(len(row))])
    return rows
