"""Gathering the results of one job over several children."""

from __future__ import annotations

import pytest

from engine.runner import Call, CallOutcome, CallStatus, Job
from engine.sandbox.replies import JobResults, Reply

LOADED = CallOutcome(CallStatus.RETURNED)
LATE = CallOutcome(CallStatus.TIMED_OUT)


class Said:
    """What one child gave back: a stand-in for a dialogue."""

    def __init__(self, outcomes: dict[int, CallOutcome], next_call: int) -> None:
        self.load = LOADED
        self.missing = ()
        self.replies = {index: Reply(index, outcome, 1) for index, outcome in outcomes.items()}
        self.calls_s = 0.0
        self.next = next_call
        self.nodes = 1
        self.failed = ()


def results(essential: int) -> JobResults:
    calls = tuple(Call("f") for _ in range(4))
    return JobResults(Job("", "f.py", calls, functions=("f",), essential=essential), "T1")


@pytest.mark.parametrize("essential", [0, 1])
def test_a_lost_call_doesnt_lose_the_others(essential: int) -> None:
    gathered = results(essential)
    assert gathered.next_call(10) == 0
    gathered.merge(Said({0: LOADED}, 1), LATE)
    assert gathered.next_call(10) == 2
    gathered.merge(Said({2: LOADED, 3: LOADED}, 4), None)
    assert gathered.next_call(10) is None
    statuses = [outcome.status for outcome in gathered.finish(b"").outcomes]
    assert statuses == [CallStatus.RETURNED, CallStatus.TIMED_OUT, CallStatus.RETURNED, CallStatus.RETURNED]


def test_nothing_is_run_after_an_essential_call_was_lost() -> None:
    gathered = results(2)
    gathered.next_call(10)
    gathered.merge(Said({0: LOADED}, 1), LATE)
    assert gathered.next_call(10) is None
    statuses = [outcome.status for outcome in gathered.finish(b"").outcomes]
    assert statuses == [CallStatus.RETURNED, CallStatus.TIMED_OUT, CallStatus.NOT_RUN, CallStatus.NOT_RUN]


def test_a_job_ends_after_bounded_children_and_bounded_time() -> None:
    gathered = results(0)
    gathered.next_call(10)
    gathered.merge(Said({}, 0), LATE)
    assert gathered.next_call(0) is None
    assert {o.status for o in gathered.finish(b"").outcomes[1:]} == {CallStatus.NOT_RUN}
