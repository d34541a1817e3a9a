"""Time in tests: the processor time of a piece of work, and a clock of the rules that tests set."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime

import pytest

from engine.quiz import rules as quiz_rules


def cpu_seconds(work: Callable[[], object], limit_s: float, *, tries: int = 3) -> float:
    """Return the processor seconds of `work`: of the quickest of a few tries if they exceed `limit_s`.

    It leaves out what other programs take, but not cold caches, a core shared with another thread,
    or the garbage of earlier tests. Those pass; work that is really too slow is too slow each time.
    """
    least = float("inf")
    for _ in range(tries):
        begun = time.process_time()
        work()
        least = min(least, time.process_time() - begun)
        if least < limit_s:
            break
    return least


SetClock = Callable[[datetime], None]


def clock_from(monkeypatch: pytest.MonkeyPatch, start: datetime) -> SetClock:
    """Stop the clock of the rules at `start`, and return what sets it to another moment."""

    def set_clock(moment: datetime) -> None:
        monkeypatch.setattr(quiz_rules, "now", lambda: moment)

    set_clock(start)
    return set_clock
