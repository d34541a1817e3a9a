"""Layers of a Transformer with 50 digits (mpmath), by their definitions, for nested lists of floats.

Independent of ``reference`` and of every solution: gradients are differences of the layer itself, a
rotation is a product of complex numbers, and a step with a cache is attention over all tokens so far.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import mpmath

Vector = list[float]
Matrix = list[Vector]
Exact = list[Any]

DIGITS = 50
STEP = "1e-15"  # of a difference: its error is the square of it


def _exact(values: Sequence[float]) -> Exact:
    return [mpmath.mpf(value) for value in values]


def _floats(values: Sequence[Any]) -> Vector:
    return [float(value) for value in values]


def _normalised(row: Exact, gamma: Exact, beta: Exact, eps: Any) -> Exact:
    d = len(row)
    mean = mpmath.fsum(row) / d
    variance = mpmath.fsum((entry - mean) ** 2 for entry in row) / d
    return [
        g * (x - mean) / mpmath.sqrt(variance + eps) + b for x, g, b in zip(row, gamma, beta, strict=True)
    ]


def layer_norm(row: Vector, gamma: Vector, beta: Vector, eps: float = 1e-5) -> Vector:
    with mpmath.workdps(DIGITS):
        return _floats(_normalised(_exact(row), _exact(gamma), _exact(beta), mpmath.mpf(eps)))


def layer_norm_grad(
    rows: Matrix, gamma: Vector, G: Matrix, eps: float = 1e-5
) -> tuple[Matrix, Vector, Vector]:
    """Central differences of the loss whose gradient with respect to the outputs is G."""
    with mpmath.workdps(DIGITS):
        step = mpmath.mpf(STEP)
        exact = [_exact(row) for row in rows]
        scales, shifts = _exact(gamma), _exact([0.0] * len(gamma))

        def loss(place: int, row: Exact, scales: Exact, shifts: Exact) -> Any:
            outputs = _normalised(row, scales, shifts, mpmath.mpf(eps))
            return mpmath.fsum(g * y for g, y in zip(_exact(G[place]), outputs, strict=True))

        def slopes(vector: Exact, total: Callable[[Exact], Any]) -> Vector:
            result = []
            for i in range(len(vector)):
                ends = [total([*vector[:i], vector[i] + by, *vector[i + 1 :]]) for by in (step, -step)]
                result.append(float((ends[0] - ends[1]) / (2 * step)))
            return result

        def all_rows(scales: Exact, shifts: Exact) -> Any:
            return mpmath.fsum(loss(i, row, scales, shifts) for i, row in enumerate(exact))

        dx = [slopes(row, lambda moved, i=i: loss(i, moved, scales, shifts)) for i, row in enumerate(exact)]
        return (
            dx,
            slopes(scales, lambda moved: all_rows(moved, shifts)),
            slopes(shifts, lambda moved: all_rows(scales, moved)),
        )


def _angle(position: float, pair: int, d: int, base: float) -> Any:
    return mpmath.mpf(position) / mpmath.mpf(base) ** (mpmath.mpf(2 * pair) / d)


def sinusoidal_positions(positions: Vector, d: int, base: float = 10000.0) -> Matrix:
    with mpmath.workdps(DIGITS):
        rows = []
        for position in positions:
            row: Exact = []
            for pair in range(d // 2):
                angle = _angle(position, pair, d, base)
                row += [mpmath.sin(angle), mpmath.cos(angle)]
            rows.append(_floats(row))
        return rows


def rotary_positions(x: Matrix, positions: Vector, base: float = 10000.0) -> Matrix:
    """Pair (2i, 2i+1) as a complex number, times exp(i angle)."""
    with mpmath.workdps(DIGITS):
        rows = []
        for row, position in zip(x, positions, strict=True):
            turned: Exact = []
            for pair in range(len(row) // 2):
                number = mpmath.mpc(row[2 * pair], row[2 * pair + 1])
                number *= mpmath.expj(_angle(position, pair, len(row), base))
                turned += [number.real, number.imag]
            rows.append(_floats(turned))
        return rows


def _projected(row: Exact, W: Matrix) -> Exact:
    return [mpmath.fsum(x * w for x, w in zip(row, column, strict=True)) for column in zip(*W, strict=True)]


def _attended(query: Exact, keys: list[Exact], values: list[Exact], visible: Sequence[bool]) -> Vector:
    """One query's weighted sum of the visible values; zeros where there are none."""
    scores = [
        mpmath.fsum(q * k for q, k in zip(query, key, strict=True)) / mpmath.sqrt(len(query)) for key in keys
    ]
    powers = [
        mpmath.exp(score) if seen else mpmath.mpf(0) for score, seen in zip(scores, visible, strict=True)
    ]
    total = mpmath.fsum(powers)
    if not any(visible):
        return [0.0] * len(values[0])
    return _floats(
        [
            mpmath.fsum(p * v for p, v in zip(powers, column, strict=True)) / total
            for column in zip(*values, strict=True)
        ]
    )


def cross_attention(
    X: Matrix,
    M: Matrix,
    Wq: Matrix,
    Wk: Matrix,
    Wv: Matrix,
    mask: Sequence[Sequence[bool]],
    real: Sequence[bool],
) -> Matrix:
    with mpmath.workdps(DIGITS):
        keys, values = ([_projected(_exact(row), W) for row in M] for W in (Wk, Wv))
        return [
            _attended(
                _projected(_exact(x), Wq), keys, values, [a and b for a, b in zip(seen, real, strict=True)]
            )
            for x, seen in zip(X, mask, strict=True)
        ]


def kv_cache(
    x: Vector, K: Matrix, V: Matrix, Wq: Matrix, Wk: Matrix, Wv: Matrix
) -> tuple[Vector, Matrix, Matrix]:
    with mpmath.workdps(DIGITS):
        token = _exact(x)
        keys = [*map(_exact, K), _projected(token, Wk)]
        values = [*map(_exact, V), _projected(token, Wv)]
        result = _attended(_projected(token, Wq), keys, values, [True] * len(keys))
        return result, [_floats(key) for key in keys], [_floats(value) for value in values]


def causal_rows(X: Matrix, Wq: Matrix, Wk: Matrix, Wv: Matrix) -> Matrix:
    """Causal self-attention over all tokens at once: what a chain of steps with a cache must give."""
    with mpmath.workdps(DIGITS):
        tokens = [_exact(row) for row in X]
        queries, keys, values = ([_projected(token, W) for token in tokens] for W in (Wq, Wk, Wv))
        return [
            _attended(query, keys, values, [j <= i for j in range(len(keys))])
            for i, query in enumerate(queries)
        ]
