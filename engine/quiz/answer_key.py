"""The key of one student's quiz, as the instructor reads it.

It comes from the store alone: the bank may hold a later version of an item, whose numbers or key this student
never had.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from engine.answers import interval_text, kind_of, policy_text, right_response
from engine.errors import InputError
from engine.items.bank import Bank
from engine.model import ChoiceOption, Part, Quiz, QuizQuestion, RenderedText
from engine.store import Store
from engine.text.words import plain_points


@dataclass(frozen=True, slots=True)
class KeyPart:
    """The key of one answer field.

    Parameters
    ----------
    part : Part
    key : str
        As it would be typed.
    accepted : str
        The interval of each number that counts as right; empty for other types.
    policy : str
        How it is scored.
    options : tuple of ChoiceOption
        The right options, in the order shown; of a matching its pairs are in `key`.
    """

    part: Part
    key: str
    accepted: str
    policy: str
    options: tuple[ChoiceOption, ...]


@dataclass(frozen=True, slots=True)
class KeyQuestion:
    """One question with its key; ``is_changed`` tells that the bank has another version of the item now."""

    question: QuizQuestion
    parts: tuple[KeyPart, ...]
    solution: RenderedText | None
    is_changed: bool


@dataclass(frozen=True, slots=True)
class QuizKey:
    """All variants that one student can have answered, the first ones first."""

    quiz: Quiz
    questions: tuple[KeyQuestion, ...]

    def as_json(self) -> dict[str, Any]:
        """Return what ``grade quiz key --json`` prints for this student."""
        return {
            "quiz": self.quiz.id,
            "name": self.quiz.name,
            "title": self.quiz.title,
            "student": self.quiz.student,
            "attempt": self.quiz.attempt,
            "questions": [_question_json(question) for question in self.questions],
        }


def quiz_key(store: Store, quiz: Quiz, bank: Bank) -> QuizKey:
    """Return the key of a stored quiz, with the variants that were drawn for later attempts."""
    # Students may have answered any variant that was ever drawn for them, so the key shows all.
    later = store.sittings.retries(quiz)
    questions = []
    for question in quiz.questions:
        questions.append(_question(question, bank))
        if later.get(question.number):
            variants = store.sittings.variants(quiz, question.number)
            for retry, variant in enumerate(variants[1:], start=1):
                again = QuizQuestion(
                    question.number, variant, question.points, question.section, question.own_family, retry
                )
                questions.append(_question(again, bank))
    return QuizKey(quiz, tuple(questions))


def _question(question: QuizQuestion, bank: Bank) -> KeyQuestion:
    variant = question.variant
    try:
        is_changed = bank.version(variant.item) != variant.item_version
    except InputError:  # gone, or faulty now: what was drawn stands on its own
        is_changed = True
    return KeyQuestion(question, tuple(_part(part) for part in variant.parts), variant.solution, is_changed)


def _part(part: Part) -> KeyPart:
    return KeyPart(
        part,
        right_response(part),
        interval_text(part),
        policy_text(part),
        tuple(option for option in part.options if option.correct)
        if kind_of(part.type).picks_options
        else (),
    )


def _question_json(entry: KeyQuestion) -> dict[str, Any]:
    question, variant = entry.question, entry.question.variant
    return {
        "number": question.number,
        "retry": question.retry,
        "item": variant.item,
        "item_version": variant.item_version,
        "item_changed_since": entry.is_changed,
        "variant": variant.id,
        "title": variant.title,
        "points": plain_points(question.points),
        "stem": variant.stem.plain,
        "notes": [note.plain for note in (*variant.notes, *variant.told_after)],
        "parts": [_part_json(part) for part in entry.parts],
        "solution": entry.solution.plain if entry.solution else None,
    }


def _part_json(entry: KeyPart) -> Mapping[str, Any]:
    part = entry.part
    return {
        "id": part.id,
        "type": part.type,
        "points": plain_points(part.points),
        "prompt": part.prompt.plain if part.prompt else None,
        "options": {option.id: option.text.plain for option in part.options},
        "prompts": {prompt.id: prompt.text.plain for prompt in part.prompts},
        "key": entry.key,
        "accepted": entry.accepted,
        "policy": entry.policy,
    }
