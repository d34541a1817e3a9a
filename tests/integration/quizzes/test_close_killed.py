"""``grade quiz close`` that is killed loses nothing, and a second call counts nothing twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from engine.course import Course
from engine.marks.site_quizzes import site_quiz
from engine.model import Mode
from engine.quiz import rules as quiz_rules
from engine.store.drafts import DraftField

ROOT = Path(__file__).parents[3]
PLAN = """title: W
time_limit: 5
credit: [1, 0.5]
sections:
- {items: [t-sum, t-pick], points: 1}
"""


@pytest.mark.parametrize("place", ["sitting-ended", "before-record", "between-rows", "sitting-handed-in"])
def test_a_killed_close_is_completed(classroom, grade, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    classroom.plan(PLAN)
    assert grade("quiz", "new", "week", "--course", "course").code == 0
    course = Course.open(classroom.folder)
    real = quiz_rules.now
    with course.open_store() as store, monkeypatch.context() as clock:
        clock.setattr(quiz_rules, "now", lambda: real() - timedelta(minutes=10))
        quiz = site_quiz(
            store, classroom.quiz("007"), course.policies, bank=course.bank(), mode=Mode.MARKS,
            secret=course.secret,
        )  # fmt: skip
        quiz.begin()
        quiz.save([DraftField(n, "answer", classroom.key("007", n), 0) for n in (1, 2)])
    killed = subprocess.run(
        [sys.executable, str(ROOT / "cli.py"), "quiz", "close", "week", "--course", "course"],
        env={**os.environ, "PYTHONPATH": str(ROOT), "SOFTMARK_CRASH_AT": place},
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL
    said = grade("quiz", "close", "week", "--course", "course")
    assert said.code == 0 and "1 sitting handed in" in said.out
    assert classroom.scores("007") == [("t-sum", 1.0, 1.0), ("t-pick", 1.0, 1.0)]
    assert "0 sittings handed in" in grade("quiz", "close", "week", "--course", "course").out
