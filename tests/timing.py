"""Time in tests: the processor time of a piece of work, and a clock of the rules that tests set."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

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


def processor_seconds(pid: int) -> float:
    """Return the processor seconds of a process, of its children that have ended, and of those that live."""
    place = Path("/proc") / str(pid)
    fields = (place / "stat").read_text().rpartition(")")[2].split()
    ticks = sum(int(field) for field in fields[11:15])  # user and system, its own and those of ended children
    seconds = ticks / os.sysconf("SC_CLK_TCK")
    for children in place.glob("task/*/children"):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            seconds += sum(processor_seconds(int(child)) for child in children.read_text().split())
    return seconds


SetClock = Callable[[datetime], None]


def clock_from(monkeypatch: pytest.MonkeyPatch, start: datetime) -> SetClock:
    """Stop the clock of the rules at `start`, and return what sets it to another moment."""

    def set_clock(moment: datetime) -> None:
        monkeypatch.setattr(quiz_rules, "now", lambda: moment)

    set_clock(start)
    return set_clock
