"""One item: its statistics, its parts and options, and in words what is odd about it."""

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

__all__ = [
    "MOST_VARIANTS",
    "THRESHOLDS",
    "UNEQUAL",
    "CheckFigures",
    "DrawnItem",
    "ExerciseFigures",
    "ItemFigures",
    "NumberTrend",
    "OptionRow",
    "OptionTable",
    "PartFigures",
    "VariantRow",
    "exercise_of",
    "families_of",
    "flags_of",
    "mean_interval",
    "option_tables",
    "parts_of",
]


# ----------------------------------------------------------------------------------------------------
# Who chose which option, over all students' shuffled letters.

# Texts of one kind beyond which they are numbers of variants, and not options that could be listed.
_MOST_TEXTS = 12
_ANY_RIGHT, _ANY_WRONG = "the right answer (its text differs)", "other wrong options (their texts differ)"
_KEY, _MISTAKE, _OTHER, _BLANK = "key:", "mistake:", "other:", ""


@dataclass(frozen=True, slots=True)
class OptionRow:
    """One option, over the students who had it among theirs; ``thirds`` are the sizes of their thirds."""

    choice: OptionStatistics
    shown: int
    thirds: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class OptionTable:
    """The options of one choice part.

    Parameters
    ----------
    part : str
    texts : mapping of str to str
        Option as the table has it → its text, or the mistake's sentence where its texts differ.
    misconceptions : mapping of str to str
        Option → id of the mistake behind it.
    rows : tuple of OptionRow
        Keys first, then what most students saw; at the end what was left blank, if it was.
    students : int
    """

    part: str
    texts: Mapping[str, str]
    misconceptions: Mapping[str, str]
    rows: tuple[OptionRow, ...]
    students: int


def option_tables(
    works: Sequence[ItemAttempt], standing: Floats, sentences: Mapping[str, str]
) -> list[OptionTable]:
    """Return a table for each choice part of an item.

    Options are one where the same mistake is behind them, or where they have the same text: letters are
    shuffled, and a variant may have its own numbers.

    Parameters
    ----------
    works : sequence of ItemAttempt
        Of the students who were given the item.
    standing : array, shape (students,)
        On the other items.
    sentences : mapping of str to str
        Of misconceptions, by id.
    """
    parts = list(dict.fromkeys(made.part for work in works for made in work.made))
    return [_table(part, works, standing, sentences) for part in parts]


def _table(
    part: str, works: Sequence[ItemAttempt], standing: Floats, sentences: Mapping[str, str]
) -> OptionTable:
    found = [(made, float(at)) for work, at in zip(works, standing, strict=True) for made in work.made]
    own = [(made, at) for made, at in found if made.part == part]
    codes = _codes({option for made, _ in own for option in made.shown})
    texts: dict[str, str] = {}
    for option, code in codes.items():
        told = _text(code, option)
        if texts.setdefault(code, told) != told:
            texts[code] = sentences.get(option.misconception, told)
    # each option among those who saw it: a key that few variants have isn't one that few choose
    seen: dict[str, list[tuple[set[str], float]]] = {}
    for made, at in own:
        chosen = {codes[made.shown[place]] for place in made.chosen}
        for code in {*(codes[option] for option in made.shown), _BLANK}:
            seen.setdefault(code, []).append((chosen, at))
    keys = {code for option, code in codes.items() if option.correct}
    behind = {code: option.misconception for option, code in codes.items() if code.startswith(_MISTAKE)}
    order = sorted(
        (code for code in seen if code != _BLANK), key=lambda code: (code not in keys, -len(seen[code]), code)
    )
    rows = [_row(code, seen[code], keys) for code in order]
    if any(not made.chosen for made, _ in own):
        rows.append(_row(_BLANK, seen[_BLANK], keys))
    return OptionTable(part, texts, behind, tuple(rows), len(own))


def _row(code: str, seen: Sequence[tuple[set[str], float]], keys: set[str]) -> OptionRow:
    table = choice_table(
        [chosen for chosen, _ in seen],
        np.array([at for _, at in seen]),
        keys=keys,
        options=[code] if code else [],
    )
    choice = next(choice for choice in table.choices if choice.option == code)
    return OptionRow(choice, len(seen), table.group_sizes)


def _codes(options: set[OptionSeen]) -> dict[OptionSeen, str]:
    """Return under which name each option is counted.

    The same words may be right in one variant and wrong in another: these are two options.
    """
    right = {option.text for option in options if option.correct}
    wrong = {option.text for option in options if not option.correct and not option.misconception}
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


# ----------------------------------------------------------------------------------------------------
# Code exercises: which check fails most.

_STOPPED = (Verdict.TIMED_OUT, Verdict.OUT_OF_MEMORY, Verdict.CRASHED)


@dataclass(frozen=True, slots=True)
class CheckFigures:
    """One check over the class.

    Parameters
    ----------
    check : str
    counts : mapping of Verdict to int
    reached : int
        Students for whom it was decided: not skipped.
    interval : (float, float)
        Wilson's, of ``share``.
    """

    check: str
    counts: Mapping[Verdict, int]
    reached: int
    interval: tuple[float, float]

    @property
    def not_passed(self) -> int:
        """Students whose code failed it, or stopped in it."""
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
        Which fails most first.
    unexplained : int
        Students whose code isn't right and for whom no known mistake was named.
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
    checks = [_figures(check, found) for check, found in counts.items()]
    passed = sum(_passed_all(work) for work in works)
    return ExerciseFigures(
        students=len(works),
        passed_all=passed,
        interval=wilson(passed, len(works)),
        # a stable sort: checks that fail equally often stay in the order in which they are made
        checks=tuple(sorted(checks, key=lambda one: (-(one.share or 0.0), -one.not_passed))),
        unexplained=sum(not _passed_all(work) and not work.diagnoses for work in works),
    )


def _passed_all(work: ItemAttempt) -> bool:
    return bool(work.checks) and all(check.verdict is Verdict.PASSED for check in work.checks)


def _figures(check: str, counts: Counter[Verdict]) -> CheckFigures:
    reached = sum(counts.values()) - counts[Verdict.SKIPPED] - counts[Verdict.ENGINE_ERROR]
    failed = counts[Verdict.FAILED] + sum(counts[verdict] for verdict in _STOPPED)
    return CheckFigures(check, dict(counts), reached, wilson(failed, reached))


# ----------------------------------------------------------------------------------------------------
# Variants of one item: whether they are equally hard, and whether some number makes them harder.

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
    trend: LogisticTrend | NoTrend
    q: float | None = None


@dataclass(frozen=True, slots=True)
class DrawnItem:
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


def families_of(items: Mapping[str, Sequence[ItemAttempt]], *, has_scipy: bool) -> dict[str, DrawnItem]:
    """Return the families among items; what has no variants is left out.

    Parameters
    ----------
    items : mapping of str to sequence of ItemAttempt
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
        name: DrawnItem(
            students=len(works),
            variants=_rows(counts[name], tests.get(name)),
            all_variants=len(counts[name]),
            test=tests.get(name),
            reason=reasons[name],
            trends=tuple(trends[name]),
        )
        for name, works in drawn.items()
    }


def _is_right(work: ItemAttempt) -> bool:
    return work.share is not None and work.share >= 1 - 1e-9


def _counts(works: Sequence[ItemAttempt]) -> dict[str, tuple[int, int]]:
    found: dict[str, tuple[int, int]] = {}
    for work in works:
        right, students = found.get(work.variant, (0, 0))
        found[work.variant] = (right + _is_right(work), students + 1)
    return dict(sorted(found.items(), key=lambda entry: (-entry[1][1], entry[0])))


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
        if students > 1
    )


def _trends(works: Sequence[ItemAttempt]) -> list[NumberTrend]:
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
    flat = [
        one.trend.probability
        for own in trends.values()
        for one in own
        if isinstance(one.trend, LogisticTrend)
    ]
    adjusted = iter(benjamini_hochberg(flat))
    return {
        name: [replace(one, q=next(adjusted)) if isinstance(one.trend, LogisticTrend) else one for one in own]
        for name, own in trends.items()
    }


_FEWEST = 10  # students under which nothing is flagged
_HARD, _EASY = 0.20, 0.95
_WEAK = 0.10
_ALPHA_RISES = 0.02
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
    "all have the same points": "nobody differs, so nothing can be told of discrimination",
}
"""What is said of an item → when; nothing is said under 10 students."""


@dataclass(frozen=True, slots=True)
class PartFigures:
    """One answer field of an item with several.

    ``item_rest`` is with the student's standing on the other items, not on the item's other parts.
    """

    part: str
    students: int
    mean_share: float
    interval: tuple[float, float]
    item_rest: float | None


@dataclass(frozen=True, slots=True)
class ItemFigures:
    """All that is told of one item.

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

    Shares between 0 and 1 vary at most as much as right and wrong answers of the same mean, so that with
    partial credit it is wider than it would have to be, never too narrow.
    """
    return wilson(min(sum(shares), float(len(shares))), len(shares))


def parts_of(works: Sequence[ItemAttempt], standing: Floats) -> list[PartFigures]:
    """Return the answer fields of an item one by one."""
    names = list(dict.fromkeys(part.id for work in works for part in work.parts))
    found = []
    for name in names:
        pairs = [
            (part.share, float(other))
            for work, other in zip(works, standing, strict=True)
            for part in work.parts
            if part.id == name
        ]
        shares = [share for share, _ in pairs]
        placed = np.array([pair for pair in pairs if pair[1] == pair[1]]).reshape(-1, 2)
        found.append(
            PartFigures(
                name,
                len(shares),
                sum(shares) / len(shares),
                mean_interval(shares),
                correlation(placed[:, 0], placed[:, 1]),
            )
        )
    return found


def flags_of(
    statistics: ItemStatistics,
    alpha: float | None,
    alpha_without: float | None,
    options: Sequence[OptionTable],
    family: DrawnItem | None,
) -> list[str]:
    """Return what is odd about an item, in the words of ``THRESHOLDS``."""
    mean = statistics.mean_share
    if statistics.students < _FEWEST or mean is None:
        return []
    said = {
        "too hard": mean < _HARD,
        "nearly all right": mean > _EASY,
        **_discrimination(statistics),
        "alpha rises without it": None not in (alpha, alpha_without)
        and (alpha_without or 0.0) - (alpha or 0.0) >= _ALPHA_RISES,
        "an option nobody picks": any(map(_is_idle, options)),
        "a wrong option draws able students": any(map(_misleads, options)),
        "variants unequal": family is not None and family.is_unequal,
    }
    return [words for words, holds in said.items() if holds]


def _discrimination(statistics: ItemStatistics) -> Mapping[str, bool]:
    rest, interval = statistics.item_rest, statistics.item_rest_interval
    if rest is None:
        return {"all have the same points": statistics.item_total is None}
    surely = interval is not None and interval[1] < 0
    return {
        "negative discrimination: key wrong?": surely,
        "discrimination below 0": rest < 0 and not surely,
        "hardly tells students apart": 0 <= rest < _WEAK,
    }


def _is_idle(table: OptionTable) -> bool:
    return any(
        row.choice.students == 0 and not row.choice.is_key and row.shown >= _FEWEST_SHOWN
        for row in table.rows
    )


def _misleads(table: OptionTable) -> bool:
    known = [row.choice for row in table.rows if row.shown >= _FEWEST_SHOWN and row.choice.option]
    keys = [choice.point_biserial for choice in known if choice.is_key and choice.point_biserial is not None]
    return bool(keys) and any(
        not choice.is_key
        and choice.students >= _FEWEST_CHOSE
        and choice.point_biserial is not None
        and choice.point_biserial > max(0.0, *keys)
        for choice in known
    )
