"""Which scoring rule of ours comes nearest to the percentages of another system."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import comb

from engine.answers.policies import score_of

__all__ = ["Nearest", "moodle_score", "nearest_policy"]

# where two are equally near, the first one counts
_POLICIES = ("net-correct", "exact", "coverage", "each-answer")
_ALL = 10
"""Up to this many options every choice of some of them is looked at."""


@dataclass(frozen=True, slots=True)
class Nearest:
    """A scoring rule, and the choice for which it differs most.

    Parameters
    ----------
    policy : str
    difference : Fraction
        The largest difference, as a share of the points; 0 where both rules are the same.
    picked : tuple of int
        Positions of the options of such a choice.
    theirs, ours : Fraction
        What it earns there and here.
    """

    policy: str
    difference: Fraction
    picked: tuple[int, ...] = ()
    theirs: Fraction = Fraction(0)
    ours: Fraction = Fraction(0)


def moodle_score(fractions: Sequence[Fraction]) -> Fraction:
    """Return what picked options earn in Moodle: the sum of their percentages, from 0 to 100 %."""
    return min(Fraction(1), max(Fraction(0), sum(fractions, Fraction(0))))


def nearest_policy(fractions: Sequence[Fraction]) -> Nearest:
    """Return the rule with the least mean difference over all choices.

    Parameters
    ----------
    fractions : sequence of Fraction
        Of each option; those above 0 are the right ones.
    """
    right = frozenset(str(i) for i, share in enumerate(fractions) if share > 0)
    choices = list(_choices(fractions, right))
    found: list[tuple[Fraction, Nearest]] = []
    for policy in _POLICIES:
        total, worst = Fraction(0), Nearest(policy, Fraction(0))
        for picked, weight in choices:
            theirs = moodle_score([fractions[i] for i in picked])
            ours = score_of(policy, len(fractions), right, {str(i) for i in picked})
            total += abs(theirs - ours) * weight
            if abs(theirs - ours) > worst.difference:
                worst = Nearest(policy, abs(theirs - ours), picked, theirs, ours)
        found.append((total, worst))
    return min(found, key=lambda entry: entry[0])[1]


def _choices(fractions: Sequence[Fraction], right: frozenset[str]) -> Iterator[tuple[tuple[int, ...], int]]:
    """Yield positions of options that are picked, and for how many choices they stand."""
    positions = range(len(fractions))
    if len(fractions) <= _ALL:
        for size in range(1, len(fractions) + 1):
            for picked in combinations(positions, size):
                yield picked, 1
        return
    good = [i for i in positions if str(i) in right]
    bad = [i for i in positions if str(i) not in right]
    for hits in range(len(good) + 1):
        for false in range(len(bad) + 1):
            if hits + false:
                yield (*good[:hits], *bad[:false]), comb(len(good), hits) * comb(len(bad), false)
