"""The code exercises by their contracts: loops over nested lists, exact sums, exact probabilities.

Independent of ``reference`` and of every solution: floats are summed by ``math.fsum`` and the
searches multiply fractions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

Vector = list[float]
Matrix = list[Vector]
Step = Callable[[int, Any], tuple[Sequence[float], Any]]


def _dot(a: Vector, b: Vector) -> float:
    return math.fsum(x * y for x, y in zip(a, b, strict=True))


def _times(A: Matrix, x: Vector) -> Vector:
    return [_dot(row, x) for row in A]


def _columns(A: Matrix) -> Matrix:
    return [list(column) for column in zip(*A, strict=True)]


def _product(A: Matrix, B: Matrix) -> Matrix:
    return [[_dot(row, column) for column in _columns(B)] for row in A]


def _softmax(e: Vector) -> Vector:
    """Weight j as 1 / sum_k exp(e_k - e_j), the ratios by themselves."""
    if not e:
        return []
    return [1 / math.fsum(math.exp(min(x - own, 700.0)) for x in e) for own in e]


def masked_softmax(e: Vector, visible: Sequence[bool]) -> Vector:
    kept = iter(_softmax([x for x, seen in zip(e, visible, strict=True) if seen]))
    return [next(kept) if seen else 0.0 for seen in visible]


def context(w: Vector, H: Matrix) -> Vector:
    return _times(_columns(H), w)


def bilinear_scores(q: Vector, K: Matrix, W: Matrix) -> Vector:
    return [math.fsum(q[a] * W[a][b] * k[b] for a in range(len(q)) for b in range(len(k))) for k in K]


def additive_scores(s: Vector, H: Matrix, W: Matrix, U: Matrix, v: Vector) -> Vector:
    return [_dot(v, [math.tanh(a + b) for a, b in zip(_times(W, s), _times(U, h), strict=True)]) for h in H]


def concat_scores(q: Vector, K: Matrix, W1: Matrix, w2: Vector) -> Vector:
    return [_dot(w2, [math.tanh(z) for z in _times(W1, q + k)]) for k in K]


def decoder_step(y: Vector, s: Vector, H: Matrix, p: dict[str, Any]) -> tuple[Vector, ...]:
    w = _softmax(additive_scores(s, H, p["W"], p["U"], p["v"]))
    c = context(w, H)
    new = [math.tanh(_dot(a, c + y) + _dot(b, s)) for a, b in zip(p["Wx"], p["Ws"], strict=True)]
    return w, c, new, _softmax(_times(p["Wy"], new))


def rnn_forward(X: Matrix, W: Matrix, U: Matrix, h0: Vector) -> Matrix:
    states, h = [], h0
    for x in X:
        z = [_dot(a + b, h + x) for a, b in zip(W, U, strict=True)]
        h = [1 / (1 + math.exp(min(-t, 700.0))) for t in z]
        states.append(h)
    return states


def greedy_decode(step: Step, s0: Any, bos: int, eos: int, max_len: int) -> list[int]:
    """The best token by (probability, smallest id), one call after the other."""
    tokens: list[int] = []
    y, s = bos, s0
    while len(tokens) < max_len and (not tokens or y != eos):
        P, s = step(y, s)
        y = max(range(len(P)), key=lambda token: (P[token], -token))
        tokens.append(y)
    return tokens


def _log(chance: Fraction) -> float:
    return math.log(chance.numerator) - math.log(chance.denominator)


def beam_search(
    step: Step, s0: Any, b: int, bos: int, eos: int, max_len: int
) -> list[tuple[list[int], float]]:
    """Ranks exact products of probabilities; the state is found again by replaying the tokens."""
    beam: list[tuple[list[int], Fraction]] = [([], Fraction(1))]
    for _ in range(max_len):
        candidates = []
        for tokens, chance in beam:
            if eos in tokens:
                candidates.append((tokens, chance))
                continue
            s = s0
            for y in [bos, *tokens]:
                P, s = step(y, s)
            candidates += [([*tokens, y], chance * Fraction(float(p))) for y, p in enumerate(P) if p > 0]
        beam = sorted(candidates, key=lambda pair: (-pair[1], pair[0]))[:b]
    return [(tokens, _log(chance)) for tokens, chance in beam]


def causal_mask(n: int) -> list[list[bool]]:
    return [[True] * (i + 1) + [False] * (n - i - 1) for i in range(n)]


def _attend(Q: Matrix, K: Matrix, V: Matrix, visible: Sequence[Sequence[bool]]) -> Matrix:
    scores = [[_dot(q, k) / math.sqrt(len(q)) for k in K] for q in Q]
    return [context(masked_softmax(e, seen), V) for e, seen in zip(scores, visible, strict=True)]


def self_attention(X: Matrix, Wq: Matrix, Wk: Matrix, Wv: Matrix, causal: bool = False) -> Matrix:
    n = len(X)
    visible = causal_mask(n) if causal else [[True] * n] * n
    return _attend(_product(X, Wq), _product(X, Wk), _product(X, Wv), visible)


def multi_head(X: Matrix, Wq: Matrix, Wk: Matrix, Wv: Matrix, Wo: Matrix, h: int) -> Matrix:
    size = len(Wq[0]) // h
    joined: Matrix = [[] for _ in X]
    for head in range(h):
        blocks = [[row[head * size : (head + 1) * size] for row in W] for W in (Wq, Wk, Wv)]
        for row, part in zip(joined, self_attention(X, *blocks), strict=True):
            row += part
    return _product(joined, Wo)


def softmax_vjp(w: Vector, g: Vector) -> Vector:
    """The whole Jacobian d w_j / d e_i = w_j ([i = j] - w_i), times g."""
    n = range(len(w))
    return [math.fsum(w[j] * ((i == j) - w[i]) * g[j] for j in n) for i in n]


def sdpa_grad(Q: Matrix, K: Matrix, V: Matrix, G: Matrix) -> tuple[Matrix, Matrix, Matrix]:
    """One entry at a time: the chain rule written out as sums over every path."""
    m, n, d = range(len(Q)), range(len(K)), range(len(Q[0]))
    scale = 1 / math.sqrt(len(Q[0]))
    w = [_softmax([_dot(q, k) * scale for k in K]) for q in Q]
    dE = [softmax_vjp(w[i], [_dot(G[i], v) for v in V]) for i in m]
    dQ = [[scale * math.fsum(dE[i][j] * K[j][a] for j in n) for a in d] for i in m]
    dK = [[scale * math.fsum(dE[i][j] * Q[i][a] for i in m) for a in d] for j in n]
    dV = [[math.fsum(w[i][j] * G[i][a] for i in m) for a in range(len(V[0]))] for j in n]
    return dQ, dK, dV


def hard_alignment(A: Matrix) -> Matrix:
    return [[1.0 if j == row.index(max(row)) else 0.0 for j in range(len(row))] for row in A]
