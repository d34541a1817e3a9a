"""Several writers at once, with stores of their own as in several programs: each thing is kept once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar

import pytest

from engine.errors import StoreError
from engine.model import GradeReport, Mode, Outcome, Part, Quiz, QuizQuestion, RenderedText, Response, Variant
from engine.store import Attempt, HandMark, Store, open_store

T = TypeVar("T")
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
WRITERS = 4


def variant(name: str) -> Variant:
    return Variant(
        name, f"item-{name}", "v", "T", RenderedText("w", "w", "w"), (Part("answer", "number", 1.0),)
    )


QUESTIONS = tuple(QuizQuestion(n, variant(name), 1.0) for n, name in enumerate("abc", start=1))
QUIZ = Quiz("q1", "week", "Week", "007", QUESTIONS)


def answered(text: str, quiz: Quiz = QUIZ, score: float = 1.0) -> list[Attempt]:
    return [
        Attempt.of_answer(
            quiz.student,
            question,
            Response({"answer": text}),
            GradeReport(question.variant.item, "v", Outcome.PARTIAL, score, 1.0, mode=Mode.MARKS),
            quiz=quiz.id,
            started=NOW,
        )
        for question in quiz.questions
    ]


def at_once(target: str | Path, work: Callable[[Store, int], T], writers: int = WRITERS) -> list[T]:
    """Let each of several programs do its work at the same time; return what they got."""
    start = threading.Barrier(writers)
    got: list[T] = []
    faults: list[BaseException] = []

    def one(store: Store, number: int) -> None:
        try:
            start.wait()
            got.append(work(store, number))
        except BaseException as error:
            faults.append(error)

    with ExitStack() as stack:
        stores = [stack.enter_context(open_store(target)) for _ in range(writers)]
        threads = [threading.Thread(target=one, args=(s, n)) for n, s in enumerate(stores)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert faults == []
    return got


def only_the_first_counts(attempt: Attempt, earlier: Sequence[Attempt]) -> Attempt:
    return attempt if not earlier else replace(attempt, report=replace(attempt.report, score=0.0))


@pytest.mark.parametrize("round_", range(3))
def test_credit_for_the_first_attempt_is_given_once(target: str | Path, round_: int) -> None:
    # two draws of one quiz are one quiz: whoever locks the one must lock the other
    drawn = [replace(QUIZ, id=f"q{n % 2}", attempt=n % 2) for n in range(WRITERS)]
    with open_store(target) as store:
        store.save_quizzes(drawn[:2])
    at_once(
        target,
        lambda store, n: store.record_all(answered(f"{n}", drawn[n]), settle=only_the_first_counts),
    )
    with open_store(target) as store:
        scores = [(a.item, a.report.score) for a in store.attempts()]
    assert sorted(scores) == sorted((q.variant.item, s) for q in QUESTIONS for s in (1.0, 0.0, 0.0, 0.0))


def test_one_file_graded_by_all_is_one_attempt(target: str | Path) -> None:
    with open_store(target) as store:
        store.save_quiz(QUIZ)
    kept = at_once(
        target,
        lambda store, n: store.record_all(answered("1", score=n / 10), settle=only_the_first_counts),
    )
    with open_store(target) as store:
        stored = list(store.attempts())
    assert len(stored) == 3
    # whoever came second got what is stored, for each question
    by_item = {attempt.item: attempt.report.score for attempt in stored}
    assert all({a.item: a.report.score for a in got} == by_item for got in kept)


def test_a_class_that_is_drawn_by_all_is_drawn_once(target: str | Path) -> None:
    drawn = [replace(QUIZ, id=f"q{n}", student=f"s{n}") for n in range(20)]
    at_once(target, lambda store, n: store.save_quizzes(drawn if n % 2 else drawn[::-1]))
    with open_store(target) as store:
        assert {quiz.student for quiz in store.quizzes("week")} == {quiz.student for quiz in drawn}
        with pytest.raises(StoreError, match="another quiz"):
            store.save_quiz(replace(drawn[0], title="Other"))


def test_a_retrys_variant_and_a_hint_are_taken_once(target: str | Path) -> None:
    with open_store(target) as store:
        store.save_quiz(QUIZ)

    def work(store: Store, number: int) -> Variant:
        store.sittings.take_hint(QUIZ, 1, Mode.MARKS, 1)
        return store.sittings.add_variant(QUIZ, 1, 1, variant(f"new-{number}"))

    got = at_once(target, work)
    with open_store(target) as store:
        assert store.sittings.hints(QUIZ, Mode.MARKS) == {1: 1}
        kept = store.sittings.variants(QUIZ, 1)
    assert len(kept) == 2 and got == [kept[1]] * WRITERS, "all show the same variant"


def test_deadlines_moved_by_all_end_at_one_of_them(target: str | Path) -> None:
    drawn = [replace(QUIZ, id=f"q{n}", student=f"s{n}") for n in range(5)]
    with open_store(target) as store:
        store.save_quizzes(drawn)
    moments = [NOW + timedelta(days=n) for n in range(WRITERS)]
    at_once(target, lambda store, n: store.sittings.move_deadline("week", moments[n]))
    with open_store(target) as store:
        assert len({quiz.rules.deadline for quiz in store.quizzes()}) == 1


def test_regrades_of_one_attempt_go_one_after_the_other(target: str | Path) -> None:
    with open_store(target) as store:
        store.save_quiz(QUIZ)
        old = store.record_all(answered("1"))

    def work(store: Store, number: int) -> int:
        new = [replace(a, report=replace(a.report, item_version=f"v{number}")) for a in old]
        changes = list(zip(old, new, strict=True))
        left = store.regrades.replace(
            changes if number % 2 else changes[::-1], run=f"r{number}", by="prof", at=NOW, cause="key"
        )
        return len(left)

    left = at_once(target, work)
    assert sorted(left) == [0, 3, 3, 3], "one run changed all, the others nothing"
    with open_store(target) as store:
        history = list(store.regrades.history())
        (run,) = {change.run for change in history}
        assert len(history) == 3
        assert {a.report.item_version for a in store.attempts()} == {f"v{run[1:]}"}


def test_decisions_of_all_are_kept_and_all_see_the_same_one_hold(target: str | Path) -> None:
    def work(store: Store, number: int) -> None:
        for _ in range(5):
            store.hand_marks.add(HandMark("007", "week/item-a", float(number), False, "", f"ta{number}", NOW))

    at_once(target, work)
    with open_store(target) as store:
        history = store.hand_marks.history()
        assert len(history) == 5 * WRITERS
        assert store.hand_marks.current()["007", "week/item-a"] == history[-1]
