"""Who comes next when code is handed in faster than it can be graded.

The newest hand-in of each student and exercise comes first: it is the one whose feedback is waited for. Those
that it replaced are graded too, after everybody's newest. Students come in the order of how much they had
lately, and have one place at a time, so that neither many hand-ins nor an endless loop hold up anybody else.
Every fourth turn belongs to what has waited longest, so that nothing waits for ever.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from engine.model import CodeSubmission, Mode
from engine.quiz import rules as quiz_rules
from engine.store import Store
from engine.store.waiting import HandInState, Permit, QueuedHandIn, QueueState, Ready, StoredQueue

MOST_LOSSES: Final = 2
"""After so many workers that died over it, a hand-in is set aside: the last one had nothing else in hand."""

MOST_OPEN: Final = 20
"""So many programs of one student wait at most: whoever hands in more waits for the feedback first."""

_LATELY = timedelta(minutes=15)
_FOR_THE_OLDEST = 4
# After a fault of the machine; twice as long each time, up to the second.
_REST = timedelta(seconds=20)
_LONGEST_REST = timedelta(minutes=30)
# What a hand-in takes, until there are figures.
_USUAL_S = 1.0
# A page asks every second, and there are hundreds of pages.
_FRESH_S = 0.5


def in_line(state: QueueState, now: datetime) -> list[QueuedHandIn]:
    """Return all waiting hand-ins in the order in which they will be begun, as far as that is known now.

    Parameters
    ----------
    state : QueueState
    now : datetime
    """
    had = seconds_had([*state.lately, *state.running], now)
    newest: dict[tuple[str, str, Mode], int] = {}
    for hand_in in state.waiting:
        key = hand_in.student, hand_in.item, hand_in.mode
        newest[key] = max(newest.get(key, 0), hand_in.id)
    fair: list[QueuedHandIn] = []
    for current in (True, False):
        group = [
            hand_in
            for hand_in in state.waiting
            if (newest[hand_in.student, hand_in.item, hand_in.mode] == hand_in.id) is current
        ]
        fair += _taking_turns(group, had)
        for hand_in in group:
            had[hand_in.student] = had.get(hand_in.student, 0) + 1
    return _with_the_oldest(fair, state.turn)


def seconds_had(hand_ins: Iterable[QueuedHandIn], now: datetime) -> dict[str, int]:
    """Return how many seconds of grading each student had lately: at least one for each hand-in begun."""
    had: dict[str, int] = {}
    for hand_in in {hand_in.id: hand_in for hand_in in hand_ins}.values():
        if hand_in.begun is None or hand_in.begun < now - _LATELY:
            continue
        end = now if hand_in.state is HandInState.RUNNING else hand_in.heartbeat or now
        seconds = int((end - hand_in.begun).total_seconds())
        had[hand_in.student] = had.get(hand_in.student, 0) + max(1, seconds)
    return had


def _taking_turns(hand_ins: Sequence[QueuedHandIn], had: Mapping[str, int]) -> list[QueuedHandIn]:
    """Return them so that the student who had least is next each time, and the earlier one of two equal."""
    places: dict[int, int] = {}
    counts: dict[str, int] = {}
    for hand_in in sorted(hand_ins, key=_age):
        counts[hand_in.student] = counts.get(hand_in.student, had.get(hand_in.student, 0)) + 1
        places[hand_in.id] = counts[hand_in.student]
    return sorted(hand_ins, key=lambda hand_in: (places[hand_in.id], _age(hand_in)))


def _with_the_oldest(fair: Sequence[QueuedHandIn], turn: int) -> list[QueuedHandIn]:
    oldest = sorted(fair, key=_age)
    line: list[QueuedHandIn] = []
    placed: set[int] = set()
    by_fairness, by_age = iter(fair), iter(oldest)
    for number in range(turn, turn + len(fair)):
        source = by_age if number % _FOR_THE_OLDEST == 0 else by_fairness
        hand_in = next(hand_in for hand_in in source if hand_in.id not in placed)
        placed.add(hand_in.id)
        line.append(hand_in)
    return line


def _age(hand_in: QueuedHandIn) -> int:
    # By number: machines that share a store may differ about the time.
    return hand_in.id


def choose(queue: StoredQueue, worker: str, now: datetime) -> QueuedHandIn | None:
    """Return the hand-in that a worker begins now, None for none.

    It is the first of :func:`in_line` that may be begun, without reading the whole queue.

    A hand-in over which a worker died is begun only by a worker that has nothing else in hand, and is then
    all that it has: if that one dies too, there is no doubt left.
    """
    mine = [hand_in for hand_in in queue.running if hand_in.worker == worker]
    if any(hand_in.losses for hand_in in mine):
        return None
    ready = Ready(frozenset(hand_in.student for hand_in in queue.running), _rested(now))
    if queue.turn % _FOR_THE_OLDEST == 0:
        chosen = queue.oldest(ready)
    else:
        had = seconds_had([*queue.lately, *queue.running], now)
        # Older ones only where each newest one rests.
        chosen = _fairest(queue, replace(ready, newest=True), had) or _fairest(queue, ready, had)
    # The place stays empty until the others of this worker are done.
    return None if chosen is not None and chosen.losses and mine else chosen


def _fairest(queue: StoredQueue, ready: Ready, had: Mapping[str, int]) -> QueuedHandIn | None:
    """Return the oldest of the student who had least: mostly of one who had nothing lately."""
    others = queue.oldest(replace(ready, other_than=ready.other_than | had.keys()))
    if others is not None:
        return others
    firsts = queue.oldest_of_each(ready, had.keys() - ready.other_than)
    return min(firsts, key=lambda hand_in: (had[hand_in.student], _age(hand_in)), default=None)


def _rested(now: datetime) -> dict[int, datetime]:
    """Return until when a hand-in must have been tried last, by how often the machine failed."""
    times: dict[int, datetime] = {}
    rest = _REST
    while not times or rest < _LONGEST_REST:
        times[len(times) + 1] = now - rest
        rest *= 2
    return times | {len(times) + 1: now - _LONGEST_REST}


@dataclass(frozen=True, slots=True)
class QueuePlace:
    """Where a hand-in stands.

    Parameters
    ----------
    position : int
        1 for the next one; 0 for one that is being graded.
    waiting_s : float
        Roughly how long it will wait until it is begun.
    """

    position: int
    waiting_s: float


class HandInQueue:
    """Takes code in and gives it out again: all that pages and workers need of the queue.

    Parameters
    ----------
    store : Store
    slots : int
        How many hand-ins are graded at the same time, for estimates.
    """

    def __init__(self, store: Store, slots: int) -> None:
        self._store = store
        self._slots = max(1, slots)
        self._lock = threading.Lock()
        self._places: dict[int, QueuePlace] = {}
        self._looked = -math.inf

    def hand_in(
        self,
        student: str,
        item: str,
        submission: CodeSubmission,
        mode: Mode,
        permit: Permit = lambda times: None,
    ) -> int:
        """Store a hand-in, and return its number; when this returns, no crash can lose it.

        `permit` raises where the rules don't allow another one: see
        :meth:`engine.store.waiting.WaitingHandIns.add`.
        """
        now = quiz_rules.now()
        number = self._store.waiting.add(student, item, submission, mode, now, permit, MOST_OPEN)
        self._looked = -math.inf
        return number

    def begin(self, worker: str) -> QueuedHandIn | None:
        """Return the hand-in that is a worker's next one; None where there is none for it."""
        now = quiz_rules.now()
        return self._store.waiting.claim(worker, now, lambda queue: choose(queue, worker, now))

    def place(self, number: int) -> QueuePlace | None:
        """Return where a hand-in stands, None if it doesn't wait."""
        with self._lock:
            if time.monotonic() - self._looked > _FRESH_S:
                self._places = self._look()
                self._looked = time.monotonic()
            return self._places.get(number)

    def _look(self) -> dict[int, QueuePlace]:
        now = quiz_rules.now()
        state = self._store.waiting.state()
        took = sorted(
            (hand_in.heartbeat - hand_in.begun).total_seconds()
            for hand_in in state.lately
            if hand_in.state is HandInState.DONE and hand_in.heartbeat and hand_in.begun
        )
        # The mean, not the median: an endless loop holds up the line as long as it runs.
        each_s = sum(took) / len(took) if took else _USUAL_S
        places = {hand_in.id: QueuePlace(0, 0.0) for hand_in in state.running}
        ahead = max(0, len(state.running) - self._slots + 1)
        for position, hand_in in enumerate(in_line(state, now), start=1):
            places[hand_in.id] = QueuePlace(position, (position - 1 + ahead) * each_s / self._slots)
        return places
