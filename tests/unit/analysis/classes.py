"""Classes whose answers are known, put through grading and the store as real ones are."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from engine.grading import grade_answers
from engine.model import (
    Check,
    ChoiceOption,
    Diagnosis,
    DrawnValue,
    GradeReport,
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
from engine.store import ArrivalInfo, Attempt, Store

NOW = datetime(2026, 11, 6, 12, tzinfo=UTC)


def text(words: str) -> RenderedText:
    return RenderedText(words, words, words)


def choice(
    item: str,
    key: str,
    wrong: Mapping[str, str],
    *,
    turn: int = 0,
    values: Mapping[str, str] | None = None,
    part: str = "answer",
    points: float = 1.0,
) -> Variant:
    """Return a single choice: wrong option → misconception or ""; `turn` moves the letters on."""
    return variant(item, [single(key, wrong, turn=turn, part=part, points=points)], values)


def single(
    key: str, wrong: Mapping[str, str], *, turn: int = 0, part: str = "answer", points: float = 1.0
) -> Part:
    texts = [key, *wrong]
    texts = texts[turn % len(texts) :] + texts[: turn % len(texts)]
    options = tuple(
        ChoiceOption(letter, text(words), words == key, misconception=wrong.get(words) or None)
        for letter, words in zip("abcdefgh", texts, strict=False)
    )
    return Part(part, "single_choice", points, key_ids=("abcdefgh"[texts.index(key)],), options=options)


def variant(item: str, parts: Sequence[Part], values: Mapping[str, str] | None = None) -> Variant:
    drawn = {name: DrawnValue((), (value,)) for name, value in (values or {}).items()}
    identity = f"{item}{parts}{values}".encode()
    return Variant(
        hashlib.sha256(identity).hexdigest()[:12], item, "v1", f"About {item}", text("?"), tuple(parts), drawn
    )


def letter(part: Part, words: str) -> str:
    """Return the letter under which an option stands for this student; blank stays blank."""
    return next((option.id for option in part.options if option.text.plain == words), "")


def hand_in(
    store: Store,
    student: str,
    name: str,
    questions: Sequence[tuple[Variant, Mapping[str, str]]],
    *,
    at: datetime = NOW,
    sequence: int = 0,
    attempt: int = 0,
    own_family: bool = False,
) -> None:
    """Save a quiz and hand it in: to each variant, part → the text of the option (or what is typed)."""
    quiz = Quiz(
        hashlib.sha256(f"{name}{student}{attempt}".encode()).hexdigest()[:20],
        name,
        f"Quiz {name}",
        student,
        tuple(
            QuizQuestion(number, one, one.points, own_family=own_family)
            for number, (one, _) in enumerate(questions, 1)
        ),
        attempt,
    )
    store.save_quiz(quiz)
    typed = {
        number: {
            part.id: letter(part, words.get(part.id, "")) if part.options else words.get(part.id, "")
            for part in one.parts
        }
        for number, (one, words) in enumerate(questions, 1)
    }
    reports = [
        grade_answers(one, Response(typed[number]), mode=Mode.MARKS, student=student)
        for number, (one, _) in enumerate(questions, 1)
    ]
    store.record_quiz(
        quiz,
        typed,
        reports,
        started=at,
        arrival=ArrivalInfo(handed=at, sequence=sequence),
        filename="quiz.yaml",
    )


def code(
    store: Store,
    student: str,
    item: str,
    verdicts: Mapping[str, Verdict],
    *,
    mistakes: Sequence[str] = (),
    outcome: Outcome | None = None,
    minutes: int = 0,
    mode: Mode = Mode.MARKS,
) -> None:
    """Record code with these verdicts, each check worth a point."""
    checks = tuple(
        Check(check, verdict, float(verdict is Verdict.PASSED), 1.0) for check, verdict in verdicts.items()
    )
    score: float | None = sum(check.points for check in checks)
    if outcome is None:
        outcome = Outcome.RIGHT if score == len(checks) else Outcome.PARTIAL if score else Outcome.WRONG
    if outcome in (Outcome.UNGRADED, Outcome.FORMAT_ERROR):
        score = None
    report = GradeReport(
        item,
        "v",
        outcome,
        score,
        float(len(checks)),
        checks,
        tuple(Diagnosis(mistake, f"about {mistake}") for mistake in mistakes),
        student=student,
        mode=mode,
    )
    when = NOW + timedelta(minutes=minutes)
    sha = hashlib.sha256(f"{student}{item}{minutes}{verdicts}".encode()).hexdigest()
    store.record(Attempt(student, sha, report, when, when, source="x = 1", reason="stopped"))


def binary_quiz(store: Store, name: str, answers: Sequence[Sequence[int]], items: Sequence[str]) -> None:
    """Hand in right (1) and wrong (0) answers, one row for each student."""
    with store.bulk():
        for at, row in enumerate(answers):
            questions = [
                (choice(item, "yes", {"no": ""}, turn=at % 2), {"answer": "yes" if right else "no"})
                for item, right in zip(items, row, strict=True)
            ]
            hand_in(store, f"s{at:04}", name, questions)
