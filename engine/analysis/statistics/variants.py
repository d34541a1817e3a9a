"""Variants of one item should be equally hard: which families' aren't, and which variants stand out."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from engine.analysis.distributions import chi2_tail
from engine.analysis.intervals import benjamini_hochberg, wilson
from engine.analysis.scores import Floats

__all__ = ["VariantShare", "VariantTest", "unequal_families", "unequal_variants"]

Counts = npt.NDArray[np.int64]

_CELLS = 2_000_000  # of drawn tables in memory at a time
_SMALL = 5.0  # expected counts under this make the χ² distribution a poor guide (Cochran 1954)


@dataclass(frozen=True, slots=True)
class VariantShare:
    """How one variant did beside the others of its family.

    Parameters
    ----------
    variant : str
    right, students : int
    share : float
        Of right answers.
    interval : (float, float)
        Wilson's; those of all variants of the family hold together.
    difference : float
        Its share minus that of all other variants together: above 0 is easier.
    q : float
        Fisher's exact probability of the variant against all others, adjusted over the family's variants
        (Benjamini–Hochberg).
    """

    variant: str
    right: int
    students: int
    share: float
    interval: tuple[float, float]
    difference: float
    q: float


@dataclass(frozen=True, slots=True)
class VariantTest:
    """Whether variants are equally hard.

    Parameters
    ----------
    statistic : float
        G, the likelihood ratio statistic.
    df : int
        One less than there are variants that somebody was given.
    probability : float or None
        Of a G as large if all are equally hard. None where nothing could be seen: a single variant, or all
        right, or all wrong.
    exact_draws : int
        Tables drawn for the probability; 0 where it is χ²'s.
    variants : tuple of VariantShare
        In the caller's order, without those that nobody was given.
    q : float or None
        The probability, adjusted over the families that were tested together.
    """

    statistic: float
    df: int
    probability: float | None
    exact_draws: int
    variants: tuple[VariantShare, ...]
    q: float | None = None


def unequal_variants(
    counts: Mapping[str, tuple[int, int]],
    rng: np.random.Generator,
    *,
    level: float = 0.95,
    draws: int = 9999,
) -> VariantTest:
    """Return the G-test of equal difficulty of a family's variants.

    Parameters
    ----------
    counts : mapping of str to (int, int)
        Variant to (right answers, students who were given it).
    rng : numpy Generator
        For tables with few students: the probability is then that of G among tables drawn with the same
        margins, ``(1 + as large or larger) / (1 + draws)``.
    level : float
        Confidence of the intervals, together.
    draws : int

    Raises
    ------
    ValueError
        More right answers than students.
    """
    for variant, (some, all_) in counts.items():
        if not 0 <= some <= all_:
            raise ValueError(f"{variant}: {some} of {all_} can't be right")
    seen = {variant: pair for variant, pair in counts.items() if pair[1] > 0}
    right = np.array([pair[0] for pair in seen.values()], dtype=np.int64)
    students = np.array([pair[1] for pair in seen.values()], dtype=np.int64)
    total, good = int(students.sum()), int(right.sum())
    df = max(0, len(seen) - 1)
    statistic = float(_g(right[None], students)[0]) if seen else 0.0
    probability, drawn = None, 0
    if df and 0 < good < total:
        if float(students.min()) * min(good, total - good) / total < _SMALL:
            as_large = _as_large(statistic, students, good, draws, rng)
            probability, drawn = (1 + as_large) / (1 + draws), draws
        else:
            probability = chi2_tail(statistic, df)
    return VariantTest(statistic, df, probability, drawn, _shares(seen, good, total, level))


def unequal_families(
    families: Mapping[str, Mapping[str, tuple[int, int]]],
    rng: np.random.Generator,
    *,
    level: float = 0.95,
    draws: int = 9999,
) -> dict[str, VariantTest]:
    """Return every family's test, with probabilities adjusted over all families (Benjamini–Hochberg)."""
    tests = {
        name: unequal_variants(counts, rng, level=level, draws=draws) for name, counts in families.items()
    }
    tested = {name: test.probability for name, test in tests.items() if test.probability is not None}
    adjusted = dict(zip(tested, benjamini_hochberg(list(tested.values())), strict=True))
    return {name: replace(test, q=adjusted.get(name)) for name, test in tests.items()}


def _as_large(statistic: float, students: Counts, good: int, draws: int, rng: np.random.Generator) -> int:
    """Return how many of the drawn tables have a G as large, a few million cells at a time."""
    together, found = max(1, _CELLS // len(students)), 0
    for start in range(0, draws, together):
        size = min(together, draws - start)
        tables = rng.multivariate_hypergeometric(students, good, size=size, method="marginals")
        found += int((_g(tables, students) >= statistic - 1e-9).sum())
    return found


def _g(right: Counts, students: Counts) -> Floats:
    """Return G of tables of right answers, shape (tables, variants), that share the margins."""
    expected = students * (right[0].sum() / students.sum())
    terms = _terms(right, expected) + _terms(students - right, students - expected)
    return np.asarray(2 * terms.sum(axis=1))


def _terms(counts: Counts, expected: Floats) -> Floats:
    """Return ``n ln(n / expected)``, which is 0 for no counts, also where none are expected."""
    return np.asarray(counts * np.log(np.maximum(counts, 1) / np.where(expected > 0, expected, 1.0)))


def _shares(
    seen: Mapping[str, tuple[int, int]], good: int, total: int, level: float
) -> tuple[VariantShare, ...]:
    adjusted = benjamini_hochberg([_fisher(*pair, good, total) for pair in seen.values()])
    return tuple(
        VariantShare(
            variant=variant,
            right=right,
            students=students,
            share=right / students,
            interval=wilson(right, students, level=level, together=len(seen)),
            difference=right / students - (good - right) / (total - students) if total > students else 0.0,
            q=q,
        )
        for (variant, (right, students)), q in zip(seen.items(), adjusted, strict=True)
    )


def _fisher(right: int, students: int, good: int, total: int) -> float:
    """Return the probability of a table at most as likely as a variant against all others."""
    counts = range(max(0, students + good - total), min(students, good) + 1)
    logs = [_log_choose(good, k) + _log_choose(total - good, students - k) for k in counts]
    own = logs[right - counts.start]
    whole = _log_choose(total, students)
    # tables of the same probability may differ by rounding
    return min(1.0, math.fsum(math.exp(log - whole) for log in logs if log <= own + 1e-9))


def _log_choose(many: int, some: int) -> float:
    return math.lgamma(many + 1) - math.lgamma(some + 1) - math.lgamma(many - some + 1)
