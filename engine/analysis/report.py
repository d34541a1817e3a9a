"""The whole report of a class, from its first attempts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec

from engine.analysis import (
    Histogram,
    Pairs,
    Reliability,
    item_statistics,
    pairwise,
    reliability,
    score_histogram,
)
from engine.itemreport.exercises import exercise_of
from engine.itemreport.families import Family, families_of
from engine.itemreport.gather import Collected, Missing
from engine.itemreport.irt import Irt, fitted
from engine.itemreport.items import ItemFigures, flags_of, mean_interval, parts_of
from engine.itemreport.matrix import Scores, scores_of
from engine.itemreport.mistakes import KnownMistakes, Misconception, misconceptions
from engine.itemreport.options import option_tables
from engine.itemreport.work import Kind, Test, Work

__all__ = ["Report", "TestFigures", "build", "has_module"]


@dataclass(frozen=True, slots=True, eq=False)
class TestFigures:
    """One test as a whole, and its items.

    Parameters
    ----------
    test : Test
    title : str
    students : tuple of str
        Who have at least one figure; the order of abilities.
    items : tuple of ItemFigures
        All of the test, or the ones that were asked for.
    histogram : Histogram
    total : (float, float) or None
        Mean and standard deviation of the points; None where students had other items, or under 2.
    full : float
        Points of the whole test, where all have all items.
    is_common : bool
    reliability : Reliability
    pairs : Pairs
    irt : Irt
    unscored : tuple of str
    """

    __test__ = False

    test: Test
    title: str
    students: tuple[str, ...]
    items: tuple[ItemFigures, ...]
    histogram: Histogram
    total: tuple[float, float] | None
    full: float
    is_common: bool
    reliability: Reliability
    pairs: Pairs
    irt: Irt
    unscored: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """The figures of a class.

    Parameters
    ----------
    title : str
    mode : str
    tests : tuple of TestFigures
    mistakes : tuple of Misconception
    sentences : mapping of str to str
        Of all known mistakes.
    later : int
        Attempts after first ones, which aren't looked at.
    missing : mapping of str to Missing
        Items with no figure at all, as ``test/item``.
    lacking : tuple of str
        Packages that would show more: ``scipy``, ``matplotlib``.
    """

    title: str
    mode: str
    tests: tuple[TestFigures, ...]
    mistakes: tuple[Misconception, ...]
    sentences: Mapping[str, str]
    later: int
    missing: Mapping[str, Missing]
    lacking: tuple[str, ...]


def has_module(name: str) -> bool:
    """Tell whether a package can be imported."""
    try:
        return find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def build(
    collected: Collected,
    known: KnownMistakes,
    *,
    title: str,
    mode: str,
    title_of: Callable[[Test], str],
    items: Sequence[str] = (),
) -> Report:
    """Return the report of a class.

    Parameters
    ----------
    collected : Collected
    known : KnownMistakes
    title, mode : str
    title_of : callable
        Test → its title.
    items : sequence of str
        Show only these; all are set against the whole test nevertheless.
    """
    lacking = tuple(name for name in ("scipy", "matplotlib") if not has_module(name))
    has_scipy = "scipy" not in lacking
    wanted = set(items)
    known = known.and_told(work for works in collected.works.values() for work in works)
    scores = {
        test: scores_of(collected.works[test])
        for test in sorted(collected.works, key=lambda test: test.place)
    }
    families = families_of(
        {
            f"{test.id}/{item}": works
            for test, found in scores.items()
            for item, works in found.works.items()
            if not wanted or item in wanted
        },
        has_scipy=has_scipy,
    )
    shown = [w for works in collected.works.values() for w in works if not wanted or w.item in wanted]
    return Report(
        title=title,
        mode=mode,
        tests=tuple(
            _test(test, title_of(test), found, families, collected, known, wanted, has_scipy)
            for test, found in scores.items()
            if any(not wanted or item in wanted for item in found.matrix.items)
        ),
        mistakes=tuple(misconceptions(shown, known)),
        sentences=known.sentences,
        later=collected.later,
        missing=_without_figures(collected, scores, wanted),
        lacking=lacking,
    )


def _without_figures(
    collected: Collected, scores: Mapping[Test, Scores], wanted: set[str]
) -> dict[str, Missing]:
    """Return what is missing at the items that nobody has a figure at."""
    found = sorted(collected.missing.items(), key=lambda entry: (entry[0][0].place, entry[0][1]))
    return {
        f"{test.id}/{item}": tally
        for (test, item), tally in found
        if tally.total and item not in scores[test].works and (not wanted or item in wanted)
    }


def _test(
    test: Test,
    title: str,
    scores: Scores,
    families: Mapping[str, Family],
    collected: Collected,
    known: KnownMistakes,
    wanted: set[str],
    has_scipy: bool,
) -> TestFigures:
    matrix = scores.matrix
    whole = reliability(matrix, level=0.95 if has_scipy or not matrix.is_common else None)
    found = []
    for column, (statistics, item) in enumerate(zip(item_statistics(matrix), matrix.items, strict=True)):
        if wanted and item not in wanted:
            continue
        works, standing = scores.works[item], scores.others(item)
        family = families.get(f"{test.id}/{item}")
        options = option_tables(works, standing, known.sentences)
        without = whole.if_deleted[column]
        found.append(
            ItemFigures(
                item=item,
                title=works[0].title,
                number=min(work.number for work in works),
                full=float(matrix.full[column]),
                statistics=statistics,
                mean_interval=mean_interval([work.share or 0.0 for work in works]),
                alpha_without=without,
                blank=sum(work.is_blank for work in works),
                missing=collected.missing.get((test, item), Missing()),
                diagnoses=_named(works),
                parts=tuple(parts_of(works, standing)),
                options=tuple(options),
                family=family,
                exercise=exercise_of(works) if test.kind is Kind.CODE else None,
                flags=tuple(flags_of(statistics, whole.alpha, without, options, family)),
            )
        )
    return TestFigures(
        test=test,
        title=title,
        students=scores.students,
        items=tuple(found),
        histogram=score_histogram(matrix),
        total=_total(scores),
        full=float(matrix.full.sum()),
        is_common=matrix.is_common,
        reliability=whole,
        pairs=pairwise(matrix),
        irt=fitted(matrix, has_scipy=has_scipy),
        unscored=scores.unscored,
    )


def _named(works: Sequence[Work]) -> tuple[tuple[str, int], ...]:
    counts = Counter(mistake for work in works for mistake in work.diagnoses)
    return tuple(sorted(counts.items(), key=lambda entry: (-entry[1], entry[0])))


def _total(scores: Scores) -> tuple[float, float] | None:
    matrix = scores.matrix
    if not matrix.is_common or len(scores.students) < 2 or not matrix.items:
        return None
    totals = matrix.points.sum(axis=1)
    return float(totals.mean()), float(totals.std(ddof=1))
