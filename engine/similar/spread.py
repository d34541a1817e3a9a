"""How alike two files are that have nothing to do with each other."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from importlib.resources import files

from engine.similar.work import Spread, Work

__all__ = ["known_spread", "sample_spread", "spread"]

_SAMPLE = 4_000


def spread(shares: Iterable[float]) -> Spread:
    """Return what half, 95 % and all of the shares don't exceed."""
    ordered = sorted(shares)
    if not ordered:
        return Spread(0, 0.0, 0.0, 0.0)
    last = len(ordered) - 1
    return Spread(len(ordered), ordered[last // 2], ordered[last * 95 // 100], ordered[last])


def sample_spread(works: Sequence[Work], share: Callable[[Work, Work], float]) -> Spread:
    """Return the spread of the class: of all pairs of different people, or of 4,000 drawn by chance."""
    count = len(works)
    chance = random.Random(0)  # the same class gives the same figures
    if count * (count - 1) // 2 <= _SAMPLE:
        couples = [(a, b) for i, a in enumerate(works) for b in works[i + 1 :]]
    else:
        couples = [(chance.choice(works), chance.choice(works)) for _ in range(_SAMPLE)]
    return spread(share(a, b) for a, b in couples if a.person != b.person)


@cache
def known_spread(item: str) -> Spread | None:
    """Return the spread of right solutions that were written independently, where we have measured it."""
    text = (files("engine.similar") / "independent.json").read_text(encoding="utf-8")
    found = json.loads(text).get(item)
    return Spread(**found) if found else None
