"""kill -9 of the server while code is handed in and graded: every hand-in that was taken is graded once."""

from __future__ import annotations

import random
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from engine.course import Course
from engine.model import Mode, Outcome
from engine.store import Store
from engine.store.waiting import HandInState
from tests.live.code_visitor import CodeVisitor
from tests.live.postgres import server
from tests.live.site import LiveSite, new_course

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox of marks runs on Linux")

ROOT = Path(__file__).parents[2]
RIGHT = (ROOT / "problems/code/softmax/solution_numpy.py").read_text(encoding="utf-8")
WRONG = "def softmax(x, axis=-1):\n    return x\n"
STUDENTS = [f"s{number}" for number in range(4)]
PLACES = ["after-hand-in:2", "after-claim:2", "before-record:1", "after-record:2"]
RANDOM = 4
PATIENCE_S = 120.0


class Round:
    """One life of the server, in which students hand in until it is dead."""

    def __init__(self, site: LiveSite, number: int) -> None:
        self.number = number
        self.taken: dict[tuple[str, str], bool] = {}  # student, source → whether it is right
        self.unsure: set[tuple[str, str]] = set()
        self._site = site

    def play(self, hand_ins: int, *, kill_after_s: float | None = None) -> None:
        visitors = {student: CodeVisitor(self._site, student) for student in STUDENTS}
        for visitor in visitors.values():
            # What waits from the round before may bring it to the place of its death at once.
            with suppress(httpx.TransportError, OSError):
                visitor.token()
        threads = [
            threading.Thread(target=self._hand_in, args=(student, visitor, hand_ins))
            for student, visitor in visitors.items()
        ]
        if kill_after_s is not None:
            threads.append(threading.Timer(kill_after_s, self._site.process.kill))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE_S)

    def _hand_in(self, student: str, visitor: CodeVisitor, hand_ins: int) -> None:
        for number in range(hand_ins):
            is_right = number % 2 == 0
            source = f"{RIGHT if is_right else WRONG}\n# {student}, round {self.number}, {number}\n"
            self.unsure.add((student, source))
            # The server may be killed at any time: then nobody was told that it was taken.
            with suppress(httpx.TransportError, OSError, AssertionError):
                visitor.hand_in("softmax", source)
                self.taken[student, source] = is_right
        visitor.close()


class Servers:
    """The servers of one course: one that is killed, and perhaps another one that goes on."""

    def __init__(self, folder: Path, store: str, workers: int) -> None:
        students = tuple(f"{student},{student},{student}@example.edu" for student in STUDENTS)
        self._course = new_course(folder / "course", students=students, store=store)
        self._workers = str(workers)
        self._started: list[LiveSite] = []

    def start(self, crash_at: str = "") -> LiveSite:
        environment = {"SOFTMARK_CRASH_AT": crash_at} if crash_at else None
        self._started.append(LiveSite(self._course, "--workers", self._workers, environment=environment))
        return self._started[-1]

    def open_store(self) -> Store:
        return Course.open(self._course).open_store()

    def close(self) -> None:
        for site in self._started:
            site.kill()


def finish(servers: Servers, site: LiveSite, rounds: list[Round]) -> None:
    """Wait until nothing waits, and see that each hand-in that was taken has one attempt and its mark."""
    with servers.open_store() as store:
        end = time.monotonic() + PATIENCE_S
        while store.waiting.in_state([HandInState.WAITING, HandInState.RUNNING]):
            assert time.monotonic() < end, site.complaints()
            time.sleep(0.1)
        attempts = list(store.attempts(mode=Mode.MARKS))
        by_source = {(attempt.student, attempt.source): attempt for attempt in attempts}
        assert len(by_source) == len(attempts), "an attempt is stored twice"
        lost_twice = {
            (row.student, row.submission) for row in store.waiting.in_state([HandInState.SET_ASIDE])
        }
        for row in store.waiting.in_state([HandInState.SET_ASIDE]):
            # A third kill may come while it is being set aside.
            assert row.losses >= 2, "it was in hand at two kills"
        taken = {key: right for each in rounds for key, right in each.taken.items()}
        unsure = {key for each in rounds for key in each.unsure}
        for key, is_right in taken.items():
            attempt = by_source.pop(key)
            if (attempt.student, attempt.submission) in lost_twice:
                assert attempt.report.outcome is Outcome.UNGRADED
                continue
            assert attempt.report.score == (10.0 if is_right else 0.0), attempt.report
            assert attempt.handed is not None
        assert by_source.keys() <= unsure, "what nobody handed in"
        assert store.upkeep.check().faults == ()


@pytest.mark.parametrize("kind", ["alone", "two on a file", "two on a server"])
def test_a_server_that_is_killed_again_and_again(tmp_path: Path, kind: str) -> None:
    is_alone = kind == "alone"
    store = server().new_store() if kind == "two on a server" else ""
    servers = Servers(tmp_path, store, workers=2 if is_alone else 1)
    try:
        _kill_and_finish(servers, is_alone=is_alone)
    finally:
        servers.close()


def _kill_and_finish(servers: Servers, *, is_alone: bool) -> None:
    rng = random.Random(is_alone)
    rounds: list[Round] = []
    last = None if is_alone else servers.start()
    for number, place in enumerate([*PLACES, *[""] * RANDOM] if is_alone else ["", "after-claim:1", ""]):
        victim = servers.start(place)
        each = Round(victim, number)
        rounds.append(each)
        each.play(hand_ins=4, kill_after_s=None if place else rng.uniform(0.0, 2.0))
        if last is not None:
            rounds.append(Round(last, 100 + number))
            rounds[-1].play(hand_ins=1)
        end = time.monotonic() + PATIENCE_S
        while victim.process.poll() is None:  # it may come to that place only after the last hand-in
            assert time.monotonic() < end, f"it never came to {place}"
            time.sleep(0.05)
        victim.kill()
    last = last or servers.start()
    finish(servers, last, rounds)
    assert sum(len(each.taken) for each in rounds) >= 10
    assert last.stop() == 0, last.complaints()
