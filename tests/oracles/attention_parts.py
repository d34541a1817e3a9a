"""What surrounds attention, by its contracts: loops over nested lists, sums by ``math.fsum``.

Independent of ``reference`` and of every solution: nothing is shifted, tiled, grouped or vectorised here that
the exercises shift, tile, group or vectorise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import mpmath

from tests.oracles.precise import DIGITS

Vector = list[float]
Matrix = list[Vector]


def _dot(a: Sequence[float], b: Sequence[float]) -> float:
    return math.fsum(x * y for x, y in zip(a, b, strict=True))


def _product(A: Matrix, B: Matrix) -> Matrix:
    return [[_dot(row, column) for column in zip(*B, strict=True)] for row in A]


def _softmax(e: Vector) -> Vector:
    return [1 / math.fsum(math.exp(min(x - own, 700.0)) for x in e) for own in e]


def _attend(q: Vector, K: Matrix, V: Matrix) -> Vector:
    weights = _softmax([_dot(q, k) / math.sqrt(len(q)) for k in K])
    return [_dot(weights, column) for column in zip(*V, strict=True)]


def grouped_query_attention(Q: list[Matrix], K: list[Matrix], V: list[Matrix]) -> list[Matrix]:
    """Each group answers its heads one after the other; the groups come in their order."""
    heads = iter(Q)
    return [
        [_attend(q, keys, values) for q in next(heads)]
        for keys, values in zip(K, V, strict=True)
        for _ in range(len(Q) // len(K))
    ]


def online_softmax(m: Vector, l: Vector, o: Matrix, x: Matrix, V: Matrix) -> tuple[Vector, Vector, Matrix]:
    """With 60 digits: the old state multiplied out, plus the tile, relative to the new maximum."""
    tops, sums, outputs = [], [], []
    with mpmath.workdps(DIGITS):
        for top, total, output, scores in zip(m, l, o, x, strict=True):
            before = mpmath.exp(mpmath.mpf(top)) if math.isfinite(top) else mpmath.mpf(0)
            powers = [mpmath.exp(mpmath.mpf(score)) for score in scores]
            new = max([top, *scores])
            shift = mpmath.exp(-mpmath.mpf(new))
            tops.append(new)
            sums.append(float((before * total + mpmath.fsum(powers)) * shift))
            outputs.append(
                [
                    float((before * part + mpmath.fdot(powers, map(mpmath.mpf, column))) * shift)
                    for part, column in zip(output, zip(*V, strict=True), strict=True)
                ]
            )
    return tops, sums, outputs


def attention_entropy(row: Vector, normalised: bool = False) -> float:
    """With 60 digits, of one row."""
    with mpmath.workdps(DIGITS):
        H = mpmath.fsum(-mpmath.mpf(a) * mpmath.log(mpmath.mpf(a)) for a in row if a > 0)
        return float(H / mpmath.log(len(row)) if normalised and len(row) > 1 else H)


def cross_entropy(logits: Matrix, labels: list[int], pad: int) -> tuple[float, float]:
    """With 60 digits, the perplexity as the geometric mean of inverse probabilities."""
    with mpmath.workdps(DIGITS):
        inverse = [
            mpmath.fsum(mpmath.exp(mpmath.mpf(x) - mpmath.mpf(row[label])) for x in row)
            for row, label in zip(logits, labels, strict=True)
            if label != pad
        ]
        perplexity = mpmath.fprod(inverse) ** (mpmath.mpf(1) / max(1, len(inverse)))
        return float(mpmath.log(perplexity)), float(perplexity)


def sampling_intervals(
    logits: Vector, temperature: float, top_k: int | None, top_p: float | None
) -> tuple[dict[int, tuple[float, float]], float]:
    """Return each remaining token's interval of [0, 1), and how near `top_p` is to a sum of probabilities.

    Which tokens are left is found by trying: the shortest prefix of the ranking that reaches `top_p`.
    """
    with mpmath.workdps(DIGITS):
        powers = [mpmath.exp(mpmath.mpf(x) / mpmath.mpf(temperature)) for x in logits]
        ranking = sorted(range(len(logits)), key=lambda token: (-logits[token], token))[:top_k]
        margin = 1.0
        if top_p is not None:
            total = mpmath.fsum(powers[token] for token in ranking)
            shares = [
                mpmath.fsum(powers[token] for token in ranking[: size + 1]) / total
                for size in range(len(ranking))
            ]
            margin = float(min(abs(share - top_p) for share in shares))
            ranking = ranking[
                : 1 + next(size for size, share in enumerate(shares) if share >= top_p - margin / 2)
            ]
        total = mpmath.fsum(powers[token] for token in ranking)
        ends = {
            token: float(mpmath.fsum(powers[t] for t in ranking if t <= token) / total)
            for token in sorted(ranking)
        }
    return dict(zip(ends, zip([0.0, *ends.values()], ends.values(), strict=False), strict=True)), margin


def _layer_norm(row: Vector, gain: Vector, bias: Vector) -> Vector:
    mean = math.fsum(row) / len(row)
    deviation = math.sqrt(math.fsum((x - mean) ** 2 for x in row) / len(row) + 1e-5)
    return [(x - mean) / deviation * g + b for x, g, b in zip(row, gain, bias, strict=True)]


def transformer_block(X: Matrix, p: dict[str, list[float] | list[list[float]]]) -> Matrix:
    """One token after the other, each attending to all normalised ones."""
    N = [_layer_norm(x, p["gain1"], p["bias1"]) for x in X]  # type: ignore[arg-type]
    Q, K, V = (_product(N, p[name]) for name in ("Wq", "Wk", "Wv"))  # type: ignore[arg-type]
    Z = _product([_attend(q, K, V) for q in Q], p["Wo"])  # type: ignore[arg-type]
    rows = []
    for x, z in zip(X, Z, strict=True):
        y = [a + b for a, b in zip(x, z, strict=True)]
        (hidden,) = _product([_layer_norm(y, p["gain2"], p["bias2"])], p["W1"])  # type: ignore[arg-type]
        hidden = [max(0.0, h + c) for h, c in zip(hidden, p["c1"], strict=True)]  # type: ignore[operator]
        (out,) = _product([hidden], p["W2"])  # type: ignore[arg-type]
        rows.append([a + b + c for a, b, c in zip(y, out, p["c2"], strict=True)])  # type: ignore[operator]
    return rows


def alignment_error_rate(
    A: Matrix, sure: Sequence[Sequence[bool]], possible: Sequence[Sequence[bool]]
) -> float:
    """As an exact fraction of counts."""
    hits, links = 0, len(A)
    for row, certain, allowed in zip(A, sure, possible, strict=True):
        j = row.index(max(row))
        hits += 2 if certain[j] else 1 if allowed[j] else 0
        links += sum(map(bool, certain))
    return float(1 - Fraction(hits, links))
