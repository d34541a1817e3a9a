"""The figures of one item: its statistics, parts, options, variants and checks, and flags in words.

A flag is a reason to read the item again, never a verdict; ``THRESHOLDS`` says when each one is set, and the
page prints it beside the figures.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from engine.analysis.first_attempts import ItemAttempt, MissingFigures, OptionSeen
from engine.analysis.statistics import (
    ItemStatistics,
    LogisticTrend,
    NoTrend,
    OptionStatistics,
    VariantTest,
    benjamini_hochberg,
    choice_table,
    difficulty_trend,
    unequal_families,
    wilson,
)
from engine.analysis.statistics.classical import correlation
from engine.analysis.statistics.score_matrix import Floats
from engine.model import Verdict
from engine.text.words import count_noun

# more texts than this on one side are numbers that differ by variant, not options that could be listed
_MOST_TEXTS = 12
_ANY_RIGHT, _ANY_WRONG = "the right answer (its text differs)", "other wrong options (their texts differ)"
# prefixes keep a right text apart from the same words where they are wrong
_KEY, _MISTAKE, _OTHER, _BLANK = "key:", "mistake:", "other:", ""


@dataclass(frozen=True, slots=True)
class OptionRow:
    """One option, over the students to whom it was offered; ``thirds`` are the sizes of their thirds."""

    choice: OptionStatistics
    offered: int
    thirds: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class OptionTable:
    """The options of one choice part.

    Parameters
    ----------
    part : str
    texts : mapping of str to str
        Option as the table names it → its text, or the mistake's sentence where its texts differ.
    misconceptions : mapping of str to str
        Option → id of the mistake behind it.
    rows : tuple of OptionRow
        Keys first, then by how many students saw them; blank answers, if there are any, come last.
    students : int
    """

    part: str
    texts: Mapping[str, str]
    misconceptions: Mapping[str, str]
    rows: tuple[OptionRow, ...]
    students: int


def option_tables(
    works: Sequence[ItemAttempt], others: Floats, sentences: Mapping[str, str]
) -> list[OptionTable]:
    """Return a table for each choice part of an item.

    Options with the same mistake behind them, or with the same text, are one: letters are shuffled, and a
    variant may have its own numbers.

    Parameters
    ----------
    works : sequence of ItemAttempt
        Of the students who were given the item.
    others : array, shape (students,)
        On the other items.
    sentences : mapping of str to str
        Of misconceptions, by id.
    """
    parts = list(dict.fromkeys(choice.part for work in works for choice in work.choices))
    return [_table(part, works, others, sentences) for part in parts]


def _table(
    part: str, works: Sequence[ItemAttempt], others: Floats, sentences: Mapping[str, str]
) -> OptionTable:
    choices = [
        (choice, float(score))
        for work, score in zip(works, others, strict=True)
        for choice in work.choices
        if choice.part == part
    ]
    codes = _codes({option for choice, _ in choices for option in choice.offered})
    texts: dict[str, str] = {}
    for option, code in codes.items():
        text = _text(code, option)
        if texts.setdefault(code, text) != text:
            texts[code] = sentences.get(option.misconception, text)
    # each option among those who saw it: a key that few variants have isn't a key that few choose
    by_code: dict[str, list[tuple[set[str], float]]] = {}
    for choice, score in choices:
        chosen = {codes[choice.offered[place]] for place in choice.chosen}
        for code in {*(codes[option] for option in choice.offered), _BLANK}:
            by_code.setdefault(code, []).append((chosen, score))
    keys = {code for option, code in codes.items() if option.correct}
    behind = {code: option.misconception for option, code in codes.items() if code.startswith(_MISTAKE)}
    order = sorted(
        (code for code in by_code if code != _BLANK),
        key=lambda code: (code not in keys, -len(by_code[code]), code),
    )
    rows = [_row(code, by_code[code], keys) for code in order]
    if any(not choice.chosen for choice, _ in choices):
        rows.append(_row(_BLANK, by_code[_BLANK], keys))
    return OptionTable(part, texts, behind, tuple(rows), len(choices))


def _row(code: str, choices: Sequence[tuple[set[str], float]], keys: set[str]) -> OptionRow:
    table = choice_table(
        [chosen for chosen, _ in choices],
        np.array([score for _, score in choices]),
        keys=keys,
        options=[code] if code else [],
    )
    choice = next(choice for choice in table.choices if choice.option == code)
    return OptionRow(choice, len(choices), table.group_sizes)


def _codes(options: set[OptionSeen]) -> dict[OptionSeen, str]:
    """Return the name under which each option is counted.

    Words that are right in one variant and wrong in another are two options.
    """
    right = {option.text for option in options if option.correct}
    wrong = {option.text for option in options if not option.correct and not option.misconception}
    # as one option: hundreds of numbers, each seen by one student, make no table
    one_right, one_wrong = (len(texts) > _MOST_TEXTS for texts in (right, wrong))
    codes = {}
    for option in sorted(options, key=lambda option: (option.text, option.misconception)):
        if option.correct:
            codes[option] = _KEY + ("" if one_right else option.text)
        elif option.misconception:
            codes[option] = _MISTAKE + option.misconception
        else:
            codes[option] = _OTHER + ("" if one_wrong else option.text)
    return codes


def _text(code: str, option: OptionSeen) -> str:
    if code in (_KEY, _OTHER):
        return _ANY_RIGHT if option.correct else _ANY_WRONG
    return option.text


_STOPPED = (Verdict.TIMED_OUT, Verdict.OUT_OF_MEMORY, Verdict.CRASHED)


@dataclass(frozen=True, slots=True)
class CheckFigures:
    """One check over the class.

    Parameters
    ----------
    check : str
    counts : mapping of Verdict to int
    reached : int
        Students for whom it was decided, so not skipped.
    interval : (float, float)
        Wilson's, of ``share``.
    """

    check: str
    counts: Mapping[Verdict, int]
    reached: int
    interval: tuple[float, float]

    @property
    def not_passed(self) -> int:
        """Students whose code failed it or was stopped in it."""
        return sum(self.counts.get(verdict, 0) for verdict in (Verdict.FAILED, *_STOPPED))

    @property
    def share(self) -> float | None:
        """Share of those who reached it; None where nobody did."""
        return self.not_passed / self.reached if self.reached else None


@dataclass(frozen=True, slots=True)
class ExerciseFigures:
    """One code exercise.

    Parameters
    ----------
    students : int
    passed_all : int
        Students whose code passed every check.
    interval : (float, float)
        Wilson's, of the share that passed all.
    checks : tuple of CheckFigures
        The one that fails most comes first.
    unexplained : int
        Students whose code is wrong and was matched with no known mistake.
    """

    students: int
    passed_all: int
    interval: tuple[float, float]
    checks: tuple[CheckFigures, ...]
    unexplained: int


def exercise_of(works: Sequence[ItemAttempt]) -> ExerciseFigures:
    """Return the figures of a code exercise from its first attempts."""
    counts: dict[str, Counter[Verdict]] = {}
    for work in works:
        for check in work.checks:
            counts.setdefault(check.id, Counter())[check.verdict] += 1
    checks = [_figures(check, verdicts) for check, verdicts in counts.items()]
    passed = sum(_passed_all(work) for work in works)
    return ExerciseFigures(
        students=len(works),
        passed_all=passed,
        interval=wilson(passed, len(works)),
        # a stable sort: checks that fail equally often stay in the order in which they are made
        checks=tuple(sorted(checks, key=lambda figures: (-(figures.share or 0.0), -figures.not_passed))),
        unexplained=sum(not _passed_all(work) and not work.diagnoses for work in works),
    )


def _passed_all(work: ItemAttempt) -> bool:
    return bool(work.checks) and all(check.verdict is Verdict.PASSED for check in work.checks)


def _figures(check: str, counts: Counter[Verdict]) -> CheckFigures:
    # our own errors say as little about the code as checks that were never run
    unjudged = counts[Verdict.SKIPPED] + counts[Verdict.ENGINE_ERROR] + counts[Verdict.WAITING]
    reached = sum(counts.values()) - unjudged
    failed = counts[Verdict.FAILED] + sum(counts[verdict] for verdict in _STOPPED)
    return CheckFigures(check, dict(counts), reached, wilson(failed, reached))


UNEQUAL = 0.05  # adjusted probability at which variants are called unequal
MOST_VARIANTS = 20
"""Variants in a table or a plot."""

_FEWEST_EACH = 3.0  # students per variant in the mean; with fewer, variants can't be compared one by one
_SEED = 20_260_101  # fixed, so that the same store gives the same report where tables are drawn by chance


@dataclass(frozen=True, slots=True)
class VariantRow:
    """Right answers to one variant; the Wilson intervals of all variants hold together."""

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
    trend: LogisticTrend | NoTrend
    q: float | None = None


@dataclass(frozen=True, slots=True)
class DrawnItem:
    """An item that is drawn in variants.

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


def families_of(items: Mapping[str, Sequence[ItemAttempt]], *, has_scipy: bool) -> dict[str, DrawnItem]:
    """Return the families among items; an item without variants is left out.

    Parameters
    ----------
    items : mapping of str to sequence of ItemAttempt
        All items of the report: probabilities are adjusted over all of them.
    has_scipy : bool
        Without it there are shares and intervals, and no tests.
    """
    drawn_items = {name: works for name, works in items.items() if len({work.variant for work in works}) > 1}
    counts = {name: _counts(works) for name, works in drawn_items.items()}
    reasons = {name: _reason(per_variant, has_scipy) for name, per_variant in counts.items()}
    tests = unequal_families(
        {name: counts[name] for name in drawn_items if not reasons[name]}, np.random.default_rng(_SEED)
    )
    trends = _adjusted({name: _trends(works) if has_scipy else [] for name, works in drawn_items.items()})
    return {
        name: DrawnItem(
            students=len(works),
            variants=_rows(counts[name], tests.get(name)),
            all_variants=len(counts[name]),
            test=tests.get(name),
            reason=reasons[name],
            trends=tuple(trends[name]),
        )
        for name, works in drawn_items.items()
    }


def _is_right(work: ItemAttempt) -> bool:
    return work.share is not None and work.share >= 1 - 1e-9  # shares of thirds don't sum to 1 exactly


def _counts(works: Sequence[ItemAttempt]) -> dict[str, tuple[int, int]]:
    counts: dict[str, tuple[int, int]] = {}
    for work in works:
        right, students = counts.get(work.variant, (0, 0))
        counts[work.variant] = (right + _is_right(work), students + 1)
    return dict(sorted(counts.items(), key=lambda entry: (-entry[1][1], entry[0])))


def _reason(counts: Mapping[str, tuple[int, int]], has_scipy: bool) -> str:
    students = sum(pair[1] for pair in counts.values())
    if students < _FEWEST_EACH * len(counts):
        return (
            f"{count_noun(students, 'student')} had {count_noun(len(counts), 'variant')}: too few "
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
        if students > 1  # a variant of one student is that student
    )


def _trends(works: Sequence[ItemAttempt]) -> list[NumberTrend]:
    names = list(dict.fromkeys(name for work in works for name in work.numbers))
    trends = []
    for name in names:
        pairs = [(work.numbers[name], _is_right(work)) for work in works if name in work.numbers]
        if len({number for number, _ in pairs}) > 1:  # a number that never varies has no trend
            numbers, right = zip(*pairs, strict=True)
            trends.append(NumberTrend(name, difficulty_trend(numbers, right)))
    return trends


def _adjusted(trends: Mapping[str, list[NumberTrend]]) -> dict[str, list[NumberTrend]]:
    flat = [
        entry.trend.probability
        for item_trends in trends.values()
        for entry in item_trends
        if isinstance(entry.trend, LogisticTrend)
    ]
    adjusted = iter(benjamini_hochberg(flat))
    return {
        name: [
            replace(entry, q=next(adjusted)) if isinstance(entry.trend, LogisticTrend) else entry
            for entry in item_trends
        ]
        for name, item_trends in trends.items()
    }


_FEWEST = 10  # students under which nothing is flagged: one answer would decide
_HARD, _EASY = 0.20, 0.95  # outside, an item says little about nearly everybody in the class
_WEAK = 0.10  # an item–rest correlation that a class of 100 can't tell from 0
_ALPHA_RISES = 0.02
# with fewer it is chance whether nobody, or somebody able, picks an option
_FEWEST_SHOWN, _FEWEST_CHOSE = 20, 5

THRESHOLDS = {
    "too hard": f"the mean share is under {_HARD:.2f}",
    "nearly all right": f"the mean share is over {_EASY:.2f}",
    "negative discrimination: key wrong?": "the whole interval of item–rest lies below 0",
    "discrimination below 0": "item–rest is below 0, but its interval reaches 0",
    "hardly tells students apart": f"item–rest is from 0 to {_WEAK:.2f}",
    "alpha rises without it": f"by {_ALPHA_RISES:.2f} or more",
    "an option nobody picks": f"shown to {_FEWEST_SHOWN} students or more, chosen by none",
    "a wrong option draws able students": f"seen by {_FEWEST_SHOWN} or more, chosen by {_FEWEST_CHOSE} or "
    "more, its point-biserial is above 0 and above every key's",
    "variants unequal": "q is at most 0.05 (Benjamini–Hochberg over all families)",
    "all have the same points": "everybody has the same points, so there is no discrimination",
}
"""Flag → when it is set; none is with fewer than 10 students."""


@dataclass(frozen=True, slots=True)
class PartFigures:
    """One answer field or criterion of an item; ``item_rest`` is with other items, not with other parts."""

    part: str
    students: int
    mean_share: float
    interval: tuple[float, float]
    item_rest: float | None


@dataclass(frozen=True, slots=True)
class ItemFigures:
    """All figures of one item.

    Parameters
    ----------
    item, title : str
    number : int
        Of the question in the quiz; 0 elsewhere.
    full : float
        Full marks.
    statistics : ItemStatistics
    mean_interval : (float, float)
    alpha_without : float or None
    blank : int
        Students who left it blank: they have 0.
    missing : MissingFigures
    diagnoses : tuple of (str, int)
        Known mistake → students who showed it here, the most frequent first.
    parts, options : tuple
    family : DrawnItem or None
    exercise : ExerciseFigures or None
    flags : tuple of str
        Keys of ``THRESHOLDS``.
    """

    item: str
    title: str
    number: int
    full: float
    statistics: ItemStatistics
    mean_interval: tuple[float, float]
    alpha_without: float | None
    blank: int
    missing: MissingFigures
    diagnoses: tuple[tuple[str, int], ...]
    parts: tuple[PartFigures, ...]
    options: tuple[OptionTable, ...]
    family: DrawnItem | None
    exercise: ExerciseFigures | None
    flags: tuple[str, ...]


def mean_interval(shares: Sequence[float]) -> tuple[float, float]:
    """Return Wilson's interval of a mean share.

    Shares between 0 and 1 vary at most as much as right and wrong answers of the same mean, so with partial
    credit the interval is wider than necessary, never too narrow.
    """
    return wilson(min(sum(shares), float(len(shares))), len(shares))


def parts_of(works: Sequence[ItemAttempt], others: Floats) -> list[PartFigures]:
    """Return the figures of each answer field of an item."""
    names = list(dict.fromkeys(part.id for work in works for part in work.parts))
    figures = []
    for name in names:
        pairs = [
            (part.share, float(other))
            for work, other in zip(works, others, strict=True)
            for part in work.parts
            if part.id == name
        ]
        shares = [share for share, _ in pairs]
        # NaN differs from itself: students without another item have no score to correlate with
        placed = np.array([pair for pair in pairs if pair[1] == pair[1]]).reshape(-1, 2)
        figures.append(
            PartFigures(
                name,
                len(shares),
                sum(shares) / len(shares),
                mean_interval(shares),
                correlation(placed[:, 0], placed[:, 1]),
            )
        )
    return figures


def flags_of(
    statistics: ItemStatistics,
    alpha: float | None,
    alpha_without: float | None,
    options: Sequence[OptionTable],
    family: DrawnItem | None,
) -> list[str]:
    """Return the flags of an item, keys of ``THRESHOLDS``."""
    mean = statistics.mean_share
    if statistics.students < _FEWEST or mean is None:
        return []
    conditions = {
        "too hard": mean < _HARD,
        "nearly all right": mean > _EASY,
        **_discrimination(statistics),
        "alpha rises without it": None not in (alpha, alpha_without)
        and (alpha_without or 0.0) - (alpha or 0.0) >= _ALPHA_RISES,
        "an option nobody picks": any(map(_is_idle, options)),
        "a wrong option draws able students": any(map(_misleads, options)),
        "variants unequal": family is not None and family.is_unequal,
    }
    return [words for words, holds in conditions.items() if holds]


def _discrimination(statistics: ItemStatistics) -> Mapping[str, bool]:
    rest, interval = statistics.item_rest, statistics.item_rest_interval
    if rest is None:
        return {"all have the same points": statistics.item_total is None}
    surely = interval is not None and interval[1] < 0  # only then is a wrong key likelier than chance
    return {
        "negative discrimination: key wrong?": surely,
        "discrimination below 0": rest < 0 and not surely,
        "hardly tells students apart": 0 <= rest < _WEAK,
    }


def _is_idle(table: OptionTable) -> bool:
    return any(
        row.choice.students == 0 and not row.choice.is_key and row.offered >= _FEWEST_SHOWN
        for row in table.rows
    )


def _misleads(table: OptionTable) -> bool:
    choices = [row.choice for row in table.rows if row.offered >= _FEWEST_SHOWN and row.choice.option]
    keys = [
        choice.point_biserial for choice in choices if choice.is_key and choice.point_biserial is not None
    ]
    return bool(keys) and any(
        not choice.is_key
        and choice.students >= _FEWEST_CHOSE
        and choice.point_biserial is not None
        and choice.point_biserial > max(0.0, *keys)
        for choice in choices
    )
