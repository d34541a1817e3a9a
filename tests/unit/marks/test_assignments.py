"""What a student has to do: only what is published, with every date that counts for this student."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from engine.course.policies import Policies
from engine.marks.assignments import AssignmentState, AssignmentStatus, assignments_of
from engine.model import CodeSubmission, GradeReport, Mode, Outcome, QuizRules
from engine.quiz import rules as quiz_rules
from engine.store import Attempt, Store, open_store
from tests.unit.quiz.test_credit import BANK, quiz_with
from tests.unit.quiz.test_site_quiz import type_in, window

NOW = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)
RULES = {
    "assignments": {
        "q": {"opens": "2026-11-02", "due": "2026-11-03", "closes": "2026-11-05"},
        "softmax": {"due": "2026-11-10"},
    }
}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store.db") as opened:
        yield opened


def listed(store: Store, now: datetime = NOW, **more: Any) -> dict[str, AssignmentStatus]:
    policies = Policies.model_validate({**RULES, **more})
    entries = assignments_of("ada", store, policies, BANK, mode=Mode.MARKS, now=now)
    return {entry.name: entry for entry in entries}


def test_a_quiz_is_listed_once_it_is_published(store: Store) -> None:
    store.save_quiz(quiz_with(QuizRules()))
    assert set(listed(store)) == {"softmax"}
    store.published.publish("q", "prof", NOW)
    entry = listed(store)["q"]
    assert (entry.state, entry.is_open, entry.questions) == (AssignmentState.OPEN, True, 2)
    assert list(listed(store)) == ["q", "softmax"], "what ends first comes first"


def test_the_dates_of_the_course_decide(store: Store) -> None:
    store.save_quiz(quiz_with(QuizRules()))
    store.published.publish("q", "prof", NOW)
    days = [NOW + timedelta(days=n) for n in (-2, 0, 2, 4)]
    assert [str(listed(store, day)["q"].state) for day in days] == ["not yet open", "open", "late", "closed"]
    assert [listed(store, day)["q"].is_open for day in days] == [False, True, True, False]
    more = {"extensions": [{"student": "ada", "assignment": "q", "days": 5}]}
    longer = listed(store, days[3], **more)["q"]
    assert (longer.state, str(longer.terms.extended)) == (AssignmentState.OPEN, "2026-11-08")
    excused = listed(store, excused=[{"student": "ada", "assignment": "q"}])["q"]
    assert (excused.state, excused.is_open) == (AssignmentState.EXCUSED, False)


def test_a_quiz_is_done_when_all_of_it_is_handed_in(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quiz_rules, "now", lambda: NOW)
    quiz = quiz_with(QuizRules(time_limit=30))
    store.save_quiz(quiz)
    store.published.publish("q", "prof", NOW)
    sitting = window(store, quiz)
    sitting.begin()
    entry = listed(store, extra_time=[{"student": "ada", "percent": 50}])["q"]
    assert (entry.is_running, entry.time_limit, entry.ends) == (True, 45.0, NOW + timedelta(minutes=45))
    type_in(sitting, 2, "a")
    sitting.hand_in([2])
    assert (listed(store)["q"].state, listed(store)["q"].handed_in) == (AssignmentState.OPEN, 1)
    sitting.finish()
    done = listed(store)["q"]
    # Question 1 was left blank: it is recorded, and nothing was handed in for it.
    assert len(list(store.attempts(quiz=quiz.id))) == 2
    assert (done.state, done.handed_in, done.is_open) == (AssignmentState.DONE, 1, False)


def test_code_is_done_once_it_is_handed_in_right_or_wrong(store: Store) -> None:
    code = CodeSubmission("", "softmax.py", "0" * 64)
    for outcome, score in ((Outcome.WRONG, 0.0),):
        report = GradeReport("softmax", "v1", outcome, score, 10.0, mode=Mode.MARKS)
        store.record(Attempt.of_code("ada", code, report, started=NOW))
    entry = listed(store)["softmax"]
    assert (entry.state, entry.is_open, entry.is_quiz) == (AssignmentState.DONE, True, False)
