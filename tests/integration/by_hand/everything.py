"""All items that are worked out, and all known mistakes."""

from __future__ import annotations

from collections.abc import Callable

from tests.integration.by_hand import (
    concepts,
    cost,
    decoder,
    decoding,
    l16,
    mistakes,
    multi_head,
    rnn,
    scores,
    self_attention,
    weights,
)
from tests.integration.by_hand.drawing import Numbers

__all__ = ["MISTAKEN", "WORKED"]

Work = Callable[[Numbers], Numbers]


def _together(*tables: dict[str, Work]) -> dict[str, Work]:
    found: dict[str, Work] = {}
    for table in tables:
        assert not found.keys() & table.keys(), "an item is worked out twice"
        found |= table
    return found


WORKED = _together(
    concepts.ITEMS,
    cost.ITEMS,
    decoder.ITEMS,
    decoding.ITEMS,
    l16.ITEMS,
    multi_head.ITEMS,
    rnn.ITEMS,
    scores.ITEMS,
    self_attention.ITEMS,
    weights.ITEMS,
)
MISTAKEN = mistakes.ITEMS
