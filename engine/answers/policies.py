"""Scoring rules for several right options, named as in the field.

With n options of which c are right, t right picks and f wrong picks:

- ``exact``: 1 if t = c and f = 0, else 0
- ``net-correct``: max(0, (t - f) / c)
- ``each-answer``: 1 - (wrong decisions) / n, a decision being wrong where a right option isn't
  picked or a wrong one is
- ``coverage``: (t / c) (t / (t + f))

A blank answer is 0 before any formula.
"""

from __future__ import annotations

from collections.abc import Set
from fractions import Fraction
from math import comb

__all__ = ["POLICIES", "chance_of", "score_of"]

POLICIES = {
    "exact": "all right options and no others, or nothing",
    "net-correct": "each right option picked earns its share, each wrong one picked costs as much; "
    "never below 0",
    "each-answer": "each option rightly picked or rightly left out earns its share",
    "coverage": "the share of right options picked, times the share of your picks that are right",
}


def score_of(policy: str, options: int, right: Set[str], picked: Set[str]) -> Fraction:
    """Return the share of the marks.

    Parameters
    ----------
    policy : str
        One of :data:`POLICIES`.
    options : int
        Number of options shown.
    right, picked : set of str
        Option ids; ``right`` isn't empty.

    Raises
    ------
    ValueError
        The policy is unknown.
    """
    hits, false = len(right & picked), len(picked - right)
    return _score(policy, options, len(right), hits, false)


def _score(policy: str, options: int, right: int, hits: int, false: int) -> Fraction:
    if hits + false == 0:
        return Fraction(0)
    if policy == "exact":
        return Fraction(int(hits == right and false == 0))
    if policy == "net-correct":
        return max(Fraction(0), Fraction(hits - false, right))
    if policy == "each-answer":
        return 1 - Fraction(right - hits + false, options)
    if policy == "coverage":
        return Fraction(hits, right) * Fraction(hits, hits + false)
    raise ValueError(f"unknown policy {policy!r}, expected one of {', '.join(POLICIES)}")


def chance_of(policy: str, options: int, right: int) -> float:
    """Return the mean share of who ticks each option by the toss of a coin, but at least one."""
    wrong = options - right
    total = sum(
        comb(right, hits) * comb(wrong, false) * _score(policy, options, right, hits, false)
        for hits in range(right + 1)
        for false in range(wrong + 1)
        if hits + false
    )
    return float(Fraction(total) / (2**options - 1))
