"""Exit statuses that the child uses itself."""

from __future__ import annotations

from typing import Final

__all__ = ["OUR_FAULT"]

OUR_FAULT: Final = 71
