"""The one place that asks what time it is for a deadline."""

from __future__ import annotations

from datetime import UTC, datetime

__all__ = ["now"]


def now() -> datetime:
    """Return this moment, in UTC."""
    return datetime.now(UTC)
