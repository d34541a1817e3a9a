"""What the store gives back is what went in; a graded submission is graded once."""

from __future__ import annotations

import dataclasses
import math
import threading
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import StoreError
from engine.model import (
    Check,
    ChoiceOption,
    CodeSubmission,
    Counterexample,
    Diagnosis,
    DrawnValue,
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
from engine.store import Attempt, Store, quiz_responses, response_sha256
from engine.store.sql_tables import attempts as attempts_table
from engine.store.sql_tables import decode, encode

NOW = datetime(2026, 11, 27, 12, 30, 15, 123456, tzinfo=UTC)


def report(
    outcome: Outcome = Outcome.RIGHT, score: float | None = 2.0, item: str = "softmax", **more
) -> GradeReport:
    fields = {"item_version": "v1", "max_score": 2.0, "mode": Mode.MARKS, "tier": "T1"} | more
    return GradeReport(item=item, outcome=outcome, score=score, **fields)


def attempt(student: str = "007", sha: str = "a" * 64, given: GradeReport | None = None, **more) -> Attempt:
    return Attempt(student, sha, given or report(), NOW, NOW + timedelta(seconds=1), **more)


def a_variant(item: str = "softmax-weights", points: float = 1.0) -> Variant:
    text = RenderedText("plain", "<p>html</p>", "latex")
    options = (
        ChoiceOption("b", text, correct=True, value=FloatArray((2,), (0.25, 0.75))),
        ChoiceOption("a", text, misconception="m"),
    )
    part = Part(
        "answer",
        "single_choice",
        points,
        key=FloatArray((), (0.1,)),
        key_ids=("b",),
        options=options,
        known_wrong=(KnownWrong("m", "why", FloatArray((1,), (math.inf,))),),
        settings={"decimals": 3, "policy": {"nested": [1, None, True, "x"]}},
    )
    values = {"e": DrawnValue((3,), ("2", "1", "0.40"))}
    return Variant(
        f"var-{item}", item, "v9", "Title", text, (part,), values, {"w": "softmax(e)"}, (text,), (), text
    )


def a_quiz(student: str = "007", quiz_id: str = "q1", name: str = "week-1") -> Quiz:
    questions = (QuizQuestion(1, a_variant(), 1.0), QuizQuestion(2, a_variant("context-vector", 3.0), 3.0))
    return Quiz(quiz_id, name, "Week 1", student, questions, attempt=1)


def test_an_attempt_comes_back_equal_in_every_field(store: Store) -> None:
    full = report(
        Outcome.PARTIAL,
        0.5,
        checks=(Check("values", Verdict.FAILED, 0.0, 1.5, "é <b>"), Check("x", Verdict.TIMED_OUT, 0, 0)),
        diagnosis=(Diagnosis("softmax-axis", "sentence"),),
        counterexample=Counterexample("f(1)", "2", "3"),
        notes=("a note",),
        variant="var-1",
        student="007",
    )
    given = attempt(
        given=full,
        variant=a_variant(),
        response=Response({"answer": "[0.1, \u202e 0.2]"}),
        source="def f():\n    return 'ß'\n",
        filename="softmax (1).py",
        reason="because",
    )
    store.record(given)
    (found,) = store.attempts()
    assert found == given
    assert found.option_order == {"answer": ("b", "a")}
    assert found.values == {"e": DrawnValue((3,), ("2", "1", "0.40"))}


def test_ids_like_007_and_7_are_two_students(store: Store) -> None:
    store.record(attempt("007"))
    store.record(attempt("7"))
    assert [found.student for found in store.attempts()] == ["007", "7"]
    assert store.graded("7", "softmax", "a" * 64) is not None
    assert store.graded("07", "softmax", "a" * 64) is None


def test_times_are_kept_as_utc_whatever_their_zone(store: Store) -> None:
    there = NOW.astimezone(timezone(timedelta(hours=-5)))
    store.record(dataclasses.replace(attempt(), started=there))
    (found,) = store.attempts()
    assert found.started == NOW and found.started.utcoffset() == timedelta(0)


def test_a_time_without_zone_is_refused(store: Store) -> None:
    with pytest.raises(StoreError):
        store.record(dataclasses.replace(attempt(), started=datetime(2026, 1, 1)))
    assert list(store.attempts()) == []


@given(st.text(alphabet=st.characters(), max_size=60))
def test_no_foreign_text_can_make_a_report_unstorable(text: str) -> None:
    given_report = report(notes=(text,), diagnosis=(Diagnosis("m", text),))
    assert decode(GradeReport, encode(given_report), "here") == given_report


def test_surrogates_and_nul_in_plain_columns_are_replaced_not_fatal(store: Store) -> None:
    store.record(attempt(filename="a\ud800b\0c.py", source="x\ud800", reason="\0"))
    (found,) = store.attempts()
    assert found.filename == "a?b\ufffdc.py"


@pytest.mark.parametrize("student", ["a\0b", "a\ud800b", "x" * 201])
def test_an_id_that_one_database_would_refuse_is_refused_by_both(store: Store, student: str) -> None:
    with pytest.raises(StoreError, match="something can't be stored") as caught:
        store.record(attempt(student))
    assert "at most 200 characters" in str(caught.value.got)
    assert list(store.attempts()) == []
    store.record(attempt("x" * 200))
    assert [found.student for found in store.attempts()] == ["x" * 200]


@pytest.mark.parametrize("text", ["ß́ ü 漢字 🙂 \u202e", "  ", "'; DROP TABLE attempts; --", "%_\\"])
def test_any_other_text_comes_back_as_it_was(store: Store, text: str) -> None:
    given = attempt(text, filename=text, source=text * 2, reason=text)
    store.record(given)
    assert list(store.attempts(student=text)) == [given]


def test_nan_and_infinity_survive(store: Store) -> None:
    part = Part("p", "number", 1.0, key=FloatArray((2,), (math.nan, -math.inf)))
    variant = dataclasses.replace(a_variant(), parts=(part,))
    store.record(attempt(variant=variant))
    (found,) = store.attempts()
    key = found.variant.parts[0].key
    assert math.isnan(key.data[0]) and key.data[1] == -math.inf


# --- graded once ---


def test_what_was_graded_once_stays_graded(store: Store) -> None:
    store.record(attempt(given=report(Outcome.WRONG, 0.0)))
    kept = store.record(attempt(given=report(Outcome.RIGHT, 2.0)))
    assert kept.report.outcome is Outcome.WRONG
    assert store.graded("007", "softmax", "a" * 64) == report(Outcome.WRONG, 0.0)
    assert len(list(store.attempts())) == 1


@pytest.mark.parametrize("first", [Outcome.UNGRADED, Outcome.FORMAT_ERROR])
def test_an_attempt_without_score_is_replaced_by_the_graded_one(store: Store, first: Outcome) -> None:
    store.record(attempt(given=report(first, None), reason="lost"))
    assert store.graded("007", "softmax", "a" * 64) is None
    assert store.best_scores() == []
    assert len(store.ungraded()) == (first is Outcome.UNGRADED)
    store.record(attempt(given=report(Outcome.PARTIAL, 1.0)))
    (found,) = store.attempts()
    assert found.report.score == 1.0 and found.reason is None
    assert store.ungraded() == []


def test_a_graded_attempt_is_never_replaced_by_an_ungraded_one(store: Store) -> None:
    store.record(attempt(given=report(Outcome.PARTIAL, 1.0)))
    store.record(attempt(given=report(Outcome.UNGRADED, None)))
    (found,) = store.attempts()
    assert found.report.score == 1.0


def test_practice_never_turns_into_a_mark(store: Store) -> None:
    store.record(attempt(given=report(mode=Mode.PRACTICE)))
    assert store.graded("007", "softmax", "a" * 64) is None
    assert store.best_scores() == []
    store.record(attempt(given=report(Outcome.WRONG, 0.0)))
    assert [best.score for best in store.best_scores()] == [0.0]
    assert [best.score for best in store.best_scores(Mode.PRACTICE)] == [2.0]


def test_the_database_itself_refuses_a_second_row_for_one_submission(store: Store) -> None:
    store.record(attempt())
    names = ", ".join(column.name for column in attempts_table.columns if column.name != "id")
    with (
        pytest.raises(StoreError, match="doesn't fit") as caught,
        store._database.write() as connection,
    ):
        connection.exec_driver_sql(f"INSERT INTO attempts ({names}) SELECT {names} FROM attempts")
    assert "unique" in str(caught.value.got).lower()
    assert len(list(store.attempts())) == 1


@pytest.mark.parametrize(
    ("outcome", "score"),
    [(Outcome.RIGHT, None), (Outcome.UNGRADED, 0.0), (Outcome.FORMAT_ERROR, 2.0), (Outcome.WRONG, None)],
)
def test_an_ungraded_attempt_with_a_score_cant_be_stored(
    store: Store, outcome: Outcome, score: float | None
) -> None:
    with pytest.raises(StoreError, match="doesn't fit"):
        store.record(attempt(given=report(outcome, score)))
    assert list(store.attempts()) == []


def test_threads_that_record_the_same_submission_leave_one_row(store: Store) -> None:
    barrier = threading.Barrier(8)
    kept: list[float | None] = []

    def work(number: int) -> None:
        barrier.wait()
        kept.append(store.record(attempt(given=report(Outcome.PARTIAL, number / 10))).report.score)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (found,) = store.attempts()
    assert kept == [found.report.score] * 8


# --- quizzes ---


def test_a_quiz_comes_back_with_its_keys(store: Store) -> None:
    store.save_quiz(a_quiz())
    assert store.load_quiz("q1", "007") == a_quiz()
    assert store.load_quiz("q1") == a_quiz()
    assert store.load_quiz("q1", "other") is None
    assert store.load_quiz("q2") is None


def test_an_id_that_two_students_share_needs_the_student(store: Store) -> None:
    store.save_quizzes([a_quiz("ada"), a_quiz("bob")])
    assert store.load_quiz("q1") is None
    assert store.load_quiz("q1", "bob") == a_quiz("bob")


def test_saving_again_is_free_and_another_quiz_under_the_id_is_refused(store: Store) -> None:
    store.save_quiz(a_quiz())
    store.save_quiz(a_quiz())
    changed = dataclasses.replace(a_quiz(), title="Other")
    with pytest.raises(StoreError, match="another quiz"):
        store.save_quizzes([a_quiz("new"), changed])
    assert [quiz.student for quiz in store.quizzes()] == ["007"], "all of a class or none"


def test_quizzes_are_listed_by_name(store: Store) -> None:
    store.save_quizzes([a_quiz("b", "1"), a_quiz("a", "2"), a_quiz("a", "3", "week-2")])
    assert [(quiz.name, quiz.student) for quiz in store.quizzes("week-1")] == [
        ("week-1", "a"),
        ("week-1", "b"),
    ]
    assert len(store.quizzes()) == 3


def quiz_reports(scores: list[float | None]) -> list[GradeReport]:
    outcomes = [Outcome.FORMAT_ERROR if s is None else Outcome.RIGHT if s else Outcome.WRONG for s in scores]
    return [
        report(outcome, score, item=question.variant.item, max_score=question.points)
        for outcome, score, question in zip(outcomes, scores, a_quiz().questions, strict=True)
    ]


def test_a_graded_quiz_is_recorded_question_by_question(store: Store) -> None:
    store.save_quiz(a_quiz())
    answers = {1: {"answer": "b", "forged": "x"}}
    store.record_quiz(a_quiz(), answers, quiz_reports([1.0, 0.0]), filename="q.yaml")
    first, second = store.attempts(quiz="q1")
    assert first.response == Response({"answer": "b"})
    assert second.response == Response({"answer": ""})
    assert first.variant == a_quiz().questions[0].variant
    assert {(b.item, b.quiz, b.score, b.max_score) for b in store.best_scores()} == {
        ("softmax-weights", "week-1", 1.0, 1.0),
        ("context-vector", "week-1", 0.0, 3.0),
    }


def test_a_quiz_handed_in_again_adds_only_what_changed(store: Store) -> None:
    store.save_quiz(a_quiz())
    store.record_quiz(a_quiz(), {1: {"answer": "a"}, 2: {"answer": "b"}}, quiz_reports([0.0, 3.0]))
    store.record_quiz(a_quiz(), {1: {"answer": "b"}, 2: {"answer": "b"}}, quiz_reports([1.0, 0.0]))
    assert sorted(b.score for b in store.best_scores()) == [1.0, 3.0]
    assert len(list(store.attempts())) == 3


def test_an_answer_without_score_keeps_the_reason(store: Store) -> None:
    store.save_quiz(a_quiz())
    unread, waiting = (dataclasses.replace(r, notes=("the note",)) for r in quiz_reports([None, None]))
    unread = dataclasses.replace(
        unread, checks=(Check("answer", Verdict.FAILED, 0, 1, "`nan` isn't\n  a number"),)
    )
    store.record_quiz(a_quiz(), {}, [unread, dataclasses.replace(waiting, outcome=Outcome.UNGRADED)])
    assert [a.reason for a in store.attempts()] == ["`nan` isn't a number", "the note"]


def test_the_same_answer_to_other_numbers_is_another_submission() -> None:
    response = Response({"answer": "1"})
    hashes = {response_sha256(v, response, q) for v in ("v1", "v2") for q in (None, "q1", "q2")}
    assert len(hashes) == 6
    assert quiz_responses(a_quiz(), {2: {"answer": "x"}}) == [
        Response({"answer": ""}),
        Response({"answer": "x"}),
    ]


def test_an_attempt_at_a_quiz_that_isnt_stored_is_refused(store: Store) -> None:
    with pytest.raises(StoreError, match="doesn't fit"):
        store.record_quiz(a_quiz(), {}, quiz_reports([1.0, 0.0]))


# --- looking things up ---


def test_attempts_are_filtered_and_paged(store: Store) -> None:
    given_attempts = [
        attempt(f"s{n % 3}", f"{n:064d}", report(item=f"i{n % 2}", outcome=Outcome.WRONG, score=0.0))
        for n in range(450)
    ]
    store.record_all(given_attempts)
    assert [found.submission for found in store.attempts()] == [a.submission for a in given_attempts]
    assert len(list(store.attempts(student="s1", item="i0"))) == 75
    assert list(store.attempts(student="s1", mode=Mode.PRACTICE)) == []


def test_the_best_attempt_counts(store: Store) -> None:
    for n, score in enumerate([0.5, 1.5, 1.0]):
        store.record(attempt("ada", f"{n:064d}", report(Outcome.PARTIAL, score)))
    store.record(attempt("bob", given=report(Outcome.UNGRADED, None)))
    (best,) = store.best_scores()
    assert (best.student, best.item, best.quiz, best.score, best.max_score) == (
        "ada",
        "softmax",
        None,
        1.5,
        2.0,
    )


def test_code_attempts_keep_source_name_and_hash(store: Store) -> None:
    submission = CodeSubmission("x = 1\n", "s.py", "f" * 64)
    made = Attempt.of_code("ada", submission, report(), started=NOW)
    store.record(made)
    (found,) = store.attempts()
    assert (found.source, found.filename, found.submission) == ("x = 1\n", "s.py", "f" * 64)
    assert found.finished >= found.started
