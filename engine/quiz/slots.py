"""A plan as a row of questions: what may stand at each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.quiz.blueprint import Draw, Plan
from engine.spec.places import Loc
from engine.spec.schema import ProblemSpec

__all__ = ["Slot", "slots_of"]


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
            pool = tuple(spec.id for spec in specs if _matches(spec, draw))
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
    )
