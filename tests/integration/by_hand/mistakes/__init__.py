"""What the known mistakes give, worked out from the registry's formulas, folder by folder of the bank."""

from __future__ import annotations

from tests.integration.by_hand.mistakes import (
    concepts,
    cost,
    decoder,
    decoding,
    l16,
    multi_head,
    rnn,
    scores,
    self_attention,
    weights,
)

__all__ = ["ITEMS"]

ITEMS = (
    concepts.ITEMS
    | cost.ITEMS
    | decoder.ITEMS
    | decoding.ITEMS
    | l16.ITEMS
    | multi_head.ITEMS
    | rnn.ITEMS
    | scores.ITEMS
    | self_attention.ITEMS
    | weights.ITEMS
)
