"""An item has one answer or steps, and points that add up."""

from __future__ import annotations

import math
from collections.abc import Iterator

from engine.errors import Diagnostic
from engine.spec.checks.reading import Reading

__all__ = ["check_parts", "check_points"]


def check_parts(reading: Reading) -> Iterator[Diagnostic]:
    """Yield an item with both ``answer`` and ``steps`` or neither, and code inside a step."""
    answer, steps = reading.at("answer"), reading.at("steps")
    if answer is not None and steps:
        yield reading.fault(("steps",), "an item has either 'answer' or 'steps', not both", key=True)
    if answer is None and not steps:
        yield reading.fault((), "the item asks for nothing: give it 'answer' or 'steps'")
    for where, _ in reading.entries("steps"):
        if reading.at(*where, "answer", "type") == "code":
            yield reading.fault(
                (*where, "answer", "type"), "a step can't ask for code; code is an item of its own"
            )


def check_points(reading: Reading) -> Iterator[Diagnostic]:
    """Yield points of an item that aren't the sum of its steps or checks."""
    steps = [reading.at(*where, "points") for where, _ in reading.entries("steps")]
    if steps:
        yield from _sum(reading, [1.0 if points is None else points for points in steps], "steps")
    if reading.at("answer", "type") == "code":
        checks = [reading.at(*where, "points") for where, _ in reading.entries("answer", "checks")]
        yield from _sum(reading, [0.0 if points is None else points for points in checks], "checks")


def _sum(reading: Reading, parts: list[object], what: str) -> Iterator[Diagnostic]:
    numbers = [float(p) for p in parts if isinstance(p, int | float) and not isinstance(p, bool)]
    if len(numbers) != len(parts) or not all(math.isfinite(p) and p >= 0 for p in numbers):
        return
    total, points = sum(numbers), reading.at("points")
    if total == 0 and what == "checks" and numbers:
        yield reading.fault(
            ("answer", "checks"), "no check earns a point; give some of them 'points'", key=True
        )
    elif isinstance(points, int | float) and not isinstance(points, bool) and abs(points - total) > 1e-9:
        message = (
            f"the points of the {what} sum to {total:g}, not {points}; correct one, or leave this line out"
        )
        yield reading.fault(("points",), message)
