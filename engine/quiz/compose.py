"""One quiz per student: the same items for all, each student's own variants."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Sequence
from dataclasses import replace

from engine.model import Quiz, QuizQuestion, Variant
from engine.quiz.blueprint import Blueprint, choose_items
from engine.spec.bank import Bank
from engine.variants import draw

__all__ = ["compose", "quiz_id"]


def _with_points(variant: Variant, points: float | None) -> Variant:
    if points is None or points == variant.points:
        return variant
    scale = points / variant.points
    return replace(variant, parts=tuple(replace(p, points=p.points * scale) for p in variant.parts))


def quiz_id(secret: bytes, name: str, student: str, attempt: int) -> str:
    """Return the id that the student's file carries: it tells nothing about the draw."""
    message = "\x1f".join(["quiz", name, student, str(attempt)]).encode()
    return hmac.new(secret, message, hashlib.sha256).hexdigest()[:20]


def compose(
    blueprint: Blueprint,
    bank: Bank,
    students: Sequence[str],
    *,
    secret: bytes,
    name: str,
    attempt: int = 0,
    progress: Callable[[], None] = lambda: None,
) -> list[Quiz]:
    """Draw one quiz per student: the same items, each student's own variant.

    Parameters
    ----------
    blueprint : Blueprint
    bank : Bank
    students : sequence of str
        Student ids.
    secret : bytes
        The course secret.
    name : str
        Name of the quiz; part of every seed, so two quizzes draw apart.
    attempt : int
        Another attempt is another draw.

    Returns
    -------
    list of Quiz
        With keys: for the store, never for a student.

    Raises
    ------
    QuizError
        As :func:`engine.quiz.choose_items`.
    engine.errors.DrawError
        As :func:`engine.variants.draw`.
    """
    items = choose_items(blueprint, bank, secret, name)
    registry = bank.registry()
    specs = [(bank.load(i), points) for i, points in items]
    versions = [bank.version(spec.id) for spec, _ in specs]
    quizzes = []
    for student in students:
        questions = []
        for number, ((spec, points), version) in enumerate(zip(specs, versions, strict=True), start=1):
            variant = draw(
                spec,
                version=version,
                registry=registry,
                secret=secret,
                student=f"{name}/{student}",
                attempt=attempt,
            )
            scaled = _with_points(variant, points)
            questions.append(QuizQuestion(number, scaled, scaled.points))
        quizzes.append(
            Quiz(
                id=quiz_id(secret, name, student, attempt),
                name=name,
                title=blueprint.title,
                student=student,
                questions=tuple(questions),
                attempt=attempt,
            )
        )
        progress()
    return quizzes
