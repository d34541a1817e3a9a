"""What must be true of a problem file beyond the form of its values; one module for each subject."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from engine.errors import Diagnostic
from engine.items.checks.code import check_code
from engine.items.checks.context import CheckContext
from engine.items.checks.structure import STRUCTURE_CHECKS
from engine.items.checks.texts import check_expressions, check_prose

__all__ = ["CHECKS", "COMMON_CHECKS", "CheckContext"]

# In the order of the reference page. It doesn't matter for a file, whose faults are sorted by line.
COMMON_CHECKS: tuple[Callable[[CheckContext], Iterator[Diagnostic]], ...] = (
    *STRUCTURE_CHECKS,
    check_expressions,
    check_prose,
)
"""The checks of every item."""
CHECKS = (*COMMON_CHECKS, check_code)
"""The checks of a code exercise."""
