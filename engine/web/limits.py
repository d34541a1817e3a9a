"""How often something may be tried: so that nobody guesses codes, floods mailboxes or keeps the site busy.

Counted in memory, for each process on its own: whoever restarts the site forgives everybody.
"""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from dataclasses import dataclass
from datetime import datetime, timedelta

from engine.errors import InputError

_MOST_KEYS = 20_000  # of a class of 300, even with everybody's addresses; beyond it the oldest are forgotten


class TooOftenError(InputError):
    """Something was tried too often: status 429."""

    def __init__(self, what: str, wait: timedelta) -> None:
        minutes = max(1, -(-wait.seconds // 60))
        super().__init__(what, next_step=f"wait {minutes} min, and try again")
        self.wait = wait


@dataclass(frozen=True, slots=True)
class RateLimit:
    """How often something may happen.

    Parameters
    ----------
    name : str
        What is counted, such as ``code-address``.
    most : int
        Times within `per`.
    per : timedelta
    """

    name: str
    most: int
    per: timedelta


class RateCounter:
    """Counts what happened lately, by limit and by whose it is; safe to use from several threads."""

    def __init__(self) -> None:
        self._times: OrderedDict[tuple[str, str], deque[datetime]] = OrderedDict()
        self._lock = threading.Lock()

    def wait(self, limit: RateLimit, key: str, now: datetime) -> timedelta | None:
        """Return how long to wait until one more is allowed, None if it is now; nothing is counted."""
        with self._lock:
            times = self._lately(limit, key, now)
            return None if len(times) < limit.most else times[0] + limit.per - now

    def count(self, limit: RateLimit, key: str, now: datetime) -> None:
        """Count that it happened."""
        with self._lock:
            self._lately(limit, key, now).append(now)
            while len(self._times) > _MOST_KEYS:
                self._times.popitem(last=False)

    def take(self, limit: RateLimit, key: str, now: datetime) -> bool:
        """Count it and return True if it is allowed now; otherwise False."""
        with self._lock:
            times = self._lately(limit, key, now)
            if len(times) >= limit.most:
                return False
            times.append(now)
            while len(self._times) > _MOST_KEYS:
                self._times.popitem(last=False)
            return True

    def need(self, limit: RateLimit, key: str, now: datetime, what: str) -> None:
        """Count it; raise a :class:`TooOftenError` that says `what` if it isn't allowed now."""
        if not self.take(limit, key, now):
            raise TooOftenError(what, self.wait(limit, key, now) or timedelta())

    def _lately(self, limit: RateLimit, key: str, now: datetime) -> deque[datetime]:
        times = self._times.setdefault((limit.name, key), deque(maxlen=limit.most))
        self._times.move_to_end((limit.name, key))
        # A time ahead of now is from before the clock was set back: it must not lock anybody out.
        while times and not now - limit.per < times[0] <= now:
            times.popleft()
        return times
