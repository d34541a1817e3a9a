"""Marks by hand and regrades: what was decided before stays on record."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from engine.model import CodeSubmission, GradeReport, Mode, Outcome
from engine.store import Attempt, HandMark, Store

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def attempt(score: float, *, version: str = "v1", submission: str = "a" * 64) -> Attempt:
    outcome = Outcome.RIGHT if score == 1 else Outcome.WRONG
    report = GradeReport("softmax", version, outcome, score, 1.0, mode=Mode.MARKS)
    return Attempt.of_code("ada", CodeSubmission("x = 1", "softmax.py", submission), report, started=NOW)


def test_the_newest_decision_holds_and_all_are_kept(store: Store) -> None:
    first = HandMark("ada", "softmax", 0.5, False, "half right", "prof", NOW)
    later = replace(first, score=None, comment="no, as graded", at=NOW + timedelta(hours=1))
    for mark in (first, later, replace(first, column="sdpa", excused=True, score=None)):
        store.hand_marks.add(mark)
    assert store.hand_marks.current()["ada", "softmax"] == later
    assert store.hand_marks.current()["ada", "sdpa"].excused
    assert store.hand_marks.history(column="softmax") == [first, later]


def test_of_two_who_decide_at_once_one_is_first(store: Store) -> None:
    first = HandMark("ada", "softmax", 0.5, False, "", "prof", NOW)
    assert store.hand_marks.add(replace(first, column="sdpa"), after=0)
    with ThreadPoolExecutor(6) as pool:
        marks = [replace(first, score=number / 10) for number in range(6)]
        stored = list(pool.map(lambda mark: store.hand_marks.add(mark, after=0), marks))
    assert sorted(stored) == [False] * 5 + [True]
    assert store.hand_marks.history(column="softmax") == [marks[stored.index(True)]]
    assert not store.hand_marks.add(first, after=2) and store.hand_marks.add(first, after=1)


def test_an_empty_decision_takes_the_earlier_one_back(store: Store) -> None:
    first = HandMark("ada", "softmax", 0.5, False, "", "prof", NOW)
    store.hand_marks.add(first)
    store.hand_marks.add(replace(first, score=None))
    assert store.hand_marks.current() == {}
    assert len(store.hand_marks.history()) == 2


def test_a_regrade_replaces_the_report_and_keeps_the_old_one(store: Store) -> None:
    old = store.record(attempt(0.0))
    new = replace(old, report=attempt(1.0, version="v2").report)
    left = store.regrades.replace([(old, new)], run="r1", by="prof", at=NOW, cause="key corrected")
    assert left == []
    assert [a.report.score for a in store.attempts()] == [1.0]
    (change,) = store.regrades.history(student="ada")
    assert (change.old.score, change.new.score, change.old.item_version) == (0.0, 1.0, "v1")
    assert (change.by, change.cause, change.at) == ("prof", "key corrected", NOW)


def test_an_attempt_that_changed_meanwhile_is_left_alone(store: Store) -> None:
    old = store.record(attempt(0.0))
    between = replace(old, report=attempt(0.0, version="v3").report)
    store.regrades.replace([(old, between)], run="r1", by="prof", at=NOW, cause="")
    new = replace(old, report=attempt(1.0, version="v2").report)
    assert store.regrades.replace([(old, new)], run="r2", by="ta", at=NOW, cause="") == [old]
    assert [a.report.item_version for a in store.attempts()] == ["v3"]
    assert len(list(store.regrades.history())) == 1


def test_when_it_was_handed_in_is_kept(store: Store) -> None:
    told = replace(attempt(1.0), handed=NOW - timedelta(days=1), marked_late=True, sequence=2)
    store.record(told)
    (kept,) = store.attempts()
    assert (kept.handed, kept.marked_late, kept.sequence) == (NOW - timedelta(days=1), True, 2)


def test_foreign_texts_about_a_decision_are_kept_as_far_as_a_database_can(store: Store) -> None:
    mark = HandMark("ada", "softmax", 0.5, False, "a\0b\ud800 ü", "p" * 300, NOW)
    store.hand_marks.add(mark)
    assert store.hand_marks.history() == [replace(mark, comment="a\ufffdb? ü", by="p" * 200)]
    old = store.record(attempt(0.0))
    new = replace(old, report=attempt(1.0).report)
    store.regrades.replace([(old, new)], run="r1", by="p\0" * 200, at=NOW, cause="\0")
    (change,) = store.regrades.history()
    assert (change.by, change.cause) == ("p\ufffd" * 100, "\ufffd")
