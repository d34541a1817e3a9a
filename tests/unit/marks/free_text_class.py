"""A class whose answers in words wait for a person: an item, its variants, and what three students wrote."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import engine
from engine.grading import grade_answers
from engine.model import GradeReport, Mode, Quiz, QuizQuestion, QuizRules, Response, Variant
from engine.quiz.rules import CreditRules
from engine.store import Attempt, Store

__all__ = ["ITEM", "NOW", "SECRET", "TEXTS", "hand_in", "item_variant", "report_on"]

NOW = datetime(2026, 11, 2, 9, 30, tzinfo=UTC)
SECRET = b"s" * 32
ITEM = """
id: why-weights
title: Why weights sum to 1
source: {document: background}
difficulty: 2
bloom: understand
topics: [softmax]
stem: "First the sum, then the reason."
steps:
  - id: total
    prompt: To what do the weights sum?
    answer: {type: number, key: "1", decimals: 0}
  - id: reason
    prompt: Why?
    answer:
      type: free_text
      min_words: 2
      max_words: 8
      rubric:
        - {id: softmax, title: the function, text: Names softmax., points: 1}
        - id: division
          title: what it does
          text: Says that it divides by the sum.
          points: 2
          levels: [{points: 2, text: Divides by the sum.}, {points: 0.5, text: Only that it scales.}]
      sample: Softmax divides each exponential by their sum.
"""
TEXTS = {
    "amy": "Softmax divides by the sum.",
    "ben": "softmax  divides by the SUM",
    "eve": "Because they are probabilities.",
}


def item_variant(folder: Path, text: str = ITEM) -> Variant:
    """Return a variant of the item, whose file is written into `folder`."""
    path = folder / "why-weights.yaml"
    path.write_text(text, encoding="utf-8")
    return engine.draw(engine.load_item(path), seed=1)


def report_on(variant: Variant, reason: str) -> GradeReport:
    """Return the report of an answer that nobody has marked."""
    response = Response({"total": "1", "reason": reason})
    return grade_answers(variant, response, mode=Mode.MARKS, student="amy")


def hand_in(
    store: Store,
    variant: Variant,
    student: str,
    reason: str,
    *,
    rules: QuizRules | None = None,
    total: str = "1",
    name: str = "week-1",
    place: str = "",
) -> Attempt:
    """Record a student's answer to the only question of a quiz, worth 6 points, and return the attempt.

    With a `place` on a scanned sheet it was written there, and `reason` says where.
    """
    worth = replace(
        variant, parts=tuple(replace(part, points=part.points * 6 / variant.points) for part in variant.parts)
    )
    question = QuizQuestion(1, worth, 6.0)
    quiz = Quiz(f"q-{student}", name, "Week 1", student, (question,), rules=rules or QuizRules())
    store.save_quiz(quiz)
    response = Response({"total": "1", "reason": reason}, {"reason": place} if place else {})
    report = grade_answers(worth, response, mode=Mode.MARKS, student=student)
    attempt = Attempt.of_answer(student, question, response, report, quiz=quiz.id, started=NOW)
    settle = CreditRules(quiz, {}) if quiz.rules.counts_attempts else None
    (stored,) = store.record_all([attempt], settle=settle)
    return stored
