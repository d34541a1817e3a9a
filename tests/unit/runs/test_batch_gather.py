"""Which attempt counts, who is listed, in which order the columns stand."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from engine.course import Roster, Student
from engine.hand_ins import IntakeProblem, IntakeResult, StudentFiles
from engine.marks.class_results import class_results
from engine.marks.class_table import TableColumn
from engine.model import GradeReport, Mode, Outcome, Part, Quiz, QuizQuestion, RenderedText, Response, Variant
from engine.store import Attempt, Store, open_store

NOW = datetime(2026, 11, 27, tzinfo=UTC)
WORD = RenderedText("w", "<p>w</p>", "w")


@pytest.fixture
def store(tmp_path: Path):
    with open_store(tmp_path / "store.db") as opened:
        yield opened


def give(
    store: Store,
    student: str,
    score: float | None,
    sha: str = "a",
    item: str = "softmax",
    mode: Mode = Mode.MARKS,
    outcome: Outcome = Outcome.UNGRADED,
) -> None:
    if score is not None:
        outcome = Outcome.RIGHT if score == 2 else Outcome.PARTIAL if score else Outcome.WRONG
    report = GradeReport(item, "v", outcome, score, 2.0, student=student, mode=mode)
    store.record(Attempt(student, sha * 64, report, NOW, NOW, filename=f"{sha}.py", reason=f"reason {sha}"))


def results(store: Store, **more):
    return list(class_results(store, mode=Mode.MARKS, title_of=str.upper, **more))


def counting(store: Store) -> tuple[str, float | None, int]:
    ((item,),) = (found.items for found in results(store))
    return str(item.report.outcome), item.report.score, item.attempts


@pytest.mark.parametrize(
    ("given", "counts"),
    [
        ([1.0], ("partial", 1.0)),
        ([0.0, 1.0, 0.5], ("partial", 1.0)),
        ([2.0, 1.0], ("right", 2.0)),
        # An ungraded attempt may still beat the best one, unless that has full marks.
        ([1.0, None], ("ungraded", None)),
        ([None, 1.0], ("ungraded", None)),
        ([2.0, None], ("right", 2.0)),
        ([None, None], ("ungraded", None)),
    ],
)
def test_the_best_attempt_counts_unless_an_ungraded_one_could_beat_it(
    store: Store, given: list[float | None], counts: tuple[str, float | None]
) -> None:
    for sha, score in zip("abc", given, strict=False):
        give(store, "ada", score, sha)
    assert counting(store) == (*counts, len(given))


def test_an_unreadable_attempt_never_hides_a_score(store: Store) -> None:
    give(store, "ada", None, "a", outcome=Outcome.FORMAT_ERROR)
    assert counting(store) == ("format_error", None, 1)
    give(store, "ada", 0.0, "b")
    assert counting(store) == ("wrong", 0.0, 2)


def test_attempts_of_practice_are_not_seen(store: Store) -> None:
    give(store, "ada", 2.0, mode=Mode.PRACTICE)
    give(store, "ada", 1.0)
    assert counting(store) == ("partial", 1.0, 1)


def test_everybody_of_roster_store_collection_and_problems_is_listed(store: Store) -> None:
    give(store, "ada", 2.0)
    give(store, "gone", 2.0, "b")
    problem = IntakeProblem("kim/x.pdf", "no", "", "kim")
    found = results(
        store,
        roster=Roster((Student("ada", "Ada L."), Student("zoe", "Zoe"))),
        intake=IntakeResult((StudentFiles("bob", ()),)),
        problems=(problem, IntakeProblem("y", "no")),
    )
    assert [(r.student, r.name, len(r.items), r.in_roster) for r in found] == [
        ("ada", "Ada L.", 1, True),
        ("bob", "", 0, False),
        ("gone", "", 1, False),
        ("kim", "", 0, False),
        ("zoe", "Zoe", 0, True),
    ]
    assert [r.problems for r in found] == [(), (), (), (problem,), ()]


def test_without_roster_and_collection_the_store_says_who(store: Store) -> None:
    give(store, "bob", 2.0)
    give(store, "ada", None, "b")
    assert [(r.student, r.in_roster) for r in results(store)] == [("ada", True), ("bob", True)]


def test_quizzes_come_before_code_in_the_order_of_their_questions(store: Store) -> None:
    questions = tuple(
        QuizQuestion(n, Variant(f"v{n}", item, "v", f"Title {n}", WORD, (Part("answer", "token", 2.0),)), 2.0)
        for n, item in enumerate(("zebra", "apple"), 1)
    )
    quiz = Quiz("q1", "week-1", "Week 1", "ada", questions)
    store.save_quiz(quiz)
    reports = [
        GradeReport(q.variant.item, "v", Outcome.RIGHT, 2.0, 2.0, mode=Mode.MARKS, student="ada")
        for q in questions
    ]
    store.record_quiz(quiz, {1: {"answer": "x"}}, reports, filename="q.yaml")
    give(store, "ada", 1.0, item="attention")
    (found,) = results(store)
    assert [(i.column.id, i.column.title) for i in found.items] == [
        ("week-1/zebra", "Title 1"),
        ("week-1/apple", "Title 2"),
        ("attention", "ATTENTION"),
    ]
    first, second, code = found.items
    assert (first.answers, second.answers, code.answers) == ({"answer": "x"}, {"answer": ""}, {})
    assert first.variant == questions[0].variant and code.variant is None
    assert (code.filename, code.submission, code.reason) == ("a.py", "a" * 64, "reason a")
    assert Response(first.answers) == Response({"answer": "x"})


def test_the_same_item_in_a_quiz_and_alone_are_two_columns() -> None:
    quiz, code = TableColumn("week-1", 1, "softmax"), TableColumn("~", 0, "softmax")
    assert {quiz.id, code.id} == {"week-1/softmax", "softmax"} and quiz < code


def test_the_roster_and_everybody_in_the_store_are_listed_with_and_without_a_collection(store: Store) -> None:
    give(store, "guest", 1.0)
    roster = Roster((Student("ada"),))
    assert [(r.student, r.in_roster, len(r.items)) for r in results(store, roster=roster)] == [
        ("ada", True, 0),
        ("guest", False, 1),
    ]
    # Another download changes nothing about who was graded.
    assert [r.student for r in results(store, roster=roster, intake=IntakeResult(()))] == ["ada", "guest"]


def test_some_students_only_and_when_their_work_came(store: Store) -> None:
    report = GradeReport("softmax", "v", Outcome.RIGHT, 2.0, 2.0, student="ada", mode=Mode.MARKS)
    came = datetime(2026, 11, 20, 9, 15, tzinfo=UTC)
    store.record(Attempt("ada", "a" * 64, report, NOW, NOW, handed=came, marked_late=True))
    give(store, "bob", 1.0, "b")
    (ada,) = results(store, only=["ada", "nobody"])
    assert (ada.student, ada.items[0].handed, ada.items[0].marked_late) == ("ada", came, True)
    (bob,) = results(store, only=["bob"])
    assert (bob.items[0].handed, bob.items[0].marked_late) == (None, False)
