"""GIFT: questions as plain text, as Moodle and other systems read and write it."""

from __future__ import annotations

from engine.exchange.gift.questions import read_gift

__all__ = ["read_gift"]
