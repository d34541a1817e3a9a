"""The functions that expressions may call; ``FUNCTIONS`` holds them by name.

Everything that a lecture defines comes from :mod:`reference`, so that keys and code exercises are measured by
the same implementation; the rest is plain arithmetic on float64 tensors, and what known mistakes compute.
"""

from __future__ import annotations

from engine.expressions.functions import (
    arithmetic,
    decoding,
    networks,
    scores,
    structure,
)
from engine.expressions.functions.registry import FUNCTIONS, LanguageFunction, arguments_of

__all__ = [
    "FUNCTIONS",
    "LanguageFunction",
    "arguments_of",
    "arithmetic",
    "decoding",
    "networks",
    "scores",
    "structure",
]
