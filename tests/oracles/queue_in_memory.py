"""What the store is asked of its queue, said once more without a database."""

from __future__ import annotations

from collections.abc import Collection

from engine.store.waiting import QueuedHandIn, QueueState, Ready


class QueueInMemory(QueueState):
    """A queue whose hand-ins are all in memory."""

    def oldest(self, ready: Ready) -> QueuedHandIn | None:
        return next(iter(self.ready(ready)), None)

    def oldest_of_each(self, ready: Ready, students: Collection[str]) -> list[QueuedHandIn]:
        firsts: dict[str, QueuedHandIn] = {}
        for hand_in in self.ready(ready):
            if hand_in.student in students:
                firsts.setdefault(hand_in.student, hand_in)
        return list(firsts.values())

    def ready(self, ready: Ready) -> list[QueuedHandIn]:
        newest = {*{(h.student, h.item, h.mode): h.id for h in self.waiting}.values()}
        return [
            h
            for h in self.waiting
            if h.student not in ready.other_than
            and (h.id in newest or not ready.newest)
            and (
                not h.tries
                or h.heartbeat is None
                or h.heartbeat <= ready.rested[min(h.tries, max(ready.rested))]
            )
        ]
