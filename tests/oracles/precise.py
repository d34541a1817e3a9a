"""Softmax and attention with 60 digits (mpmath): what the result is before any rounding."""

from __future__ import annotations

from collections.abc import Sequence

import mpmath

DIGITS = 60


def softmax(e: Sequence[float], temperature: float = 1.0) -> list[float]:
    """By the definition, without shift: mpmath's exponents can't overflow."""
    with mpmath.workdps(DIGITS):
        powers = [mpmath.exp(mpmath.mpf(x) / mpmath.mpf(temperature)) for x in e]
        total = mpmath.fsum(powers)
        return [float(p / total) for p in powers]


def sdpa(
    Q: Sequence[Sequence[float]], K: Sequence[Sequence[float]], V: Sequence[Sequence[float]]
) -> list[list[float]]:
    with mpmath.workdps(DIGITS):
        root = mpmath.sqrt(len(K[0]))
        rows = []
        for q in Q:
            powers = [mpmath.exp(mpmath.fdot(map(mpmath.mpf, q), map(mpmath.mpf, k)) / root) for k in K]
            total = mpmath.fsum(powers)
            row = [mpmath.fdot(powers, [mpmath.mpf(v[i]) for v in V]) / total for i in range(len(V[0]))]
            rows.append([float(x) for x in row])
        return rows
