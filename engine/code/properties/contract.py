"""Type, shape, dtype, purity and refusals: what holds before any number is looked at."""

from __future__ import annotations

import numpy as np

from engine.code.case import Group
from engine.code.observe import Observations
from engine.code.properties.catalogue import Property
from engine.code.show import described, number_pair, shape_text, worst_place
from engine.code.tolerance import VALUES
from engine.runner import CallStatus

__all__ = ["PROPERTIES"]

_REFUSALS = {"ValueError", "AxisError"}
_OTHER_BUILTIN = {
    "ArithmeticError", "AssertionError", "AttributeError", "IndexError", "KeyError", "LookupError",
    "NameError", "NotImplementedError", "RecursionError", "RuntimeError", "StopIteration", "TypeError",
    "UnboundLocalError", "ZeroDivisionError", "MemoryError", "SystemExit", "KeyboardInterrupt",
}  # fmt: skip


def _runs(group: Group, seen: Observations) -> str | None:
    for member in group.members:
        seen.returned(member)
    return None


def _shape(group: Group, seen: Observations) -> str | None:
    """Calls that raised are no matter of shape: the checks that need their values report them."""
    for member in group.members:
        if seen[member].status is CallStatus.RETURNED:
            seen.values(member)
    return None


def _dtype(group: Group, seen: Observations) -> str | None:
    for member in group.members:
        values, wanted = seen.values(member), seen.expected(member).dtype
        got = seen[member].dtype
        if got != wanted:
            return f"for {wanted} input the result is {got}"
        if not np.isfinite(values).all():
            return f"for {wanted} input the result isn't finite"
    return None


def _pure(group: Group, seen: Observations) -> str | None:
    """Judge one case (its argument is as before) or two cases of equal input (equal results)."""
    if len(group.members) == 2:
        first, second = (seen.values(member) for member in group.members)
        if not np.array_equal(first, second, equal_nan=True):
            slack = seen.expected(group.members[0]).slack
            if not np.allclose(first, second, rtol=0.0, atol=slack, equal_nan=True):
                return "the same call gave two different results"
        return None
    (member,) = group.members
    seen.returned(member)
    if seen[member].modified:
        return (
            f"after {described(seen.plan, member, seen.function)} the argument had other values than before"
        )
    return None


def _refuses(group: Group, seen: Observations) -> str | None:
    (member,) = group.members
    seen.not_lost(member)
    observation = seen[member]
    kind = None if observation.exception is None else observation.exception.type
    if kind in _REFUSALS or (kind == "RuntimeError" and seen.library == "torch"):
        return None
    if kind is not None and kind not in _OTHER_BUILTIN:
        return None  # a class of the student's own
    call = described(seen.plan, member, seen.function, shapes=True)
    if kind is not None:
        return f"{call} raised {kind}, not ValueError"
    shape = "" if observation.shape is None else f" of shape {shape_text(observation.shape)}"
    return f"{call} gave a result{shape} instead of an error"


def _values(group: Group, seen: Observations) -> str | None:
    """NaN never equals anything; nothing is broadcast, because the shape was compared first."""
    for member in group.members:
        got, expected = seen.values(member), seen.expected(member)
        error = np.abs(got - expected.values)
        largest = float(np.abs(expected.values).max(initial=1.0))
        if not (error <= max(expected.slack, VALUES * largest)).all():
            worst = worst_place(error)
            place = ", ".join(str(index) for index in worst)
            found, wanted = number_pair(got[worst], expected.values[worst])
            call = described(seen.plan, member, seen.function)
            return f"for {call} entry [{place}] is {found}, expected {wanted}"
    return None


PROPERTIES = (
    Property("runs", "The function must return a value.", _runs),
    Property("shape", "The result must be an array of the right shape.", _shape),
    Property("dtype", "The result must have the floating dtype of the input.", _dtype),
    Property("pure", "The function must leave its arguments as they are and repeat its result.", _pure),
    Property("refuses", "Inputs whose shapes don't fit must raise ValueError.", _refuses),
    Property("values", "The result must equal what the definition gives.", _values),
)
