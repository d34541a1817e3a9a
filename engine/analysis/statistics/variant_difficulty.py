"""Variants of one item should be equally hard: tests of whether they are, and along which number they aren't.

Students are compared who had different variants of an item. With few of them the χ² distribution is a poor
guide, so probabilities then come from tables drawn with the same margins.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from engine.analysis.statistics.intervals import (
    benjamini_hochberg,
    chi2_tail,
    logistic,
    normal_quantile,
    root_between,
    wilson,
)
from engine.analysis.statistics.score_matrix import Floats
from engine.text.words import agree, count_noun

Counts = npt.NDArray[np.int64]

_CELLS = 2_000_000  # of drawn tables in memory at a time
_SMALL = 5.0  # expected counts under this make the χ² distribution a poor guide (Cochran 1954)


@dataclass(frozen=True, slots=True)
class VariantShare:
    """One variant beside the others of its family.

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
        Number of variants that somebody had, minus 1.
    probability : float or None
        Of a G as large if all are equally hard. None where nothing can show: a single variant, or all answers
        right, or all wrong.
    exact_draws : int
        Tables drawn for the probability; 0 where it is from χ².
    variants : tuple of VariantShare
        In the caller's order, without those that nobody had.
    q : float or None
        The probability, adjusted over the families that are tested together.
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
    answered = {variant: pair for variant, pair in counts.items() if pair[1] > 0}
    right = np.array([pair[0] for pair in answered.values()], dtype=np.int64)
    students = np.array([pair[1] for pair in answered.values()], dtype=np.int64)
    total, good = int(students.sum()), int(right.sum())
    df = max(0, len(answered) - 1)
    statistic = float(_g(right[None], students)[0]) if answered else 0.0
    probability, tables = None, 0
    if df and 0 < good < total:
        if float(students.min()) * min(good, total - good) / total < _SMALL:
            as_large = _as_large(statistic, students, good, draws, rng)
            # the observed table is one of them: no probability is ever 0
            probability, tables = (1 + as_large) / (1 + draws), draws
        else:
            probability = chi2_tail(statistic, df)
    return VariantTest(statistic, df, probability, tables, _shares(answered, good, total, level))


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
    """Return how many of the drawn tables have a G as large; drawn in parts to bound the memory."""
    together, count = max(1, _CELLS // len(students)), 0
    for start in range(0, draws, together):
        size = min(together, draws - start)
        tables = rng.multivariate_hypergeometric(students, good, size=size, method="marginals")
        count += int((_g(tables, students) >= statistic - 1e-9).sum())  # equal tables differ by rounding
    return count


def _g(right: Counts, students: Counts) -> Floats:
    expected = students * (right[0].sum() / students.sum())
    terms = _terms(right, expected) + _terms(students - right, students - expected)
    return np.asarray(2 * terms.sum(axis=1))


def _terms(counts: Counts, expected: Floats) -> Floats:
    """Return ``n ln(n / expected)``, which is 0 for no counts, also where none are expected."""
    return np.asarray(counts * np.log(np.maximum(counts, 1) / np.where(expected > 0, expected, 1.0)))


def _shares(
    answered: Mapping[str, tuple[int, int]], good: int, total: int, level: float
) -> tuple[VariantShare, ...]:
    adjusted = benjamini_hochberg([_fisher(*pair, good, total) for pair in answered.values()])
    return tuple(
        VariantShare(
            variant=variant,
            right=right,
            students=students,
            share=right / students,
            interval=wilson(right, students, level=level, together=len(answered)),
            difference=right / students - (good - right) / (total - students) if total > students else 0.0,
            q=q,
        )
        for (variant, (right, students)), q in zip(answered.items(), adjusted, strict=True)
    )


def _fisher(right: int, students: int, good: int, total: int) -> float:
    """Return the probability of a table at most as likely as a variant against all others."""
    counts = range(max(0, students + good - total), min(students, good) + 1)
    logs = [_log_choose(good, k) + _log_choose(total - good, students - k) for k in counts]
    log_own = logs[right - counts.start]
    whole = _log_choose(total, students)
    # tables of the same probability may differ by rounding
    return min(1.0, math.fsum(math.exp(log - whole) for log in logs if log <= log_own + 1e-9))


def _log_choose(many: int, some: int) -> float:
    return math.lgamma(many + 1) - math.lgamma(some + 1) - math.lgamma(many - some + 1)


_FARTHEST = 50.0  # log odds per standard deviation: beyond it, nothing bounds the slope


@dataclass(frozen=True, slots=True)
class NoTrend:
    """Why there is no trend: one sentence."""

    reason: str


@dataclass(frozen=True, slots=True)
class LogisticTrend:
    """Logistic regression of a right answer on a number.

    Parameters
    ----------
    slope : float
        Change of the log odds of a right answer per unit of the number: above 0, larger numbers are easier.
    interval : (float, float)
        From the profile likelihood; an end is infinite where the answers don't bound it.
    intercept : float
        Log odds at the number 0.
    probability : float
        Of answers that speak as much against a slope of 0, if it is 0 (likelihood ratio test).
    students : int
    """

    slope: float
    interval: tuple[float, float]
    intercept: float
    probability: float
    students: int

    def share(self, number: float) -> float:
        """Return the expected share of right answers at a number."""
        return float(logistic(np.asarray(self.intercept + self.slope * number)))


def difficulty_trend(
    numbers: Sequence[float], right: Sequence[bool], *, level: float = 0.95
) -> LogisticTrend | NoTrend:
    """Return how the odds of a right answer change along a number, one entry for each student.

    Raises
    ------
    ValueError
        Lists of different length, or a number that isn't finite.
    """
    x, y = np.asarray(numbers, dtype=np.float64), np.asarray(right, dtype=np.float64)
    if x.shape != y.shape or x.ndim != 1:
        raise ValueError(
            f"{count_noun(len(x), 'number')} {agree(len(x), 'do')}n't fit {count_noun(len(y), 'answer')}"
        )
    if not np.isfinite(x).all():
        raise ValueError("a number isn't finite")
    if len(x) == 0 or y.min() == y.max():
        return NoTrend("all answers are right" if len(x) and y.min() else "no answer is right")
    # the counts at each number are sufficient: many students share one
    values, place = np.unique(x, return_inverse=True)
    if len(values) < 2:
        return NoTrend("all students had the same number")
    many, good = (np.bincount(place, weights=part).astype(np.float64) for part in (np.ones_like(y), y))
    # standardised, so that one scale of steps and bounds serves for all numbers
    middle, spread = float(x.mean()), float(x.std())
    if _separated(values, good, many):
        return NoTrend("the numbers part right from wrong answers completely, so no slope is finite")
    fit = _Profile((values - middle) / spread, good, many)
    slope = fit.best()
    top, flat = fit.value(slope), fit.value(0.0)
    drop = normal_quantile(0.5 + level / 2) ** 2 / 2  # half the χ² quantile with one degree of freedom
    low, high = (_edge(fit.value, slope, sign, top - drop) for sign in (-1, 1))
    return LogisticTrend(
        slope=slope / spread,
        interval=(low / spread, high / spread),
        intercept=fit.intercept(slope) - slope * middle / spread,
        probability=chi2_tail(max(0.0, 2 * (top - flat)), 1),
        students=len(x),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Profile:
    x: Floats
    right: Floats
    many: Floats

    def intercept(self, slope: float) -> float:
        """Return the intercept at which as many right answers are expected as there are."""

        def excess(intercept: float) -> float:
            return float((self.right - self.many * self._share(intercept, slope)).sum())

        # from log odds of 40 on a double can't tell a share from 1
        farthest = 40 + abs(slope) * float(np.abs(self.x).max())
        return root_between(excess, -farthest, farthest)

    def best(self) -> float:
        """Return the slope at which the likelihood is largest: where its derivative falls through 0."""

        def derivative(slope: float) -> float:
            share = self._share(self.intercept(slope), slope)
            return float(self.x @ (self.right - self.many * share))

        return root_between(derivative, -_FARTHEST, _FARTHEST)

    def value(self, slope: float) -> float:
        """Return the log-likelihood."""
        odds = self.intercept(slope) + slope * self.x
        return float(self.right @ odds - self.many @ np.logaddexp(0, odds))

    def _share(self, intercept: float, slope: float) -> Floats:
        return logistic(intercept + slope * self.x)


def _separated(values: Floats, right: Floats, many: Floats) -> bool:
    """Return whether some number separates right from wrong answers: then no slope is finite."""
    some_right, some_wrong = values[right > 0], values[right < many]
    return bool(some_right.min() >= some_wrong.max() or some_right.max() <= some_wrong.min())


def _edge(value: Callable[[float], float], best: float, sign: int, least: float) -> float:
    """Return where the log-likelihood falls to `least` on one side of the best slope."""
    step = 0.25  # doubled until it is too far: most intervals end within two standard errors
    while value(best + sign * step) > least:
        step *= 2
        if step > _FARTHEST:
            return sign * math.inf
    return root_between(lambda slope: sign * (value(slope) - least), *sorted((best, best + sign * step)))
