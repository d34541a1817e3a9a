"""Processor time of a piece of work, so that a bound on it holds on a machine that does other things too."""

from __future__ import annotations

import time
from collections.abc import Callable


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
