"""A quiz drawn for a class and looked at as a whole: who gets what, how alike, what guessing earns.

What guessing earns is counted exactly where that can be done, and otherwise comes from a simulation with a
fixed seed, so that ``grade quiz check`` says the same each time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import fmean
from typing import Any

from engine.answers import answer_type
from engine.answers.base import GuessScore, sum_chances
from engine.items import ProblemSpec
from engine.items.bank import Bank
from engine.model import Quiz, QuizQuestion, QuizRules, ResultDisclosure, Variant
from engine.quiz.blueprint import Blueprint, BlueprintSection, DrawRule
from engine.quiz.choose import DOCUMENTS, untaught
from engine.quiz.compose import content
from engine.quiz.rules import deadline_text, is_choice
from engine.text.words import agree, all_of, count_noun, join_words, percent, plain_points


def guess_variant(variant: Variant) -> GuessScore:
    """Return what guessing at all fields of a variant earns, as a share of its points."""
    total: dict[float, float] = {0.0: 1.0}
    exact = True
    for part in variant.parts:
        guess = answer_type(part.type).guess(part)
        exact = exact and guess.is_exact
        weight = part.points / variant.points
        total = sum_chances(
            (earned + share * weight, chance * part_chance)
            for earned, chance in total.items()
            for share, part_chance in guess.scores.items()
        )
    return GuessScore(total, exact)


def best_of(guess: GuessScore, credit: Sequence[float]) -> GuessScore:
    """Return what counts after guessing once for each entry of `credit`, each time at a new variant.

    The best attempt counts: the chance that none is above a share is the product of the attempts' chances.
    """
    levels = sorted({round(share * factor, 9) for share in guess.scores for factor in credit} | {0.0})
    scores: dict[float, float] = {}
    below = 0.0
    for level in levels:
        chance = 1.0
        for factor in credit:
            # A hair of slack: a share times a factor differs from the rounded level by a float's last bit.
            chance *= sum(p for share, p in guess.scores.items() if share * factor <= level + 1e-9)
        scores[level] = chance - below
        below = chance
    return GuessScore(scores, guess.is_exact)


@dataclass(frozen=True, slots=True)
class QuestionFigures:
    """One question over the whole class.

    Parameters
    ----------
    number : int
    section : str
    items : mapping of str to int
        Item → students who get it; one item unless students draw families of their own.
    kinds : tuple of str
        Answer types.
    points : float
    difficulty : tuple of float
        Least, mean and greatest, as the items say (1 to 5).
    variants, keys : int
        Different variants and different right answers in the class.
    shared : int
        The most students with the same variant (1: everybody has their own).
    guessing : float
        Share of the points that guessing earns, all attempts used.
    is_exact : bool
        Whether that is counted and not simulated.
    minutes : float or None
        Mean of what the items say; None if one doesn't say it.
    most_variants : int or None
        How many variants the items have, where they have few.
    is_choice : bool
        Whether a second attempt at the same variant would be elimination.
    observed : float or None
        Mean share of the points that students earned at these items before.
    """

    number: int
    section: str
    items: Mapping[str, int]
    kinds: tuple[str, ...]
    points: float
    difficulty: tuple[float, float, float]
    variants: int
    keys: int
    shared: int
    guessing: float
    is_exact: bool
    minutes: float | None
    most_variants: int | None
    is_choice: bool
    observed: float | None = None

    def as_json(self) -> dict[str, Any]:
        """Return what ``grade quiz check --json`` prints for this question."""
        low, mean, high = self.difficulty
        return {
            "number": self.number,
            "section": self.section,
            "items": dict(self.items),
            "types": list(self.kinds),
            "points": plain_points(self.points),
            "difficulty": {"least": low, "mean": round(mean, 2), "greatest": high},
            "variants": self.variants,
            "keys": self.keys,
            "most_students_with_one_variant": self.shared,
            "guessing": round(self.guessing, 4),
            "guessing_is_exact": self.is_exact,
            "minutes": self.minutes,
            "family_size": self.most_variants,
            "observed": None if self.observed is None else round(self.observed, 4),
        }


@dataclass(frozen=True, slots=True)
class QuizStatistics:
    """The whole quiz: figures by question, and how students' quizzes differ."""

    students: int
    rules: QuizRules
    questions: tuple[QuestionFigures, ...]
    difficulty_of_students: tuple[float, float]

    @property
    def points(self) -> float:
        """Full marks."""
        return sum(question.points for question in self.questions)

    @property
    def guessing(self) -> float:
        """Share of all points that guessing earns on average."""
        return sum(q.guessing * q.points for q in self.questions) / self.points

    @property
    def minutes(self) -> float | None:
        """Expected time; None where a question doesn't say it."""
        each = [question.minutes for question in self.questions if question.minutes is not None]
        return sum(each) if len(each) == len(self.questions) else None


def statistics_of(
    quizzes: Sequence[Quiz], bank: Bank, *, observed: Mapping[str, float] | None = None
) -> QuizStatistics:
    """Return the figures of a class's quizzes (at least one).

    Parameters
    ----------
    quizzes : sequence of Quiz
        As :func:`engine.quiz.compose` draws them; nothing is stored.
    bank : Bank
    observed : mapping of str to float, optional
        Item → mean share of the points that students earned at it before.
    """
    specs = {q.variant.item: bank.load(q.variant.item) for quiz in quizzes for q in quiz.questions}
    rules = quizzes[0].rules
    rows = zip(*(quiz.questions for quiz in quizzes), strict=True)
    means = [fmean(specs[q.variant.item].difficulty for q in quiz.questions) for quiz in quizzes]
    return QuizStatistics(
        len(quizzes),
        rules,
        tuple(_figures(row, specs, rules, observed or {}) for row in rows),
        (min(means), max(means)),
    )


def _figures(
    row: Sequence[QuizQuestion],
    specs: Mapping[str, ProblemSpec],
    rules: QuizRules,
    observed: Mapping[str, float],
) -> QuestionFigures:
    items = Counter(question.variant.item for question in row)
    used = [specs[item] for item in items]
    each = [specs[question.variant.item].difficulty for question in row]
    contents = Counter(content(question.variant) for question in row)
    keys = {_key_words(question.variant) for question in row}
    guesses = [_guess(question.variant, specs[question.variant.item], rules) for question in row]
    minutes = [spec.minutes for spec in used if spec.minutes is not None]
    sizes = [spec.variants for spec in used]
    earned = [observed[item] for item in items if item in observed]
    return QuestionFigures(
        number=row[0].number,
        section=row[0].section,
        items=dict(items),
        kinds=tuple(sorted({spec.kind for spec in used})),
        points=row[0].points,
        difficulty=(min(each), fmean(each), max(each)),
        variants=len(contents),
        keys=len(keys),
        shared=max(contents.values()),
        guessing=fmean(guess.mean for guess in guesses),
        is_exact=all(guess.is_exact for guess in guesses),
        minutes=fmean(minutes) if len(minutes) == len(used) else None,
        most_variants=None if None in sizes else sum(size for size in sizes if size is not None),
        is_choice=any(is_choice(question.variant) for question in row),
        observed=fmean(earned) if earned else None,
    )


def _key_words(variant: Variant) -> tuple[str, ...]:
    return tuple(answer_type(part.type).key_words(part) for part in variant.parts)


def _guess(variant: Variant, spec: ProblemSpec, rules: QuizRules) -> GuessScore:
    """Return what guessing earns with all attempts that there can be."""
    # A choice gets a new variant for each attempt, as long as its item has any; numbers aren't guessed,
    # however often they are asked.
    attempts = min(rules.attempts or 1, spec.variants or 1_000) if is_choice(variant) else 1
    return best_of(guess_variant(variant), [rules.share(n, 0) for n in range(attempts)])


# What a lecturer should know before a quiz goes out.

# Guessing at one of four options earns as much on average; a whole quiz should ask for more.
_MUCH = 0.25
# Half a step of the scale from 1 to 5, on the average of a quiz: what students notice when they compare.
_SPREAD = 0.5


def warnings_of(
    statistics: QuizStatistics, bank: Bank, now: datetime, blueprint: Blueprint | None = None
) -> list[str]:
    """Return warnings, those about the whole quiz first.

    With the `blueprint`, pinned items are held against its `needs`: drawn ones meet them anyway.
    """
    rules = statistics.rules
    warnings = []
    if rules.deadline is not None and rules.is_over(now):
        warnings.append(f"the deadline {deadline_text(rules.deadline)} has passed already")
    if rules.time_limit is not None and (statistics.minutes or 0) > rules.time_limit:
        needs = count_noun(statistics.minutes or 0, "minute", "g")
        limit = count_noun(rules.time_limit, "minute", "g")
        warnings.append(f"the time limit is {limit}, and the questions take about {needs}")
    if statistics.guessing > _MUCH:
        warnings.append(f"guessing earns {percent(statistics.guessing)} of the points on average")
    low, high = statistics.difficulty_of_students
    if high - low > _SPREAD:
        warnings.append(
            f"students' quizzes differ in difficulty: {low:.1f} to {high:.1f} on average; "
            "narrow `difficulty` in the sections with `per_student`"
        )
    for question in statistics.questions:
        if blueprint is not None and blueprint.needs is not None:
            for item in question.items:
                if lacking := untaught(bank.load(item), blueprint.needs):
                    warnings.append(
                        f"question {question.number}: {item} needs {', '.join(lacking)}, "
                        "which the blueprint's `needs` doesn't name"
                    )
        if blueprint is not None:
            texts = _of_documents(question, bank, blueprint)
            warnings += [f"question {question.number}: {text}" for text in texts]
        warnings += [f"question {question.number}: {text}" for text in _of_question(question, statistics)]
        warnings += [f"question {question.number}: {text}" for text in _of_items(question, statistics, bank)]
    return warnings


def _of_documents(question: QuestionFigures, bank: Bank, blueprint: Blueprint) -> Iterator[str]:
    """Yield a warning where items were drawn that quote a lecture which nobody said is the course's."""
    draws = [draw for section in blueprint.sections for draw in section.draw]
    rules: list[Blueprint | BlueprintSection | DrawRule] = [blueprint, *blueprint.sections, *draws]
    if any(rule.needs is not None or rule.source for rule in rules):
        return
    # Whoever pins an item has read it.
    pinned = {item for section in blueprint.sections for item in section.items}
    quoted: dict[str, list[str]] = {}
    for item in question.items:
        documents = [] if item in pinned else [n for n in bank.load(item).needs if n in DOCUMENTS]
        quoted |= {item: documents} if documents else {}
    if quoted:
        names = join_words(quoted, limit=3)
        lectures = ", ".join(sorted({name for documents in quoted.values() for name in documents}))
        yield (
            f"{names} {agree(len(quoted), 'refer')} to a lecture that students may not know ({lectures}); "
            "name what was taught under `needs`, or your documents under `source`"
        )


def _of_question(question: QuestionFigures, statistics: QuizStatistics) -> list[str]:
    warnings = []
    students, size = statistics.students, question.most_variants
    if question.shared > 1 and question.variants == 1:
        warnings.append(
            f"{all_of(students, 'student')} {agree(students, 'have')} the same "
            f"variant{' (there is no other)' * (size == 1)}"
        )
    elif question.shared > 1:
        cause = f" (there are {size} in all)" if size is not None and size < students else ""
        warnings.append(
            f"{count_noun(question.variants, 'different variant')} for "
            f"{count_noun(students, 'student')}{cause}; "
            f"up to {question.shared} have the same"
        )
    elif question.keys == 1 and students > 1:
        warnings.append(f"{all_of(students, 'student')} {agree(students, 'have')} the same right answer")
    attempts = statistics.rules.attempts or 1
    if question.is_choice and size is not None and size < attempts:
        warnings.append(
            f"{count_noun(attempts, 'attempt')}, but {count_noun(size, 'variant')}: "
            f"each variant is asked once, "
            "because the same options again would be elimination"
        )
    if statistics.students > 1 and question.guessing > _MUCH * 2:
        warnings.append(f"guessing earns {percent(question.guessing)} of its points")
    return warnings


def _of_items(question: QuestionFigures, statistics: QuizStatistics, bank: Bank) -> list[str]:
    warnings = []
    for item in question.items:
        spec = bank.load(item)
        if statistics.rules.hint_cost is not None and not spec.hints:
            warnings.append(f"{item} has no hints")
        if (
            ResultDisclosure.SOLUTION in (statistics.rules.show_before, _after(statistics))
            and spec.solution is None
        ):
            warnings.append(f"{item} has no worked solution to show")
    return warnings


def _after(statistics: QuizStatistics) -> ResultDisclosure | None:
    return statistics.rules.show_after if statistics.rules.deadline is not None else None
