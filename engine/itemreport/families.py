"""Variants of one item: whether they are equally hard, and whether some number makes them harder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from engine.analysis import (
    NoTrend,
    Trend,
    VariantTest,
    benjamini_hochberg,
    difficulty_trend,
    unequal_families,
    wilson,
)
from engine.itemreport.work import Work
from engine.plurals import counted

__all__ = ["MOST_VARIANTS", "UNEQUAL", "Family", "NumberTrend", "VariantRow", "families_of"]

UNEQUAL = 0.05  # adjusted probability at which variants are called unequal
MOST_VARIANTS = 20
"""Variants that are listed and drawn."""

_FEWEST_EACH = 3.0  # students per variant in the mean, under which variants say nothing one by one
_SEED = 20_260_101  # of the tables drawn where students are few: the same store gives the same report


@dataclass(frozen=True, slots=True)
class VariantRow:
    """One variant: who answered it rightly, with Wilson's interval that holds for all of the family."""

    variant: str
    right: int
    students: int
    interval: tuple[float, float]
    q: float | None = None

    @property
    def share(self) -> float:
        """Share of right answers."""
        return self.right / self.students


@dataclass(frozen=True, slots=True)
class NumberTrend:
    """How difficulty changes along one drawn number; ``q`` is adjusted over all numbers of the report."""

    number: str
    trend: Trend | NoTrend
    q: float | None = None


@dataclass(frozen=True, slots=True)
class Family:
    """One item that is drawn in variants.

    Parameters
    ----------
    students : int
    variants : tuple of VariantRow
        Those of at least 2 students, the most frequent first.
    all_variants : int
    test : VariantTest or None
        None where there is nothing to compare.
    reason : str
        Why there is no test; empty if there is one.
    trends : tuple of NumberTrend
    """

    students: int
    variants: tuple[VariantRow, ...]
    all_variants: int
    test: VariantTest | None
    reason: str
    trends: tuple[NumberTrend, ...]

    @property
    def is_unequal(self) -> bool:
        """Whether variants are called unequal."""
        return self.test is not None and self.test.q is not None and self.test.q <= UNEQUAL


def families_of(items: Mapping[str, Sequence[Work]], *, has_scipy: bool) -> dict[str, Family]:
    """Return the families among items; what has no variants is left out.

    Parameters
    ----------
    items : mapping of str to sequence of Work
        All items of the report: probabilities are adjusted over all of them.
    has_scipy : bool
        Without it there are shares and intervals, and no tests.
    """
    drawn = {name: works for name, works in items.items() if len({work.variant for work in works}) > 1}
    counts = {name: _counts(works) for name, works in drawn.items()}
    reasons = {name: _reason(per_variant, has_scipy) for name, per_variant in counts.items()}
    tests = unequal_families(
        {name: counts[name] for name in drawn if not reasons[name]}, np.random.default_rng(_SEED)
    )
    trends = _adjusted({name: _trends(works) if has_scipy else [] for name, works in drawn.items()})
    return {
        name: Family(
            students=len(works),
            variants=_rows(counts[name], tests.get(name)),
            all_variants=len(counts[name]),
            test=tests.get(name),
            reason=reasons[name],
            trends=tuple(trends[name]),
        )
        for name, works in drawn.items()
    }


def _is_right(work: Work) -> bool:
    return work.share is not None and work.share >= 1 - 1e-9


def _counts(works: Sequence[Work]) -> dict[str, tuple[int, int]]:
    found: dict[str, tuple[int, int]] = {}
    for work in works:
        right, students = found.get(work.variant, (0, 0))
        found[work.variant] = (right + _is_right(work), students + 1)
    return dict(sorted(found.items(), key=lambda entry: (-entry[1][1], entry[0])))


def _reason(counts: Mapping[str, tuple[int, int]], has_scipy: bool) -> str:
    students = sum(pair[1] for pair in counts.values())
    if students < _FEWEST_EACH * len(counts):
        return (
            f"{counted(students, 'student')} had {counted(len(counts), 'variant')}: too few "
            "each to compare them"
        )
    if not has_scipy:
        return "comparing variants needs scipy"
    return ""


def _rows(counts: Mapping[str, tuple[int, int]], test: VariantTest | None) -> tuple[VariantRow, ...]:
    adjusted = {row.variant: row.q for row in test.variants} if test else {}
    return tuple(
        VariantRow(
            variant, right, students, wilson(right, students, together=len(counts)), adjusted.get(variant)
        )
        for variant, (right, students) in counts.items()
        if students > 1
    )


def _trends(works: Sequence[Work]) -> list[NumberTrend]:
    names = list(dict.fromkeys(name for work in works for name in work.numbers))
    found = []
    for name in names:
        pairs = [(work.numbers[name], _is_right(work)) for work in works if name in work.numbers]
        if len({number for number, _ in pairs}) > 1:
            numbers, right = zip(*pairs, strict=True)
            found.append(NumberTrend(name, difficulty_trend(numbers, right)))
    return found


def _adjusted(trends: Mapping[str, list[NumberTrend]]) -> dict[str, list[NumberTrend]]:
    """Return the trends with probabilities adjusted over all of them (Benjamini–Hochberg)."""
    flat = [one.trend.probability for own in trends.values() for one in own if isinstance(one.trend, Trend)]
    adjusted = iter(benjamini_hochberg(flat))
    return {
        name: [replace(one, q=next(adjusted)) if isinstance(one.trend, Trend) else one for one in own]
        for name, own in trends.items()
    }
