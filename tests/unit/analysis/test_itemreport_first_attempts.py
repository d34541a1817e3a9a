"""Which attempt is the first, what is missing, and what a blank answer is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from engine.analysis.first_attempts import FirstAttempts, ItemTest, ItemTestKind, collect
from engine.grading import grade_answers
from engine.marks.rubric_marking import RubricMarking
from engine.model import GradeReport, Mode, Outcome, Response, Verdict
from engine.store import Attempt, Store, open_store
from tests.unit.analysis.classes import NOW, choice, code, hand_in
from tests.unit.marks.free_text_class import SECRET, TEXTS, item_variant
from tests.unit.marks.free_text_class import hand_in as hand_in_words

QUIZ, CODE, LOOSE = (
    ItemTest(ItemTestKind.QUIZ, "week"),
    ItemTest(ItemTestKind.CODE),
    ItemTest(ItemTestKind.ANSWERS),
)
RIGHT, WRONG, BLANK = {"answer": "yes"}, {"answer": "no"}, {"answer": ""}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store.db") as opened:
        yield opened


def item(name: str) -> object:
    return choice(name, "yes", {"no": ""})


def found(store: Store) -> FirstAttempts:
    return collect(store, Mode.MARKS, title_of=lambda name: name.upper())


def shares(store: Store, test: ItemTest) -> dict[tuple[str, str], float | None]:
    return {(work.student, work.item): work.share for work in found(store).works[test]}


def test_the_first_is_by_when_it_was_handed_in_and_not_by_when_it_was_graded(store: Store) -> None:
    hand_in(store, "ada", "week", [(item("a"), RIGHT)], at=NOW + timedelta(days=1))
    hand_in(store, "ada", "week", [(item("a"), WRONG)], at=NOW, attempt=1)
    assert shares(store, QUIZ) == {("ada", "a"): 0.0}
    assert found(store).later == 1


def test_of_two_at_the_same_time_the_number_decides(store: Store) -> None:
    hand_in(store, "ada", "week", [(item("a"), RIGHT)], sequence=2)
    hand_in(store, "ada", "week", [(item("a"), WRONG)], sequence=1, attempt=1)
    assert shares(store, QUIZ) == {("ada", "a"): 0.0}


def test_a_blank_answer_is_a_wrong_one_if_something_else_was_answered(store: Store) -> None:
    hand_in(store, "ada", "week", [(item("a"), BLANK), (item("b"), RIGHT)])
    hand_in(store, "bob", "week", [(item("a"), BLANK), (item("b"), BLANK)])
    assert shares(store, QUIZ) == {("ada", "a"): 0.0, ("ada", "b"): 1.0}
    assert {key[1]: tally.blank for key, tally in found(store).missing.items()} == {"a": 1, "b": 1}


def test_a_blank_answer_is_no_attempt_where_another_one_follows(store: Store) -> None:
    hand_in(store, "ada", "week", [(item("a"), BLANK), (item("b"), RIGHT)])
    hand_in(store, "ada", "week", [(item("a"), RIGHT), (item("b"), WRONG)], at=NOW + timedelta(1), attempt=1)
    assert shares(store, QUIZ) == {("ada", "a"): 1.0, ("ada", "b"): 1.0}


def test_what_cannot_be_read_is_no_attempt_and_alone_it_is_missing(store: Store) -> None:
    code(store, "ada", "softmax", {"loads": Verdict.FAILED}, outcome=Outcome.FORMAT_ERROR)
    code(store, "ada", "softmax", {"loads": Verdict.PASSED}, minutes=5)
    code(store, "bob", "softmax", {"loads": Verdict.FAILED}, outcome=Outcome.FORMAT_ERROR)
    assert shares(store, CODE) == {("ada", "softmax"): 1.0}
    assert found(store).missing[CODE, "softmax"].unreadable == 1


def test_a_first_attempt_without_a_mark_is_missing_and_no_later_one_takes_its_place(store: Store) -> None:
    code(store, "ada", "softmax", {"loads": Verdict.PASSED}, outcome=Outcome.UNGRADED)
    code(store, "ada", "softmax", {"loads": Verdict.PASSED}, minutes=5)
    assert shares(store, CODE) == {}
    assert found(store).missing[CODE, "softmax"].ungraded == 1


def test_hints_and_late_tries_take_nothing_off_an_item(store: Store) -> None:
    one = item("a")
    report = grade_answers(one, Response({"answer": "a"}), mode=Mode.MARKS, student="ada")
    assert report.score == 1.0
    cut = replace(report, score=0.25, credit=0.25)
    store.record(Attempt("ada", "1" * 64, cut, NOW, NOW, variant=one, response=Response({"answer": "a"})))
    assert shares(store, LOOSE) == {("ada", "a"): 1.0}


def test_practice_is_another_class_and_tests_are_kept_apart(store: Store) -> None:
    code(store, "ada", "softmax", {"loads": Verdict.PASSED})
    code(store, "bob", "softmax", {"loads": Verdict.PASSED}, mode=Mode.PRACTICE)
    hand_in(store, "ada", "week", [(item("softmax"), WRONG)])
    assert shares(store, CODE) == {("ada", "softmax"): 1.0}
    assert shares(store, QUIZ) == {("ada", "softmax"): 0.0}
    only = collect(store, Mode.MARKS, title_of=str, is_chosen=lambda test: test == CODE)
    assert list(only.works) == [CODE]


def test_titles_come_from_the_variant_or_else_from_the_bank(store: Store) -> None:
    code(store, "ada", "softmax", {"loads": Verdict.PASSED})
    hand_in(store, "ada", "week", [(item("a"), WRONG)])
    titles = {work.title for works in found(store).works.values() for work in works}
    assert titles == {"SOFTMAX", "About a"}


def test_an_item_without_points_has_no_share(store: Store) -> None:
    report = GradeReport("softmax", "v", Outcome.RIGHT, 0.0, 0.0, mode=Mode.MARKS)
    store.record(Attempt("ada", "1" * 64, report, NOW, NOW, source="x"))
    assert found(store).missing[CODE, "softmax"].ungraded == 1


def test_criteria_of_a_rubric_are_listed_with_their_share(store: Store, tmp_path: Path) -> None:
    variant = item_variant(tmp_path)
    for student, reason in TEXTS.items():
        hand_in_words(store, variant, student, reason)
    (work, *_) = found(store).works[ItemTest(ItemTestKind.QUIZ, "week-1")] or [None]
    assert work is None or work.share is None, "nobody has marked it"
    marking = RubricMarking(store, Mode.MARKS, SECRET)
    field = marking.field("week-1/why-weights/reason")
    assert field is not None
    for answer in marking.answers(field):
        points = {"softmax": 1.0, "division": 2.0 if answer.student != "eve" else 0.5}
        assert not marking.give([answer], points, by="mia", at=NOW)
    works = found(store).works[ItemTest(ItemTestKind.QUIZ, "week-1")]
    assert {work.student: [(p.id, p.share) for p in work.parts] for work in works}["eve"] == [
        ("total", 1.0),
        ("reason", pytest.approx(0.5)),
        ("reason.softmax", 1.0),
        ("reason.division", 0.25),
    ]
