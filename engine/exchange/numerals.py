"""Numbers as other systems write them: shares of the points, tolerances, values."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction

__all__ = ["percent", "read_decimal", "read_share"]

_DECIMAL = re.compile(r"[+-]?(?:[0-9]++\.?+[0-9]*+|\.[0-9]++)(?:[eE][+-]?[0-9]{1,3})?")
_MAX_DIGITS = 40
_NICE = 20
_CLOSE = Fraction(1, 10**6)


def read_decimal(text: str) -> Decimal | None:
    """Return a number such as ``0.5``, ``-2`` or ``1e-3``, None if the text is none."""
    plain = text.strip().replace("\u2212", "-")
    return Decimal(plain) if len(plain) <= _MAX_DIGITS and _DECIMAL.fullmatch(plain) else None


def read_share(text: str) -> Fraction | None:
    """Return a percentage as a share, None if it is none or beyond ±100 %.

    ``33.33333`` is a third: the systems that write it round.
    """
    number = read_decimal(text)
    if number is None or abs(number) > 100:
        return None
    exact = Fraction(number) / 100
    nice = exact.limit_denominator(_NICE)
    return nice if abs(exact - nice) < _CLOSE else exact


def percent(share: Fraction) -> str:
    """Return a share as people write it: ``50 %``, ``33.3 %``."""
    return f"{float(share) * 100:.1f}".removesuffix(".0") + " %"
