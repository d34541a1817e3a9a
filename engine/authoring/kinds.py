"""What a new item can begin as; apart from the rest, so that ``--help`` loads nothing else."""

from __future__ import annotations

__all__ = ["KINDS"]

KINDS = (
    "single_choice",
    "single_choice_pool",
    "multiple_choice",
    "number",
    "vector",
    "matrix",
    "token",
    "ordering",
    "matching",
    "steps",
    "code",
)
"""What can be begun: the answer types, single choice computed and from a pool, and several steps."""
