"""Gives each slot an item that fits it and no item to two slots, whenever that is possible."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

__all__ = ["assign"]


def assign(wishes: Sequence[Sequence[str]]) -> Mapping[int, str]:
    """Return an item for as many slots as possible.

    Parameters
    ----------
    wishes : sequence of sequence of str
        For each slot the items that fit it, the most wanted first.

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
    for slot, wanted in enumerate(wishes):
        free = next((item for item in wanted if item not in owner), None)
        if free is not None:
            owner[free] = slot
        else:
            _make_room(slot, wishes, owner, set())
    return {slot: item for item, slot in owner.items()}


def _make_room(slot: int, wishes: Sequence[Sequence[str]], owner: dict[str, int], visited: set[str]) -> bool:
    """Give `slot` an item, moving other slots; tell whether it worked."""
    for item in wishes[slot]:
        if item in visited:
            continue
        visited.add(item)
        if item not in owner or _make_room(owner[item], wishes, owner, visited):
            owner[item] = slot
            return True
    return False
