"""The course's rules from the store to results: code and quizzes, missing work, marks by hand."""

from __future__ import annotations

import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from engine.course import Roster, Student
from engine.course.policies import Policies
from engine.marks.class_results import class_results
from engine.marks.class_table import ColumnMark
from engine.model import (
    GradeReport,
    Mode,
    Outcome,
    Part,
    Quiz,
    QuizQuestion,
    QuizRules,
    RenderedText,
    ResultDisclosure,
    Variant,
)
from engine.quiz import rules as clock
from engine.store import Attempt, HandMark, Store, open_store
from tests.counted_statements import counting

NOW = datetime(2026, 12, 24, tzinfo=UTC)
DUE = datetime(2026, 11, 7, tzinfo=UTC)
WORD = RenderedText("w", "<p>w</p>", "w")
RULES: dict[str, Any] = {"due": "2026-11-06", "late": {"percent": 10}}
ROSTER = Roster((Student("ada", "Ada"), Student("bob", "Bob")))


@pytest.fixture
def store(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(clock, "now", lambda: NOW)
    with open_store(tmp_path / "store.db") as opened:
        yield opened


def report(item: str, score: float, full: float, mode: Mode = Mode.MARKS) -> GradeReport:
    outcome = Outcome.RIGHT if score == full else Outcome.PARTIAL if score else Outcome.WRONG
    return GradeReport(item, "v", outcome, score, full, mode=mode)


def hand_in(store: Store, student: str, score: float, handed: datetime | None, sha: str = "a") -> None:
    store.record(Attempt(student, sha * 64, report("softmax", score, 10), NOW, NOW, handed=handed))


def drawn(student: str, rules: QuizRules | None = None) -> Quiz:
    variants = [
        Variant(f"v{n}", f"item-{n}", "v", f"Q {n}", WORD, (Part("answer", "number", 2.0),)) for n in (1, 2)
    ]
    questions = tuple(QuizQuestion(n, v, 2.0) for n, v in enumerate(variants, 1))
    return Quiz(f"q-{student}", "week-1", "Week 1", student, questions, rules=rules or QuizRules())


def answer(store: Store, quiz: Quiz, *scores: float) -> None:
    reports = [report(f"item-{n}", score, 2.0) for n, score in enumerate(scores, 1)]
    store.record_quiz(quiz, {n: {"answer": "1"} for n in (1, 2)}, reports)


def results(store: Store, policies: dict[str, Any] | None = None, mode: Mode = Mode.MARKS):
    found = class_results(
        store,
        mode=mode,
        title_of=str.upper,
        roster=ROSTER,
        policies=Policies.model_validate(policies or {}),
        points_of={"softmax": 10.0}.get,
    )
    return {one.student: one for one in found}


def marks(found) -> dict[str, ColumnMark | None]:
    by_work = {item.column.id: item.mark for item in found.items}
    return by_work | {column.id: mark for column, mark in found.without_work}


def test_without_rules_there_are_no_marks_beside_the_scores(store: Store) -> None:
    hand_in(store, "ada", 10, DUE + timedelta(days=3))
    ada = results(store, {"timezone": "Europe/Berlin", "unlisted_students": "refuse"})["ada"]
    assert marks(ada) == {"softmax": None} and ada.row().total() == 10


def test_late_code_counts_less_and_the_total_says_so(store: Store) -> None:
    hand_in(store, "ada", 10, DUE + timedelta(hours=30))
    ada = results(store, {"assignments": {"softmax": RULES}})["ada"]
    assert marks(ada) == {"softmax": ColumnMark(10, 8, ("2 days late: 20 % off, 8 of 10",))}
    row = ada.row()
    assert (row.cells["softmax"].score, row.cells["softmax"].counted, row.total()) == (10, 8, 8)


def test_the_attempt_that_counts_is_the_one_shown(store: Store) -> None:
    hand_in(store, "ada", 10, DUE - timedelta(days=2), "a")
    hand_in(store, "ada", 4, DUE - timedelta(days=1), "b")
    rules = {"assignments": {"softmax": {"attempts": {"which": "last"}}}}
    (item,) = results(store, rules)["ada"].items
    assert (item.submission, item.attempts, item.report.score) == ("b" * 64, 2, 4)


def test_missing_work_is_blank_or_a_zero_as_the_course_says(store: Store) -> None:
    store.save_quizzes([drawn("ada"), drawn("bob")])
    hand_in(store, "ada", 10, None)
    rules = {"assignments": {"softmax": RULES, "week-1": RULES, "no-such-thing": RULES}}
    blank = results(store, rules)["bob"]
    assert marks(blank) == {} and blank.row().total() is None and not blank.row().handed_in
    zero = results(store, rules | {"missing": "zero"})["bob"]
    told = ("nothing was handed in by the due date: counts as 0",)
    expected = {name: ColumnMark(None, 0, told) for name in ("week-1/item-1", "week-1/item-2", "softmax")}
    assert marks(zero) == expected and zero.row().total() == 0 and not zero.row().handed_in
    assert [(c.id, c.max_score, c.title) for c in zero.columns] == [
        ("week-1/item-1", 2, "Q 1"),
        ("week-1/item-2", 2, "Q 2"),
        ("softmax", 10, "SOFTMAX"),
    ]


def test_who_has_no_quiz_misses_none(store: Store) -> None:
    store.save_quiz(drawn("ada"))
    rules = {"missing": "zero", "assignments": {"week-1": RULES}}
    assert marks(results(store, rules)["bob"]) == {}


def test_excused_work_is_out_of_total_and_full_points(store: Store) -> None:
    store.save_quiz(drawn("ada"))
    answer(store, drawn("ada"), 2, 1)
    hand_in(store, "ada", 6, None)
    rules = {"excused": [{"student": who, "assignment": "softmax"} for who in ("ada", "bob")]}
    both = results(store, rules)
    row = both["ada"].row()
    assert row.total() == 3 and row.maximum(both["ada"].columns) == 4
    assert marks(both["bob"]) == {"softmax": ColumnMark(None, None, ("excused",), excused=True)}
    assert both["bob"].row().total() is None


def test_a_mark_by_hand_stands_without_rules_and_without_work(store: Store) -> None:
    hand_in(store, "ada", 10, None)
    store.save_quiz(drawn("bob"))
    for student, column, score in (("ada", "softmax", 3.5), ("bob", "week-1/item-2", 1.0)):
        store.hand_marks.add(HandMark(student, column, score, False, "oral", "prof", NOW))
    both = results(store)
    assert marks(both["ada"]) == {
        "softmax": ColumnMark(10, 3.5, ("set by prof: 3.5 of 10",), comment="oral", by_hand=True)
    }
    assert marks(both["bob"]) == {
        "week-1/item-2": ColumnMark(None, 1, ("set by prof: 1 of 2",), comment="oral", by_hand=True)
    }
    assert both["bob"].row().total() == 1
    assert marks(results(store, mode=Mode.PRACTICE)["ada"]) == {}, "practice knows no marks"


def test_a_mark_by_hand_survives_a_regrade(store: Store) -> None:
    hand_in(store, "ada", 4, None)
    store.hand_marks.add(HandMark("ada", "softmax", 7, False, "", "prof", NOW))
    (old,) = store.attempts(student="ada")
    store.regrades.replace(
        [(old, replace(old, report=report("softmax", 10, 10)))], run="r", by="x", at=NOW, cause="key"
    )
    assert marks(results(store)["ada"]) == {
        "softmax": ColumnMark(10, 7, ("set by prof: 7 of 10",), by_hand=True)
    }


@pytest.mark.parametrize(
    ("extension", "shown"),
    [([], ResultDisclosure.SOLUTION), ([{"student": "ada", "days": 60}], ResultDisclosure.SCORE)],
)
def test_an_extension_covers_the_quizs_own_deadline(
    store: Store, extension: list[dict[str, Any]], shown: ResultDisclosure
) -> None:
    rules = QuizRules(deadline=DUE, show_before=ResultDisclosure.SCORE, show_after=ResultDisclosure.SOLUTION)
    store.save_quiz(drawn("ada", rules))
    answer(store, drawn("ada", rules), 2, 1)
    found = results(store, {"assignments": {"week-1": RULES}, "extensions": extension})["ada"]
    assert {item.disclosure for item in found.items} == {shown}


def test_feedback_waits_for_its_release(store: Store) -> None:
    hand_in(store, "ada", 10, None)
    for release, shown in (
        ("2026-12-25", ResultDisclosure.NOTHING),
        ("2026-12-23", ResultDisclosure.FEEDBACK),
    ):
        (item,) = results(store, {"assignments": {"softmax": {"release": release}}})["ada"].items
        assert item.disclosure is shown


def test_a_repeated_choice_is_no_attempt_where_attempts_are_limited(store: Store) -> None:
    part = Part("answer", "single_choice", 2.0)
    variant = Variant("v1", "item-1", "v", "Q", WORD, (part,))
    quiz = Quiz("q", "week-1", "W", "ada", (QuizQuestion(1, variant, 2.0),), rules=QuizRules(attempts=2))
    store.save_quiz(quiz)
    for text, score in (("a", 1.0), ("b", 0.0)):
        store.record_quiz(quiz, {1: {"answer": text}}, [report("item-1", score, 2.0)])
    rules = {"assignments": {"week-1": {"attempts": {"which": "average"}}}}
    assert marks(results(store, rules)["ada"]) == {"week-1/item-1": ColumnMark(1, 1)}


def large_class(store: Store, count: int) -> dict[str, float]:
    """Make a class with code, a quiz that half of it answered, comments and regrades; return its totals."""
    totals = {}
    for number in range(count):
        student, score = f"s{number:03}", float(number % 10)
        first = replace(drawn(student), id=f"first-{student}")
        second = replace(drawn(student), attempt=2)
        store.save_quizzes([first, second])
        stored = Attempt(student, "a" * 64, report("softmax", score, 10), NOW, NOW, source="x = 1")
        store.record(stored)
        hand_in(store, student, 0.0, None, "b")
        store.code_comments.add(stored, file="", line=1, text=f"line of {student}", by="ivy", at=NOW)
        better = replace(stored, report=report("softmax", score + 0.5, 10))
        store.regrades.replace(
            [(stored, better)], run=f"run-{student}", by="ivy", at=NOW, cause="a new check"
        )
        if number % 2:
            answer(store, second, 2.0, 1.0)
        totals[student] = score + 0.5 + (3.0 if number % 2 else 0.0)
    return totals


def test_a_class_is_read_by_few_statements_however_large_it_is(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = {"missing": "zero", "assignments": {"week-1": {"due": "2026-11-06"}}}

    def read(of: Store) -> dict[str, Any]:
        everybody = class_results(
            of,
            mode=Mode.MARKS,
            title_of=str.upper,
            policies=Policies.model_validate(rules),
            points_of={"softmax": 10.0}.get,
        )
        return {one.student: one for one in everybody}

    taken = []
    for count in (10, 60):
        with open_store(tmp_path / f"{count}.db") as many:
            totals = large_class(many, count)
            with counting() as seen:
                found = read(many)
            taken.append(sum(statement != "BEGIN" for statement in seen))
            # Everybody has what is theirs.
            assert {student: one.row().total() for student, one in found.items()} == totals
            for number, (student, one) in enumerate(found.items()):
                code = next(item for item in one.items if item.column.id == "softmax")
                assert [comment.text for comment in code.comments] == [f"line of {student}"]
                assert [change.after for change in code.regraded] == [number % 10 + 0.5]
                missing = {column.id for column, _ in one.without_work}
                assert missing == (set() if number % 2 else {"week-1/item-1", "week-1/item-2"})
            # A very large class is read in parts, to the same end.
            with monkeypatch.context() as patch, counting() as in_parts:
                patch.setattr(sys.modules[class_results.__module__], "_PART", 7)
                assert read(many) == found
            assert len(in_parts) > len(seen)
    assert taken[0] == taken[1] <= 7, seen
