"""A hundred times kill -9: no mark is lost, none is doubled, and only what is missing is done again.

The graders are real runs of ``grade batch`` over a class with code and quizzes. They are killed at named
places of the code path, and at random moments; the sandbox that runs the students' code is killed too.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

from engine.model import Outcome
from engine.store import open_store
from tests.durability.classroom import STUDENTS
from tests.durability.disturbed import Class

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox of marks runs on Linux")

RECORDING = [f"{place}:{n}" for place in ("before-record", "between-rows", "after-record") for n in (1, 2, 3)]
REPORTING = ["before-pages", f"between-pages:{len(STUDENTS) // 2}", "before-gradebook", "after-pages"]
RANDOM = 8
ON_SQLITE, ON_SERVER = 3, 1
CHANGING = ["in-hand-mark", "in-regrade:1", "in-regrade:4"]
ZYGOTES = 2 * 5


def test_these_are_a_hundred() -> None:
    rounds = ON_SQLITE + ON_SERVER
    assert rounds * (len(RECORDING) + RANDOM + len(REPORTING)) + 2 * len(CHANGING) + ZYGOTES == 100


@pytest.mark.parametrize("number", range(ON_SQLITE + ON_SERVER))
def test_a_grader_that_is_killed_again_and_again(a_class: Class, number: int) -> None:
    rng = random.Random(number)
    on_server = number >= ON_SQLITE
    a_class.begin_again(on_server=on_server)
    moments = [*RECORDING, *[""] * RANDOM]
    rng.shuffle(moments)
    for place in moments:
        after_s = None if place else rng.uniform(0, 0.6)
        for _ in range(8):
            if a_class.grade(crash_at=place, kill_after_s=after_s).was_killed:
                break
            # It came to the end: too little was missing, or the machine was quick.
            a_class.begin_again(on_server=on_server)
            after_s = None if after_s is None else after_s / 2
        else:
            pytest.fail(f"no grader was killed at {place or 'a moment'}")
    for place in REPORTING:
        assert a_class.grade(crash_at=place).was_killed, place
    a_class.finish()


@pytest.mark.parametrize("on_server", [False, True])
def test_a_decision_or_a_regrade_that_is_killed_is_made_whole_or_not_at_all(
    a_class: Class, on_server: bool
) -> None:
    a_class.begin_again(on_server=on_server)
    a_class.finish()
    run = a_class.graders.run
    decide = ("decide", a_class.store, "s01", "softmax", 7)
    regrade = ("regrade", a_class.store, "v2")
    assert run(*decide, crash_at="in-hand-mark").was_killed
    for place in CHANGING[1:]:
        assert run(*regrade, crash_at=place).was_killed
        a_class.attempts()  # as before
    with open_store(a_class.store) as store:
        assert store.hand_marks.history() == []
        assert list(store.regrades.history()) == []
    assert run(*decide).code == run(*regrade).code == 0
    with open_store(a_class.store) as store:
        assert [mark.score for mark in store.hand_marks.history()] == [7]
        changes = list(store.regrades.history())
        assert {(c.student, c.new.item, c.submission) for c in changes} == a_class.wanted.keys()
        assert len(changes) == len(a_class.wanted)
        assert {attempt.report.item_version for attempt in store.attempts()} == {"v2"}


def test_zygotes_that_are_killed_cost_no_mark(a_class: Class) -> None:
    sandbox = a_class.graders.sandbox
    rng = random.Random(0)
    killed: set[int] = set()
    ended = threading.Event()

    def kill() -> None:
        seen = 0
        while len(killed) < ZYGOTES - 2 and not ended.is_set():
            if len(sandbox.sources) > seen:  # another job is in hand
                time.sleep(rng.uniform(0, 0.05))
                for zygote in set(sandbox.zygotes()) - killed:
                    os.kill(zygote, signal.SIGKILL)
                    killed.add(zygote)
                seen = len(sandbox.sources)
            time.sleep(0.005)

    while len(killed) < ZYGOTES - 2:
        a_class.begin_again(on_server=False)
        sandbox.sources.clear()
        ended.clear()
        killer = threading.Thread(target=kill)
        killer.start()
        end = a_class.graders.run(*a_class.room.command("--workers", 2))
        ended.set()
        killer.join()
        assert end.code in (0, 3), "everything is graded, or waits for a grade"
        for key, attempt in a_class.room.attempts().items():
            if attempt.report.outcome is Outcome.UNGRADED:
                assert attempt.report.score is None
            else:
                # without a counterexample, where the sandbox was lost while one was looked for
                assert attempt.report.score == a_class.wanted[key].report.score, "never 0 for our fault"
    assert a_class.graders.run(*a_class.room.command("--workers", 2)).code == 0
    assert a_class.room.books() == a_class.books


SLOW = """import time

import numpy as np

time.sleep(2)

def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)
"""


def test_a_zygote_that_is_killed_under_a_running_child(a_class: Class, tmp_path: Path) -> None:
    a_class.begin_again(on_server=False)
    (tmp_path / "in/s01").mkdir(parents=True)
    (tmp_path / "in/s01/softmax.py").write_text(SLOW)
    command = a_class.room.command("--workers", 1)
    command[2] = tmp_path / "in"
    sandbox = a_class.graders.sandbox
    pids = sandbox.zygotes()
    assert len(pids) >= 2

    def kill() -> None:
        while not sandbox.sources:  # the job has come to the sandbox: its child is made, and sleeps
            time.sleep(0.01)
        time.sleep(0.5)
        for zygote in pids:
            os.kill(zygote, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    sandbox.sources.clear()
    killer.start()
    end = a_class.graders.run(*command)
    killer.join()
    (attempt,) = a_class.room.attempts().values()
    if attempt.settled:
        assert attempt.report.score == attempt.report.max_score, "it was run again"
    else:
        assert (attempt.report.outcome, attempt.report.score, end.code) == (Outcome.UNGRADED, None, 3)
    assert a_class.graders.run(*command).code == 0
    (attempt,) = a_class.room.attempts().values()
    assert attempt.report.score == attempt.report.max_score
