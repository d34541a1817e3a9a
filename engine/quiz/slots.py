"""A plan as a row of questions: what may stand at each."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import get_args

from engine.quiz.blueprint import Blueprint, Draw, Plan
from engine.spec.kinds import SourceName
from engine.spec.places import Loc
from engine.spec.schema import ProblemSpec

__all__ = ["Slot", "slots_of", "untaught"]


_DOCUMENTS = frozenset(get_args(SourceName))


@dataclass(frozen=True, slots=True)
class Slot:
    """One question of a plan.

    Parameters
    ----------
    loc : tuple
        Where in the blueprint it is asked for.
    section : int
        From 0.
    pool : tuple of str
        The items that may stand there: one if it is pinned.
    is_pinned : bool
    own_family : bool
        Whether each student draws an item of their own.
    """

    loc: Loc
    section: int
    pool: tuple[str, ...]
    is_pinned: bool = False
    own_family: bool = False


def slots_of(plan: Plan, specs: Sequence[ProblemSpec]) -> list[Slot]:
    """Return the questions of a plan in order, with what the bank has for each."""
    slots: list[Slot] = []
    for index, section in enumerate(plan.blueprint.sections):
        at = ("sections", index)
        slots += [
            Slot((*at, "items", place), index, (item,), is_pinned=True)
            for place, item in enumerate(section.items)
        ]
        for place, draw in enumerate(section.draws):
            loc: Loc = (*at, "draw", place, "count") if section.draw else (*at, "count")
            pool = tuple(
                spec.id for spec in specs if _matches(spec, draw) and _is_allowed(spec, plan.blueprint)
            )
            slots += [Slot(loc, index, pool, own_family=section.per_student)] * draw.count
    return slots


def _matches(spec: ProblemSpec, draw: Draw) -> bool:
    low, high = draw.difficulty
    return (
        spec.kind != "code"
        and low <= spec.difficulty <= high
        and (not draw.topics or bool(set(draw.topics) & set(spec.topics)))
        and (not draw.types or spec.kind in draw.types)
        and (not draw.bloom or spec.bloom in draw.bloom)
        and _is_allowed(spec, draw)
    )


def _is_allowed(spec: ProblemSpec, rules: Draw | Blueprint) -> bool:
    """Tell whether an item is one for this course, by its documents, by what was taught, and by name."""
    if spec.id in rules.exclude or (rules.needs is not None and untaught(spec, rules.needs)):
        return False
    if not rules.source:
        return True
    cited = {source.document for source in spec.sources}
    quoted = {need for need in spec.needs if need in _DOCUMENTS}
    return bool(cited & set(rules.source)) and quoted <= set(rules.source)


def untaught(spec: ProblemSpec, taught: Collection[str]) -> list[str]:
    """Return the terms that an item needs and that weren't taught, in the item's order."""
    return [need for need in spec.needs if need not in taught]
