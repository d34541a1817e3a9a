"""Three or more people whose files hang together."""

from __future__ import annotations

from collections.abc import Iterable

from engine.similar.work import Pair, Spread, Work

__all__ = ["CLOSE_SHARE", "CLOSE_SURPRISE", "groups", "identical", "is_close"]

CLOSE_SHARE = 0.6
CLOSE_SURPRISE = 15.0


def is_close(pair: Pair, spread: Spread) -> bool:
    """Tell whether a pair stands out: it shares much, that is rare, and 95 % of all pairs share less."""
    return pair.share >= CLOSE_SHARE and pair.surprise >= CLOSE_SURPRISE and pair.share > spread.most


def identical(works: Iterable[Work], given: Iterable[str] = ()) -> tuple[tuple[Work, ...], ...]:
    """Return the groups of students whose files are the same, the largest first.

    Blanks at line ends and empty lines don't count. What everybody got, such as a starter left as it was, is
    no group; nor are files of earlier years alone.
    """
    usual = {_lines(source) for source in given}
    same: dict[tuple[str, ...], dict[tuple[bool, str], Work]] = {}
    for work in works:
        same.setdefault(_lines(work.source), {}).setdefault(work.person, work)
    found = [
        tuple(sorted(persons.values(), key=lambda work: work.person))
        for lines, persons in same.items()
        if lines and lines not in usual and len(persons) > 1
        if not all(work.is_earlier for work in persons.values())
    ]
    return tuple(sorted(found, key=lambda works: (-len(works), [w.person for w in works])))


def _lines(source: str) -> tuple[str, ...]:
    return tuple(line.rstrip() for line in source.splitlines() if line.strip())


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
