"""From a problem's spec and a seed to one concrete variant with its key."""

from __future__ import annotations

from engine.variants.draw_variant import draw, draw_of_key, draw_seeded, family_size
from engine.variants.rekey import rekey

__all__ = ["draw", "draw_of_key", "draw_seeded", "family_size", "rekey"]
