"""From a plan to items: pinned ones as they are, the others drawn under the course secret.

Each question of the plan is a slot with the items that fit it; a matching of slots and items then decides, so
that a quiz is refused only where the bank really has too few.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from engine.draws import RandomStream
from engine.errors import QuizError, UnknownItemError
from engine.items import ProblemSpec
from engine.items.bank import Bank, ItemSummary
from engine.items.field_types import SourceName
from engine.model import ResultDisclosure
from engine.quiz.blueprint import Blueprint, BlueprintSection, DrawRule, PlacedBlueprint
from engine.text.words import agree, did_you_mean
from engine.text.yaml_errors import Loc


def assign(wishes: Sequence[Sequence[str]]) -> Mapping[int, str]:
    """Return an item for as many slots as possible.

    Parameters
    ----------
    wishes : sequence of sequence of str
        For each slot the items that fit it, the preferred one first.

    Returns
    -------
    mapping of int to str
        Slot → item. A slot that is missing can't get any, whatever the others take.

    Notes
    -----
    A slot takes the first free item on its list. Where none is free, earlier slots move to others of
    theirs (augmenting paths), so that whether a quiz can be drawn isn't a matter of luck.
    """
    owner: dict[str, int] = {}
    for slot, items in enumerate(wishes):
        free = next((item for item in items if item not in owner), None)
        if free is not None:
            owner[free] = slot
        else:
            _make_room(slot, wishes, owner, set())
    return {slot: item for item, slot in owner.items()}


def _make_room(slot: int, wishes: Sequence[Sequence[str]], owner: dict[str, int], visited: set[str]) -> bool:
    """Give `slot` an item, moving other slots; return whether it worked."""
    for item in wishes[slot]:
        if item in visited:  # moving somebody off it was tried for this slot already
            continue
        visited.add(item)
        if item not in owner or _make_room(owner[item], wishes, owner, visited):
            owner[item] = slot
            return True
    return False


# Lecture documents whose notation an item may quote; to other courses it says nothing.
DOCUMENTS = frozenset(get_args(SourceName))


@dataclass(frozen=True, slots=True)
class QuestionSlot:
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
    show_before, show_after : ResultDisclosure or None
        Where they aren't those of the quiz.
    """

    loc: Loc
    section: int
    pool: tuple[str, ...]
    is_pinned: bool = False
    own_family: bool = False
    show_before: ResultDisclosure | None = None
    show_after: ResultDisclosure | None = None


def slots_of(plan: PlacedBlueprint, items: Sequence[ItemSummary]) -> list[QuestionSlot]:
    """Return the questions of a plan in order, with what the bank has for each."""
    slots: list[QuestionSlot] = []
    for index, section in enumerate(plan.blueprint.sections):
        section_loc = ("sections", index)
        slots += [
            QuestionSlot(
                (*section_loc, "items", place),
                index,
                (item,),
                is_pinned=True,
                show_before=section.show_before,
                show_after=section.show_after,
            )
            for place, item in enumerate(section.items)
        ]
        for place, draw in enumerate(section.draws):
            loc: Loc = (*section_loc, "draw", place, "count") if section.draw else (*section_loc, "count")
            pool = tuple(
                item.id for item in items if _matches(item, draw) and _is_allowed(item, plan.blueprint)
            )
            # One place for all slots of an entry: a shortage is reported once, with how many are missing.
            slot = QuestionSlot(
                loc,
                index,
                pool,
                own_family=section.per_student,
                show_before=draw.show_before or section.show_before,
                show_after=draw.show_after or section.show_after,
            )
            slots += [slot] * draw.count
    return slots


def _matches(item: ItemSummary, draw: DrawRule) -> bool:
    low, high = draw.difficulty
    return (
        item.kind != "code"  # handed in as a file, under `exercises`
        and low <= item.difficulty <= high
        and (not draw.topics or bool(set(draw.topics) & set(item.topics)))
        and _is_wanted_kind(item, draw)
        and (not draw.bloom or item.bloom in draw.bloom)
        and _is_allowed(item, draw)
    )


def _is_wanted_kind(item: ItemSummary, draw: DrawRule) -> bool:
    # Work for a person is never drawn by chance: a section names it, or pins the item.
    if item.needs_person:
        return "free_text" in draw.types
    return not draw.types or item.kind in draw.types


def _is_allowed(item: ItemSummary, rules: DrawRule | Blueprint) -> bool:
    """Return whether an item is one for this course, by its documents, by what was taught, and by name."""
    if item.id in rules.exclude or (rules.needs is not None and untaught(item, rules.needs)):
        return False
    if not rules.source:
        return True
    # An item from one document that uses the notation of another would confuse a course on the first alone.
    quoted = {need for need in item.needs if need in DOCUMENTS}
    return bool(set(item.documents) & set(rules.source)) and quoted <= set(rules.source)


def untaught(item: ItemSummary | ProblemSpec, taught: Collection[str]) -> list[str]:
    """Return the terms that an item needs and that weren't taught, in the item's order."""
    return [need for need in item.needs if need not in taught]


# Each fault of a plan has its place in the blueprint, and all of them are shown at once.
Fault = tuple[Loc, str]


def pin_faults(plan: PlacedBlueprint, bank: Bank) -> list[Fault]:
    """Return the pinned items that aren't there, are code, or appear twice."""
    faults: list[Fault] = []
    pinned: set[str] = set()
    for index, section in enumerate(plan.blueprint.sections):
        for place, item in enumerate(section.items):
            message = _pin_fault(item, bank, pinned)
            if message is not None:
                faults.append((("sections", index, "items", place), message))
            pinned.add(item)
    return faults


def _pin_fault(item: str, bank: Bank, pinned: Collection[str]) -> str | None:
    try:
        kind = bank.load(item).kind
    except UnknownItemError as error:
        return f"{error.what}; {error.next_step}"
    if kind == "code":
        return (
            f"{item} is a code exercise, which can't be a quiz question; "
            f"write it under the blueprint's `exercises: [{item}]`, and students hand in a file"
        )
    return f"item {item} is pinned twice; each item is in a quiz once" if item in pinned else None


def topic_faults(plan: PlacedBlueprint, items: Sequence[ItemSummary]) -> list[Fault]:
    """Return the topics that no item has."""
    known = sorted({topic for item in items for topic in item.topics})
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


def name_faults(plan: PlacedBlueprint, bank: Bank) -> list[Fault]:
    """Return what filters and `exercises` name and the bank doesn't have, or has as something else."""
    blueprint = plan.blueprint
    places: list[tuple[Loc, Blueprint | BlueprintSection | DrawRule]] = [((), blueprint)]
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


def plan_faults(plan: PlacedBlueprint, bank: Bank, items: Sequence[ItemSummary]) -> list[Fault]:
    """Return everything that a plan names and that the bank, with these items, lacks or has otherwise."""
    return [*pin_faults(plan, bank), *topic_faults(plan, items), *name_faults(plan, bank)]


def _exercise_fault(item: str, bank: Bank, earlier: Collection[str]) -> str | None:
    try:
        kind = bank.load(item).kind
    except UnknownItemError as error:
        return f"{error.what}; {error.next_step}"
    if kind != "code":
        return f"{item} isn't a code exercise; write it under a section's `items`"
    return f"exercise {item} appears here twice" if item in earlier else None


def too_few(slots: Sequence[QuestionSlot], filled: Collection[int]) -> list[Fault]:
    """Return what finds too few items, with how many it finds."""
    pinned = {slot.pool[0] for slot in slots if slot.is_pinned}
    missing = Counter(slot.loc for index, slot in enumerate(slots) if index not in filled)
    faults: list[Fault] = []
    for loc, lacking in missing.items():
        alike = [slot for slot in slots if slot.loc == loc]
        matching = set(alike[0].pool)
        free = len(matching - pinned)
        count, matches, bound = len(alike), len(matching), len(matching) - free
        message = f"too few items: {count} {agree(count, 'are')} to be drawn here, "
        message += f"but {matches} {agree(matches, 'match')}"
        if bound:
            message += f" and {bound} of these {agree(bound, 'are')} pinned"
        if free >= count:
            message += (
                f"; other entries need the same ones, so that {lacking} {agree(lacking, 'are')} missing"
            )
        faults.append((loc, message + "; widen the filters, or see: grade list"))
    return faults


@dataclass(frozen=True, slots=True)
class ChosenQuestion:
    """One question before it is drawn: which item, for how many points (None: the item's own)."""

    item: str
    points: float | None
    section: str
    own_family: bool = False
    show_before: ResultDisclosure | None = None
    show_after: ResultDisclosure | None = None


@dataclass(frozen=True)
class ItemChoice:
    """The items of a quiz: the same for everybody, but in sections with ``per_student``.

    ``common`` holds an item for each slot; where students have families of their own, one that shows
    that there are enough.
    """

    plan: PlacedBlueprint
    secret: bytes
    name: str
    slots: tuple[QuestionSlot, ...]
    common: tuple[str, ...]

    def of(self, student: str) -> list[ChosenQuestion]:
        """Return the questions of one student, in order.

        Raises
        ------
        QuizError
            Too few items are left for the student's own families.
        """
        items = list(self.common)
        # What the whole class gets is reserved: nobody draws it a second time as an item of their own.
        differing = [index for index, slot in enumerate(self.slots) if slot.own_family]
        shared = {item for index, item in enumerate(items) if index not in differing}
        chosen = assign(
            _wishes([self.slots[i] for i in differing], shared, _streams(self.secret, self.name, student))
        )
        if len(chosen) < len(differing):
            raise QuizError("the bank has too few items left to give each student other ones")
        for place, item in chosen.items():
            items[differing[place]] = item
        sections = self.plan.blueprint.sections
        return [
            ChosenQuestion(
                item,
                sections[slot.section].points,
                sections[slot.section].title,
                slot.own_family,
                slot.show_before,
                slot.show_after,
            )
            for item, slot in zip(items, self.slots, strict=True)
        ]


def choose_items(plan: PlacedBlueprint, bank: Bank, secret: bytes, name: str) -> ItemChoice:
    """Choose the items of quiz `name`.

    Parameters
    ----------
    plan : PlacedBlueprint
    bank : Bank
    secret : bytes
        The course secret: nobody else can foresee the choice.
    name : str
        Name of the quiz; another name, another choice.

    Raises
    ------
    QuizError
        With the place of every fault: a pinned item that the bank doesn't have, that is a code exercise or
        that is pinned twice; a topic that no item has; a term, an excluded item or a code exercise that
        there isn't; an entry that finds too few items.
    """
    # Names before numbers: a misspelt topic would otherwise be reported as too few items.
    items = bank.summaries()[0]
    if faults := plan_faults(plan, bank, items):
        plan.refuse(faults)
    slots = slots_of(plan, items)
    pinned = {slot.pool[0] for slot in slots if slot.is_pinned}
    chosen = assign(_wishes(slots, pinned, _streams(secret, name, "")))
    if len(chosen) < len(slots):
        plan.refuse(too_few(slots, chosen))
    return ItemChoice(plan, secret, name, tuple(slots), tuple(chosen[index] for index in range(len(slots))))


def _streams(secret: bytes, name: str, student: str) -> Callable[[int], RandomStream]:
    # Each section has a stream of its own, so that adding a question to one redraws no other.
    return lambda section: RandomStream.keyed(secret, f"quiz:{name}:section:{section}", student, 0)


def _wishes(
    slots: Sequence[QuestionSlot], reserved: Collection[str], stream: Callable[[int], RandomStream]
) -> list[list[str]]:
    """Return for each slot its items in random order, without those reserved for others."""
    streams: dict[int, RandomStream] = {}
    wishes = []
    for slot in slots:
        if slot.is_pinned:
            wishes.append(list(slot.pool))
            continue
        source = streams.setdefault(slot.section, stream(slot.section))
        wishes.append(source.shuffled([item for item in slot.pool if item not in reserved]))
    return wishes
