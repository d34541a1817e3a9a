"""What a bank can't give a plan: each fault with its place in the blueprint."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from engine.errors import UnknownItemError
from engine.plurals import agree
from engine.quiz.blueprint import Blueprint, Draw, Plan, Section
from engine.quiz.slots import Slot
from engine.spec.bank import Bank
from engine.spec.places import Loc
from engine.spec.schema import ProblemSpec
from engine.spec.wording import did_you_mean

__all__ = ["name_faults", "pin_faults", "too_few", "topic_faults"]

Fault = tuple[Loc, str]


def pin_faults(plan: Plan, bank: Bank) -> list[Fault]:
    """Return the pinned items that aren't there, are code, or stand twice."""
    faults: list[Fault] = []
    seen: set[str] = set()
    for index, section in enumerate(plan.blueprint.sections):
        for place, item in enumerate(section.items):
            message = _pin_fault(item, bank, seen)
            if message is not None:
                faults.append((("sections", index, "items", place), message))
            seen.add(item)
    return faults


def _pin_fault(item: str, bank: Bank, seen: Collection[str]) -> str | None:
    try:
        kind = bank.load(item).kind
    except UnknownItemError as error:
        return f"{error.what}; {error.next_step}"
    if kind == "code":
        return (
            f"{item} is a code exercise, which can't be a quiz question; "
            f"write it under the blueprint's `exercises: [{item}]`, and students hand in a file"
        )
    return f"item {item} is pinned twice; each item stands in a quiz once" if item in seen else None


def topic_faults(plan: Plan, specs: Sequence[ProblemSpec]) -> list[Fault]:
    """Return the topics that no item has."""
    known = sorted({topic for spec in specs for topic in spec.topics})
    lists: list[tuple[Loc, Sequence[str]]] = []
    for index, section in enumerate(plan.blueprint.sections):
        lists.append((("sections", index, "topics"), section.topics))
        lists += [(("sections", index, "draw", n, "topics"), d.topics) for n, d in enumerate(section.draw)]
    return [
        ((*loc, place), f"no item has the topic '{topic}'" + did_you_mean(topic, known, "; see: grade list"))
        for loc, topics in lists
        for place, topic in enumerate(topics)
        if topic not in known
    ]


def name_faults(plan: Plan, bank: Bank) -> list[Fault]:
    """Return what filters and `exercises` name and the bank doesn't have, or has as something else."""
    blueprint = plan.blueprint
    places: list[tuple[Loc, Blueprint | Section | Draw]] = [((), blueprint)]
    for index, section in enumerate(blueprint.sections):
        places.append((("sections", index), section))
        places += [(("sections", index, "draw", n), draw) for n, draw in enumerate(section.draw)]
    faults: list[Fault] = []
    terms = sorted(bank.terms())
    for loc, rules in places:
        faults += [
            ((*loc, "needs", n), f"no term is called '{need}' in terms.yaml" + did_you_mean(need, terms))
            for n, need in enumerate(rules.needs or ())
            if need not in bank.terms()
        ]
        faults += [
            ((*loc, "exclude", n), f"there is no item '{item}' to leave out" + did_you_mean(item, bank.ids()))
            for n, item in enumerate(rules.exclude)
            if item not in bank
        ]
    for place, item in enumerate(blueprint.exercises):
        if (message := _exercise_fault(item, bank, blueprint.exercises[:place])) is not None:
            faults.append((("exercises", place), message))
    return faults


def _exercise_fault(item: str, bank: Bank, earlier: Collection[str]) -> str | None:
    try:
        kind = bank.load(item).kind
    except UnknownItemError as error:
        return f"{error.what}; {error.next_step}"
    if kind != "code":
        return f"{item} is no code exercise; write it under a section's `items`"
    return f"exercise {item} stands here twice" if item in earlier else None


def too_few(slots: Sequence[Slot], filled: Collection[int]) -> list[Fault]:
    """Return what finds too few items, with how many it finds."""
    pinned = {slot.pool[0] for slot in slots if slot.is_pinned}
    missing = Counter(slot.loc for index, slot in enumerate(slots) if index not in filled)
    faults: list[Fault] = []
    for loc, lacking in missing.items():
        alike = [slot for slot in slots if slot.loc == loc]
        matching = set(alike[0].pool)
        free = len(matching - pinned)
        drawn, match, bound = len(alike), len(matching), len(matching) - free
        what = f"too few items: {drawn} {agree(drawn, 'are')} to be drawn here, "
        what += f"but {match} {agree(match, 'match')}"
        if bound:
            what += f" and {bound} of these {agree(bound, 'are')} pinned"
        if free >= len(alike):
            what += f"; other entries need the same ones, so that {lacking} {agree(lacking, 'are')} missing"
        faults.append((loc, what + "; widen the filters, or see: grade list"))
    return faults
