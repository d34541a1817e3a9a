"""A store with something in every table, about two people."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from engine.model import (
    Check,
    ChoiceOption,
    CodeSubmission,
    Diagnosis,
    FloatArray,
    GradeReport,
    KnownWrong,
    Mode,
    Outcome,
    Part,
    Quiz,
    QuizQuestion,
    RenderedText,
    Response,
    Variant,
    Verdict,
)
from engine.store import Attempt, HandMark, Store

__all__ = ["NOW", "PEOPLE", "ROWS", "SECRETS", "fill"]

NOW = datetime(2026, 10, 25, 0, 30, 15, 123456, tzinfo=UTC)
PEOPLE = ("007", "7")
# Per person.
ROWS = {"hand_marks": 1, "quizzes": 1, "attempts": 3, "quiz_hints": 1, "quiz_retries": 1, "regrades": 1}
# What nobody may find in what is handed out: keys, known mistakes, solutions.
SECRETS = ("0.123456789", "secret-option", "secret-feedback", "secret-solution", "secret-after")


def text(words: str) -> RenderedText:
    return RenderedText(words, words, words)


def variant(name: str) -> Variant:
    options = (
        ChoiceOption("a", text("first"), correct=True, misconception=None),
        ChoiceOption("b", text("second"), misconception="secret-option", feedback="secret-feedback"),
    )
    known = (KnownWrong("secret-option", "secret-feedback", FloatArray((), (0.123456789,))),)
    part = Part(
        "answer", "number", 2.0, text("how much?"), FloatArray((), (0.123456789,)), ("a",), options, (), known
    )
    return Variant(
        name, "sum", "v1", "A sum", text("Add ½ and ½."), (part,),
        solution=text("secret-solution"), told_after=(text("secret-after"),), hints=(text("secret-after"),),
    )  # fmt: skip


def fill(store: Store) -> None:
    for student in PEOPLE:
        quiz = Quiz(f"q-{student}", "week", "Week", student, (QuizQuestion(1, variant("v"), 2.0),))
        store.save_quiz(quiz)
        report = GradeReport(
            "sum", "v1", Outcome.PARTIAL, 1.0, 2.0, mode=Mode.MARKS, student=student,
            checks=(Check("answer", Verdict.FAILED, 1.0, 2.0, "half of it"),),
            diagnosis=(Diagnosis("m", "a usual mistake"),),
        )  # fmt: skip
        typed = Response({"answer": f"typed by {student}"})
        question = quiz.questions[0]
        store.record(
            replace(
                Attempt.of_answer(student, question, typed, report, quiz=quiz.id, started=NOW),
                handed=NOW - timedelta(hours=1),
                marked_late=True,
                sequence=1,
            )
        )
        for n, outcome in enumerate((Outcome.RIGHT, Outcome.UNGRADED)):
            score = 10.0 if outcome is Outcome.RIGHT else None
            code = CodeSubmission(
                f"# code {n} by {student}\n",
                "../softmax.py",
                f"{n}" * 64,
                {"helpers": f"# beside, by {student}"},
            )
            graded = GradeReport("softmax", "v1", outcome, score, 10.0, mode=Mode.MARKS, notes=("a note",))
            store.record(Attempt.of_code(student, code, graded, started=NOW))
        store.sittings.take_hint(quiz, 1, Mode.MARKS, 1)
        store.sittings.add_variant(quiz, 1, 1, variant("later"))
        store.hand_marks.add(HandMark(student, "softmax", 9.5, False, f"for {student}", "prof", NOW))
        (old,) = [a for a in store.attempts(student=student) if a.item == "sum"]
        new = replace(old, report=replace(old.report, score=1.5, item_version="v2"))
        store.regrades.replace([(old, new)], run="r1", by="prof", at=NOW, cause="key")
