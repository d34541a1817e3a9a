"""What must be true of a problem file beyond the form of its values; one file a subject."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from engine.errors import Diagnostic
from engine.spec.checks.choices import check_choices
from engine.spec.checks.code_files import check_code
from engine.spec.checks.errata import check_errata, check_source
from engine.spec.checks.expressions import check_expressions
from engine.spec.checks.fields import check_fields
from engine.spec.checks.identity import check_identity, check_names
from engine.spec.checks.mistakes import check_mistakes
from engine.spec.checks.parts import check_parts, check_points
from engine.spec.checks.prose import check_prose
from engine.spec.checks.reading import Reading

__all__ = ["CHECKS", "Reading", "check_all"]

CHECKS: tuple[Callable[[Reading], Iterator[Diagnostic]], ...] = (
    check_identity,
    check_names,
    check_parts,
    check_points,
    check_choices,
    check_fields,
    check_mistakes,
    check_errata,
    check_source,
    check_code,
    check_expressions,
    check_prose,
)


def check_all(reading: Reading) -> list[Diagnostic]:
    """Return every fault that the checks find."""
    return [fault for check in CHECKS for fault in check(reading)]
