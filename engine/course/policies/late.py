"""What late work loses."""

from __future__ import annotations

from fractions import Fraction

from engine.course.policies.points import exact
from engine.course.policies.schema import Late

__all__ = ["after_penalty", "taken_off"]


def taken_off(rule: Late, units: int) -> Fraction:
    """Return the percent that work so many days or hours late loses."""
    return min(exact(rule.percent) * units, exact(rule.cap) if rule.cap is not None else Fraction(100))


def after_penalty(rule: Late | None, score: Fraction, full: Fraction, units: int) -> Fraction:
    """Return the points that are left of a score.

    Parameters
    ----------
    rule : Late or None
        None: late work counts in full.
    score, full : Fraction
        Points earned, and full points.
    units : int
        Days or hours late, as the rule counts.

    Returns
    -------
    Fraction
        Between 0 and `score`.
    """
    if rule is None or units <= 0:
        return score
    base = score if rule.of == "score" else full
    left = score - base * taken_off(rule, units) / 100
    least = full * exact(rule.floor) / 100 if rule.floor is not None else Fraction(0)
    return min(score, max(left, least, Fraction(0)))
