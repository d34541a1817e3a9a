"""Variants to work on, and their drawn numbers as exact fractions."""

from __future__ import annotations

from fractions import Fraction
from functools import cache, lru_cache
from typing import Any

from engine.items import builtin_bank, item_version
from engine.items.bank import Bank
from engine.model import DrawnValue, Variant
from engine.variants import draw_seeded

__all__ = ["SEEDS", "Numbers", "bank", "nested", "numbers_of", "variant_of", "variants_of"]

Numbers = dict[str, Any]
SEEDS = 12


def nested(drawn: DrawnValue) -> Any:
    """Return a drawn value as (nested lists of) fractions, or words."""
    entries: list[Any] = [x if drawn.text else Fraction(x) for x in drawn.entries]
    for size in reversed(drawn.shape[1:]):
        entries = [entries[i : i + size] for i in range(0, len(entries), size)]
    return entries if drawn.shape else entries[0]


def numbers_of(variant: Variant) -> Numbers:
    """Return the drawn values by name."""
    return {name: nested(drawn) for name, drawn in variant.values.items()}


@cache
def bank() -> Bank:
    """Return the bank, read once."""
    return builtin_bank()


def variant_of(item: str, seed: int) -> Variant:
    """Draw one variant of an item of the bank."""
    spec = bank().load(item)
    version = item_version(spec, bank().path(item))
    return draw_seeded(spec, version=version, registry=bank().registry(), seed=seed)


@lru_cache(maxsize=256)
def variants_of(item: str) -> tuple[Variant, ...]:
    """Draw the variants of an item that the tests look at: one where there is but one."""
    seeds = SEEDS if bank().load(item).variants != 1 else 1
    return tuple(variant_of(item, seed) for seed in range(seeds))
