"""Points as exact numbers: percents of them are no binary accidents."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from engine.model import plain_points

__all__ = ["exact", "plain", "rounded"]

_DECIMALS = 6  # as the store keeps what an attempt earned


@lru_cache(maxsize=4096)  # a class has few different scores, and each is asked for often
def exact(points: float | Decimal) -> Fraction:
    """Return points or percents as the decimal number that they are shown as."""
    return Fraction(points if isinstance(points, Decimal) else Decimal(repr(round(points, _DECIMALS))))


def rounded(points: Fraction) -> float:
    """Return points as they are kept: at most 6 decimals."""
    return float(round(points, _DECIMALS))


def plain(points: Fraction | Decimal) -> str:
    """Return points or percents as people read them."""
    return str(plain_points(float(points)))
