"""kill -9 of the server while code is handed in and graded: every hand-in that was taken is graded once."""

from __future__ import annotations

import random
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx2 as httpx
import pytest

from engine.model import Mode, Outcome
from engine.store.waiting import HandInState
from tests.live.postgres import server
from tests.live.served import LiveSite, Visitor, make_course

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

    def play(self, hand_ins: int) -> None:
        visitors = self._site.visitors(STUDENTS)
        threads = [
            threading.Thread(target=self._hand_in, args=(student, visitor, hand_ins))
            for student, visitor in visitors.items()
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE_S)

    def _hand_in(self, student: str, visitor: Visitor, hand_ins: int) -> None:
        for number in range(hand_ins):
            is_right = number % 2 == 0
            source = f"{RIGHT if is_right else WRONG}\n# {student}, round {self.number}, {number}\n"
            self.unsure.add((student, source))
            # The server may be killed at any time: then nobody was told that it was taken.
            with suppress(httpx.TransportError, OSError, AssertionError):
                visitor.hand_in("softmax", source)
                self.taken[student, source] = is_right
        visitor.close()


@pytest.fixture
def course(tmp_path: Path) -> Path:
    return make_course(tmp_path, STUDENTS)


@pytest.fixture(params=["sqlite", "postgresql"])
def sites(course: Path, request: pytest.FixtureRequest) -> Iterator[list[LiveSite]]:
    """A server on a file, or two that share a PostgreSQL store."""
    if request.param == "sqlite":
        made = [LiveSite(course, "--workers", "2")]
    else:
        address = server().new_store()
        made = [LiveSite(course, "--workers", "1", store=address) for _ in range(2)]
    yield made
    for site in made:
        site.kill()


def finish(site: LiveSite, rounds: list[Round]) -> None:
    """Wait until nothing waits, and see that each hand-in that was taken has one attempt and its mark."""
    with site.open_store() as store:
        end = time.monotonic() + PATIENCE_S
        while store.waiting.in_state([HandInState.WAITING, HandInState.RUNNING]):
            assert time.monotonic() < end, site.log
            time.sleep(0.1)
        attempts = list(store.attempts(mode=Mode.MARKS))
        by_source = {(attempt.student, attempt.source): attempt for attempt in attempts}
        assert len(by_source) == len(attempts), "an attempt is stored twice"
        lost_twice = {
            (row.student, row.submission) for row in store.waiting.in_state([HandInState.SET_ASIDE])
        }
        for row in store.waiting.in_state([HandInState.SET_ASIDE]):
            assert row.losses == 2, "it was in hand at two kills"
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


def test_a_server_that_is_killed_again_and_again(sites: list[LiveSite]) -> None:
    rng = random.Random(len(sites))
    rounds: list[Round] = []
    moments = [*PLACES, *[""] * RANDOM] if len(sites) == 1 else ["", "after-claim:1", ""]
    others = sites[1:]
    for other in others:
        other.start()
    for number, place in enumerate(moments):
        victim = sites[0]
        victim.start({"SOFTMARK_CRASH_AT": place} if place else None)
        each = Round(victim, number)
        rounds.append(each)
        if not place:
            timer = threading.Timer(rng.uniform(0.2, 4.0), victim.kill)
            timer.start()
        each.play(hand_ins=4)
        for other in others:
            more = Round(other, 100 + number)
            rounds.append(more)
            more.play(hand_ins=1)
        if place:
            end = time.monotonic() + PATIENCE_S
            while victim.is_alive:  # it may come to that place only after the last hand-in
                assert time.monotonic() < end, f"it never came to {place}"
                time.sleep(0.05)
        else:
            timer.join()
        victim.kill()
    if not others:
        sites[0].start()
    finish(sites[-1], rounds)
    assert sum(len(each.taken) for each in rounds) >= 10
    for site in sites:
        if site.is_alive:
            assert site.stop() == 0, site.log
