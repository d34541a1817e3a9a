"""The functions that expressions may call; ``FUNCTIONS`` holds them by name.

Everything that a lecture defines comes from :mod:`reference`; the rest is plain arithmetic on
float64 tensors, and what known mistakes compute.
"""

from __future__ import annotations

from engine.variants.functions import (
    arithmetic,
    counting,
    decoding,
    mistakes,
    networks,
    predicates,
    scores,
    structure,
)
from engine.variants.functions.registry import FUNCTIONS, Function

__all__ = [
    "FUNCTIONS",
    "Function",
    "arithmetic",
    "counting",
    "decoding",
    "mistakes",
    "networks",
    "predicates",
    "scores",
    "structure",
]
