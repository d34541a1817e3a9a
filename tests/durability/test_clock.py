"""A clock that is set back changes no order, no mark and no decision."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import engine.store.attempt
from engine.course.policies import Policies
from engine.marks.class_results import class_results
from engine.model import CodeSubmission, GradeReport, Mode, Outcome
from engine.store import Attempt, HandMark, Store, open_store

NOON = datetime(2026, 3, 29, 12, tzinfo=UTC)


class Clock:
    """What stands for ``datetime`` where the engine asks for the time."""

    moment = NOON

    @classmethod
    def now(cls, zone: object) -> datetime:
        assert zone is UTC
        return cls.moment


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> type[Clock]:
    monkeypatch.setattr(engine.store.attempt, "datetime", Clock)
    monkeypatch.setattr(Clock, "moment", NOON)
    return Clock


def hand_in(store: Store, clock: type[Clock], score: float, letter: str) -> Attempt:
    report = GradeReport("softmax", "v", Outcome.PARTIAL, score, 10.0, mode=Mode.MARKS)
    submission = CodeSubmission(f"x = {score}", "softmax.py", letter * 64)
    return store.record(Attempt.of_code("ada", submission, report, started=clock.now(UTC)))


def counted(store: Store, which: str) -> float | None:
    rules = Policies.model_validate({"assignments": {"default": {"attempts": {"which": which}}}})
    (results,) = class_results(store, mode=Mode.MARKS, title_of=str, policies=rules)
    return results.row().cells["softmax"].counted


def test_the_last_attempt_is_the_last_that_came(tmp_path: Path, clock: type[Clock]) -> None:
    with open_store(tmp_path / "store.db") as store:
        hand_in(store, clock, 3.0, "a")
        clock.moment = NOON - timedelta(days=400)
        hand_in(store, clock, 7.0, "b")
        clock.moment = NOON - timedelta(days=200)
        last = hand_in(store, clock, 5.0, "c")
        assert (last.started, last.finished) == (NOON, NOON)
        assert list(store.attempts())[-1] == last, "what record returns is what is stored"
        assert [counted(store, which) for which in ("first", "best", "last")] == [3.0, 7.0, 5.0]
        clock.moment = NOON + timedelta(hours=1)
        assert hand_in(store, clock, 6.0, "d").started == NOON + timedelta(hours=1)
        assert counted(store, "last") == 6.0


def test_an_attempt_that_had_to_be_graded_again_keeps_its_place(tmp_path: Path, clock: type[Clock]) -> None:
    lost = GradeReport("softmax", "v", Outcome.UNGRADED, None, 10.0, mode=Mode.MARKS)
    submission = CodeSubmission("x = 1", "softmax.py", "a" * 64)
    with open_store(tmp_path / "store.db") as store:
        store.record(Attempt.of_code("ada", submission, lost, started=NOON))
        clock.moment = NOON + timedelta(hours=1)
        hand_in(store, clock, 7.0, "b")
        clock.moment = NOON + timedelta(hours=2)
        hand_in(store, clock, 4.0, "a")
        assert [counted(store, which) for which in ("first", "last")] == [4.0, 7.0]


def test_the_newest_decision_holds_whatever_the_clock_said(tmp_path: Path) -> None:
    with open_store(tmp_path / "store.db") as store:
        for score, days in ((1.0, 0), (2.0, -400)):
            at = NOON + timedelta(days=days)
            store.hand_marks.add(HandMark("ada", "softmax", score, False, "", "prof", at))
        assert store.hand_marks.current()["ada", "softmax"].score == 2.0


def test_another_item_or_person_moves_nothing(tmp_path: Path, clock: type[Clock]) -> None:
    with open_store(tmp_path / "store.db") as store:
        hand_in(store, clock, 3.0, "a")
        clock.moment = NOON - timedelta(days=1)
        report = GradeReport("softmax", "v", Outcome.WRONG, 0.0, 10.0, mode=Mode.MARKS)
        for student, item in (("ada", "sdpa"), ("bob", "softmax")):
            made = Attempt(student, "a" * 64, replace(report, item=item), clock.moment, clock.moment)
            assert store.record(made).started == clock.moment
