"""Exit statuses that the child uses itself."""

from __future__ import annotations

from typing import Final

__all__ = ["DEVICE_LOST", "OUR_FAULT"]

OUR_FAULT: Final = 71
DEVICE_LOST: Final = 72  # an error after which a GPU answers nothing in this process
