"""From a plan to items: pinned ones as they are, the others drawn under the course secret."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from engine.errors import QuizError
from engine.quiz.assign import assign
from engine.quiz.blueprint import Plan
from engine.quiz.plan_faults import name_faults, pin_faults, too_few, topic_faults
from engine.quiz.slots import Slot, slots_of
from engine.spec.bank import Bank
from engine.variants.stream import Stream

__all__ = ["Choice", "Chosen", "choose_items"]


@dataclass(frozen=True, slots=True)
class Chosen:
    """One question before it is drawn: which item, for how many points (None: the item's own)."""

    item: str
    points: float | None
    section: str
    own_family: bool = False


@dataclass(frozen=True)
class Choice:
    """The items of a quiz: the same for everybody, but in sections with ``per_student``.

    ``common`` holds an item for each slot; where students have families of their own, one that shows
    that there are enough.
    """

    plan: Plan
    secret: bytes
    name: str
    slots: tuple[Slot, ...]
    common: tuple[str, ...]

    def of(self, student: str) -> list[Chosen]:
        """Return the questions of one student, in order.

        Raises
        ------
        QuizError
            Too few items are left for the student's own families.
        """
        items = list(self.common)
        own = [index for index, slot in enumerate(self.slots) if slot.own_family]
        taken = {item for index, item in enumerate(items) if index not in own}
        found = assign(
            _wishes([self.slots[i] for i in own], taken, _streams(self.secret, self.name, student))
        )
        if len(found) < len(own):
            raise QuizError("the bank has too few items left to give each student other ones")
        for place, item in found.items():
            items[own[place]] = item
        sections = self.plan.blueprint.sections
        return [
            Chosen(item, sections[slot.section].points, sections[slot.section].title, slot.own_family)
            for item, slot in zip(items, self.slots, strict=True)
        ]


def choose_items(plan: Plan, bank: Bank, secret: bytes, name: str) -> Choice:
    """Choose the items of quiz `name`.

    Parameters
    ----------
    plan : Plan
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
    specs, _ = bank.readable()
    faults = [*pin_faults(plan, bank), *topic_faults(plan, specs), *name_faults(plan, bank)]
    if faults:
        plan.refuse(faults)
    slots = slots_of(plan, specs)
    pinned = {slot.pool[0] for slot in slots if slot.is_pinned}
    found = assign(_wishes(slots, pinned, _streams(secret, name, "")))
    if len(found) < len(slots):
        plan.refuse(too_few(slots, found))
    return Choice(plan, secret, name, tuple(slots), tuple(found[index] for index in range(len(slots))))


def _streams(secret: bytes, name: str, student: str) -> Callable[[int], Stream]:
    """Return a section's stream of draws: one for everybody, or one for each student."""
    return lambda section: Stream.keyed(secret, f"quiz:{name}:section:{section}", student, 0)


def _wishes(
    slots: Sequence[Slot], taken: Collection[str], stream: Callable[[int], Stream]
) -> list[list[str]]:
    """Return for each slot its items in random order; nobody else gets a taken one."""
    streams: dict[int, Stream] = {}
    wishes = []
    for slot in slots:
        if slot.is_pinned:
            wishes.append(list(slot.pool))
            continue
        source = streams.setdefault(slot.section, stream(slot.section))
        wishes.append(source.shuffled([item for item in slot.pool if item not in taken]))
    return wishes
