"""A quiz drawn for a class and looked at as a whole: who gets what, how alike, what guessing earns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from engine.answers import right_response
from engine.model import Part, Quiz, QuizQuestion, Variant, plain_points
from engine.quiz.credit import is_choice
from engine.quiz.family import content
from engine.quiz.guessing import Guess, best_of, guess_variant
from engine.rules import QuizRules
from engine.spec.bank import Bank
from engine.spec.schema import ProblemSpec

__all__ = ["QuestionFigures", "Rehearsal", "key_signature", "rehearse"]


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
class Rehearsal:
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


def key_signature(part: Part) -> str:
    """Return a right answer in words that don't depend on the order in which options are shown."""
    texts = {option.id: option.text.plain for option in (*part.prompts, *part.options)}
    if part.type == "ordering":
        return " > ".join(texts[key] for key in part.key_ids)
    if part.type == "matching":
        pairs = zip((prompt.text.plain for prompt in part.prompts), part.key_ids, strict=True)
        return "; ".join(sorted(f"{prompt} - {texts[key]}" for prompt, key in pairs))
    if part.options:
        return "; ".join(sorted(texts[key] for key in part.key_ids))
    return right_response(part)


def rehearse(
    quizzes: Sequence[Quiz], bank: Bank, *, observed: Mapping[str, float] | None = None
) -> Rehearsal:
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
    return Rehearsal(
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
    keys = {tuple(key_signature(part) for part in question.variant.parts) for question in row}
    guesses = [_guess(question.variant, specs[question.variant.item], rules) for question in row]
    minutes = [spec.minutes for spec in used if spec.minutes is not None]
    sizes = [spec.variants for spec in used]
    seen = [observed[item] for item in items if item in observed]
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
        observed=fmean(seen) if seen else None,
    )


def _guess(variant: Variant, spec: ProblemSpec, rules: QuizRules) -> Guess:
    """Return what guessing earns with all attempts that there can be."""
    attempts = min(rules.attempts or 1, spec.variants or 1_000) if is_choice(variant) else 1
    return best_of(guess_variant(variant), [rules.share(n, 0) for n in range(attempts)])
