"""Three or more people whose files hang together."""

from __future__ import annotations

from collections.abc import Iterable

from engine.similar.work import Pair, Spread, Work

__all__ = ["CLOSE_SHARE", "CLOSE_SURPRISE", "groups", "is_close"]

CLOSE_SHARE = 0.6
CLOSE_SURPRISE = 15.0


def is_close(pair: Pair, spread: Spread) -> bool:
    """Tell whether a pair stands out: it shares much, that is rare, and 95 % of all pairs share less."""
    return pair.share >= CLOSE_SHARE and pair.surprise >= CLOSE_SURPRISE and pair.share > spread.most


def groups(pairs: Iterable[Pair]) -> tuple[tuple[Work, ...], ...]:
    """Return the groups of at least three that close pairs link, the largest first.

    Two of a group may share little: a chain of pairs is a group as well.
    """
    where: dict[tuple[bool, str], set[Work]] = {}
    for pair in pairs:
        joined = where.get(pair.first.person, {pair.first}) | where.get(pair.second.person, {pair.second})
        for work in joined:
            where[work.person] = joined
    found = {frozenset(works) for works in where.values() if len(works) > 2}
    ordered = [tuple(sorted(works, key=lambda work: work.person)) for works in found]
    return tuple(sorted(ordered, key=lambda works: (-len(works), [w.person for w in works])))
