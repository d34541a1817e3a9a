"""Builds the item analysis of a class from its first attempts.

Every test is analysed as a whole even if only some items are shown: discrimination, alpha and abilities are
relations between items. What needs scipy is left out without it, and the report says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np

from engine.analysis.first_attempts import (
    FirstAttempts,
    ItemAttempt,
    ItemTest,
    ItemTestKind,
    ItemTestScores,
    MissingFigures,
    scores_of,
)
from engine.analysis.item_figures import (
    DrawnItem,
    ItemFigures,
    exercise_of,
    families_of,
    flags_of,
    mean_interval,
    option_tables,
    parts_of,
)
from engine.analysis.mistakes import KnownMistakes, MistakeFigures, misconceptions
from engine.analysis.statistics import (
    ItemPairs,
    ReliabilityEstimate,
    ScoreHistogram,
    ScoreMatrix,
    item_statistics,
    pairwise,
    reliability,
    score_histogram,
)
from engine.analysis.statistics.irt import (
    AbilityEstimates,
    IrtModel,
    ItemFit,
    ModelFit,
    NoFit,
    PatternFit,
    SlopeTest,
    abilities,
    compared,
    fit_model,
    item_fits,
    pattern_fit,
)
from engine.analysis.statistics.irt.fit import as_fitted
from engine.analysis.statistics.irt.likelihood import collapsed, posteriors

RIGHT_FROM = 1.0
"""Share of full marks from which on an answer counts as right for a model."""

# Observed shares are shown at every half of an ability, where five students or more stand behind them: closer
# points would say the same, and fewer students scatter so much that good curves look wrong.
_STEP, _FEWEST = 0.5, 5.0


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """The share of right answers around one ability, and the expected number of students behind it."""

    theta: float
    share: float
    students: float


@dataclass(frozen=True, slots=True, eq=False)
class FittedModel:
    """One model with its fit.

    Parameters
    ----------
    fit : ModelFit
    items : tuple of ItemFit or NoFit
        S-X² of every item.
    patterns : PatternFit or NoFit
    abilities : AbilityEstimates
        In the order of the matrix' students.
    points : tuple of tuples of CurvePoint
        The observed shares along ability, for each item of the fit.
    """

    fit: ModelFit
    items: tuple[ItemFit, ...] | NoFit
    patterns: PatternFit | NoFit
    abilities: AbilityEstimates
    points: tuple[tuple[CurvePoint, ...], ...]


@dataclass(frozen=True, slots=True, eq=False)
class IrtReport:
    """Both models, or why there is none."""

    rasch: FittedModel | NoFit
    own_slopes: FittedModel | NoFit
    comparison: SlopeTest | NoFit | None

    @property
    def preferred(self) -> FittedModel | None:
        """The model whose curves are shown.

        The two-parameter model where it can be used and the likelihood ratio test speaks for slopes that
        differ (probability at most .05), otherwise Rasch's.
        """
        usable = [
            model
            for model in (self.own_slopes, self.rasch)
            if isinstance(model, FittedModel) and model.fit.converged
        ]
        if len(usable) < 2:  # a model that didn't converge, or couldn't be fitted, is never shown
            return usable[0] if usable else None
        test = self.comparison
        return usable[1] if isinstance(test, SlopeTest) and test.probability > 0.05 else usable[0]


def fitted(matrix: ScoreMatrix, *, has_scipy: bool) -> IrtReport:
    """Return the Rasch and the two-parameter model of a test; an answer with full marks is right."""
    if not has_scipy:
        reason = NoFit("it needs scipy", len(matrix.points), {})
        return IrtReport(reason, reason, None)
    rasch, own_slopes = (_fit(matrix, model) for model in (IrtModel.RASCH, IrtModel.TWO_PARAMETERS))
    if isinstance(rasch, NoFit) or isinstance(own_slopes, NoFit):
        return IrtReport(rasch, own_slopes, None)
    return IrtReport(rasch, own_slopes, compared(rasch.fit, own_slopes.fit))


def _fit(matrix: ScoreMatrix, model: IrtModel) -> FittedModel | NoFit:
    fit = fit_model(matrix, model, partial_credit=RIGHT_FROM)
    if isinstance(fit, NoFit):
        return fit
    binary = as_fitted(fit, matrix)
    # students without any of the items would count at every ability with the prior alone
    here = ScoreMatrix(binary.items, binary.points[binary.presented.any(axis=1)])
    return FittedModel(
        fit, item_fits(fit, matrix), pattern_fit(fit, matrix), abilities(fit, matrix), _points(fit, here)
    )


def _points(fit: ModelFit, binary: ScoreMatrix) -> tuple[tuple[CurvePoint, ...], ...]:
    """Return the observed points beside each item's curve.

    Each student counts at every ability by how probable it is after all of their answers (the expected counts
    of Bock and Aitkin 1981), so if the model is right the shares lie on the curve, chance aside. Groups by
    estimated ability would make every item look steeper than it is.
    """
    patterns, theta = collapsed(binary), fit.grid.theta
    answered = np.ones_like(patterns.right) if patterns.presented is None else patterns.presented
    students = np.zeros((len(fit.items), len(theta)))
    right = np.zeros_like(students)
    for rows, posterior, _ in posteriors(patterns, fit.curves()):
        weight = patterns.count[rows, None]
        students += (weight * answered[rows]).T @ posterior
        right += (weight * patterns.right[rows]).T @ posterior
    middle = np.round(theta / _STEP) * _STEP  # nodes of the grid are joined around each half
    return tuple(
        tuple(
            CurvePoint(
                float(ability),
                float(right_weights[here].sum() / weights[here].sum()),
                float(weights[here].sum()),
            )
            for ability, here in ((ability, middle == ability) for ability in np.unique(middle))
            if weights[here].sum() >= _FEWEST
        )
        for weights, right_weights in zip(students, right, strict=True)
    )


@dataclass(frozen=True, slots=True, eq=False)
class TestFigures:
    """One test as a whole, and its items.

    Parameters
    ----------
    test : ItemTest
    title : str
    students : tuple of str
        Those with at least one figure, in the order of abilities.
    items : tuple of ItemFigures
        All items of the test, or those that were asked for.
    histogram : ScoreHistogram
    total : (float, float) or None
        Mean and standard deviation of the points; None where students had different items, or under 2.
    full : float
        Points of the whole test, where all have all items.
    is_common : bool
    reliability : ReliabilityEstimate
    pairs : ItemPairs
    irt : IrtReport
    unscored : tuple of str
    """

    __test__ = False

    test: ItemTest
    title: str
    students: tuple[str, ...]
    items: tuple[ItemFigures, ...]
    histogram: ScoreHistogram
    total: tuple[float, float] | None
    full: float
    is_common: bool
    reliability: ReliabilityEstimate
    pairs: ItemPairs
    irt: IrtReport
    unscored: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class ItemReport:
    """The figures of a class.

    Parameters
    ----------
    title : str
    mode : str
    tests : tuple of TestFigures
    mistakes : tuple of MistakeFigures
    sentences : mapping of str to str
        Of all known mistakes.
    later : int
        Attempts after first ones, which aren't counted.
    missing : mapping of str to MissingFigures
        Items without any figure, as ``test/item``.
    lacking : tuple of str
        Packages that aren't installed and would show more: ``scipy``, ``matplotlib``.
    """

    title: str
    mode: str
    tests: tuple[TestFigures, ...]
    mistakes: tuple[MistakeFigures, ...]
    sentences: Mapping[str, str]
    later: int
    missing: Mapping[str, MissingFigures]
    lacking: tuple[str, ...]


def has_module(name: str) -> bool:
    """Return whether a package can be imported."""
    try:
        return find_spec(name) is not None  # without importing it, which takes seconds
    except (ImportError, ValueError):
        return False


def build(
    collected: FirstAttempts,
    mistakes: KnownMistakes,
    *,
    title: str,
    mode: str,
    title_of: Callable[[ItemTest], str],
    items: Sequence[str] = (),
) -> ItemReport:
    """Return the report of a class.

    Parameters
    ----------
    collected : FirstAttempts
    mistakes : KnownMistakes
    title, mode : str
    title_of : callable
        Test → its title.
    items : sequence of str
        Show only these; each is compared with the whole test nevertheless.
    """
    # asked once, here: every figure below must agree on which packages there are
    lacking = tuple(name for name in ("scipy", "matplotlib") if not has_module(name))
    has_scipy = "scipy" not in lacking
    chosen = set(items)
    mistakes = mistakes.and_told(work for works in collected.works.values() for work in works)
    # whole tests, also where only some items are shown: discrimination compares an item with all others
    scores = {
        test: scores_of(collected.works[test])
        for test in sorted(collected.works, key=lambda test: test.place)
    }
    # over all tests at once: probabilities are adjusted for how many families are compared
    families = families_of(
        {
            f"{test.id}/{item}": works
            for test, test_scores in scores.items()
            for item, works in test_scores.works.items()
            if not chosen or item in chosen
        },
        has_scipy=has_scipy,
    )
    attempts = [w for works in collected.works.values() for w in works if not chosen or w.item in chosen]
    return ItemReport(
        title=title,
        mode=mode,
        tests=tuple(
            _test(test, title_of(test), test_scores, families, collected, mistakes, chosen, has_scipy)
            for test, test_scores in scores.items()
            if any(not chosen or item in chosen for item in test_scores.matrix.items)
        ),
        mistakes=tuple(misconceptions(attempts, mistakes)),
        sentences=mistakes.sentences,
        later=collected.later,
        missing=_without_figures(collected, scores, chosen),
        lacking=lacking,
    )


def _without_figures(
    collected: FirstAttempts, scores: Mapping[ItemTest, ItemTestScores], chosen: set[str]
) -> dict[str, MissingFigures]:
    """Return why nobody has a figure, for the items where that is so."""
    entries = sorted(collected.missing.items(), key=lambda entry: (entry[0][0].place, entry[0][1]))
    return {
        f"{test.id}/{item}": tally
        for (test, item), tally in entries
        if tally.total and item not in scores[test].works and (not chosen or item in chosen)
    }


def _test(
    test: ItemTest,
    title: str,
    scores: ItemTestScores,
    families: Mapping[str, DrawnItem],
    collected: FirstAttempts,
    mistakes: KnownMistakes,
    chosen: set[str],
    has_scipy: bool,
) -> TestFigures:
    matrix = scores.matrix
    # Feldt's interval is an F quantile; the jackknife, for tests without common items, needs no scipy
    whole = reliability(matrix, level=0.95 if has_scipy or not matrix.is_common else None)
    figures = []
    for column, (statistics, item) in enumerate(zip(item_statistics(matrix), matrix.items, strict=True)):
        if chosen and item not in chosen:
            continue
        works, others = scores.works[item], scores.others(item)
        family = families.get(f"{test.id}/{item}")
        options = option_tables(works, others, mistakes.sentences)
        without = whole.if_deleted[column]
        figures.append(
            ItemFigures(
                item=item,
                title=works[0].title,
                number=min(work.number for work in works),
                full=float(matrix.full[column]),
                statistics=statistics,
                mean_interval=mean_interval([work.share or 0.0 for work in works]),
                alpha_without=without,
                blank=sum(work.is_blank for work in works),
                missing=collected.missing.get((test, item), MissingFigures()),
                diagnoses=_diagnosed(works),
                parts=tuple(parts_of(works, others)),
                options=tuple(options),
                family=family,
                exercise=exercise_of(works) if test.kind is ItemTestKind.CODE else None,
                flags=tuple(flags_of(statistics, whole.alpha, without, options, family)),
            )
        )
    return TestFigures(
        test=test,
        title=title,
        students=scores.students,
        items=tuple(figures),
        histogram=score_histogram(matrix),
        total=_total(scores),
        full=float(matrix.full.sum()),
        is_common=matrix.is_common,
        reliability=whole,
        pairs=pairwise(matrix),
        irt=fitted(matrix, has_scipy=has_scipy),
        unscored=scores.unscored,
    )


def _diagnosed(works: Sequence[ItemAttempt]) -> tuple[tuple[str, int], ...]:
    counts = Counter(mistake for work in works for mistake in work.diagnoses)
    return tuple(sorted(counts.items(), key=lambda entry: (-entry[1], entry[0])))


def _total(scores: ItemTestScores) -> tuple[float, float] | None:
    matrix = scores.matrix
    # totals over different items, of unequal full marks, have no common mean
    if not matrix.is_common or len(scores.students) < 2 or not matrix.items:
        return None
    totals = matrix.points.sum(axis=1)
    return float(totals.mean()), float(totals.std(ddof=1))
