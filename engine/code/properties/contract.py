"""Type, shape, dtype, purity and refusals: what holds before any number is looked at."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.code.case import Expected, Group, Part
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
            _parts(seen, member)
    return None


def _parts(seen: Observations, member: int) -> list[tuple[NDArray[np.float64], Part]]:
    """Return what came back beside what should, part by part; UnusableError if the shapes differ."""
    wanted = seen.expected(member).parts
    return [(seen.values(member, place), part) for place, part in enumerate(wanted)]


def _dtype(group: Group, seen: Observations) -> str | None:
    for member in group.members:
        case, expected = seen.plan.cases[member], seen.expected(member)
        for place, (values, part) in enumerate(_parts(seen, member)):
            came = "float32" if case.narrow and seen.library == "numpy" else part.dtype
            name = _of_part(expected, place)
            got = (seen[member].parts or ())[place].dtype
            if got != part.dtype:
                return f"for {came} input the result{name} is {got}"
            if not np.isfinite(values).all():
                return f"for {came} input the result{name} isn't finite"
    return None


def _of_part(expected: Expected, place: int) -> str:
    name = expected.result.parts[place]
    return f" {name}" if name else ""


def _pure(group: Group, seen: Observations) -> str | None:
    """Judge one case (its argument is as before) or two cases of equal input (equal results)."""
    if len(group.members) == 2:
        pairs = zip(*(_parts(seen, member) for member in group.members), strict=True)
        same = (_repeats(first, second, part.slack) for (first, part), (second, _) in pairs)
        return None if all(same) else "the same call gave two different results"
    (member,) = group.members
    seen.returned(member)
    if seen[member].modified:
        return (
            f"after {described(seen.plan, member, seen.function)} the argument had other values than before"
        )
    return None


def _repeats(first: NDArray[np.float64], second: NDArray[np.float64], slack: float) -> bool:
    return bool(np.allclose(first, second, rtol=0.0, atol=slack, equal_nan=True))


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
        for place, (got, part) in enumerate(_parts(seen, member)):
            error = np.abs(got - part.values)
            largest = float(np.abs(part.values).max(initial=1.0))
            if (error <= max(part.slack, VALUES * largest)).all():
                continue
            return _apart(seen, member, place, got, part)
    return None


def _apart(seen: Observations, member: int, place: int, got: NDArray[np.float64], part: Part) -> str:
    call = described(seen.plan, member, seen.function)
    expected = seen.expected(member)
    if part.dtype == "int":
        got_text = expected.result.text(seen[member].parts or (), seen.library)
        return f"for {call} the result is {got_text}, expected {expected.text(seen.library)}"
    worst = worst_place(np.abs(got - part.values))
    where = ", ".join(str(index) for index in worst)
    found, wanted = number_pair(got[worst], part.values[worst])
    entry, name = f"entry [{where}]" if where else "the result", expected.result.parts[place]
    named = f"{entry} of {name}" if name else entry
    return f"for {call} {named} is {found}, expected {wanted}"


def _grad(group: Group, seen: Observations) -> str | None:
    """Judge gradients where there are any: numpy has none, and nobody must be differentiable."""
    (member,) = group.members
    _parts(seen, member)
    found, wanted = seen[member].gradients, seen.expected(member).gradients
    if found is None or wanted is None:
        return None
    call = described(seen.plan, member, seen.function)
    if len(found) != len(wanted):
        return f"the gradient of {call} can't be computed"
    for got, part in zip(found, wanted, strict=True):
        if got is None or got.shape != part.values.shape:
            return f"the result of {call} is cut off from one of its arguments"
        if not (np.abs(got - part.values) <= part.slack).all():
            worst = worst_place(np.abs(got - part.values))
            pair = number_pair(got[worst], part.values[worst])
            return f"a gradient through {call} is {pair[0]}, expected {pair[1]}"
    return None


def _comparison(name: str, title: str, sentence: str) -> Property:
    return Property(name, title, sentence, _values, compares=True)


PROPERTIES = (
    Property("runs", "the function runs", "The function must return a value.", _runs),
    Property("shape", "shape of the result", "The result must be an array of the right shape.", _shape),
    Property("dtype", "dtype of the result", "The result must have the floating dtype of the input.", _dtype),
    Property(
        "pure",
        "arguments stay unchanged, equal calls give equal results",
        "The function must leave its arguments as they are and repeat its result.",
        _pure,
    ),
    Property(
        "refuses", "wrong sizes are refused", "Inputs whose shapes don't fit must raise ValueError.", _refuses
    ),
    Property(
        "grad",
        "gradients through the result",
        "Gradients through the result must be right (torch only).",
        _grad,
    ),
    _comparison("values", "values of the result", "The result must equal what the definition gives."),
    _comparison(
        "layout",
        "views and read-only arrays",
        "Views with gaps and read-only arrays must give the same result.",
    ),
    _comparison("empty", "empty input", "An empty batch must give an empty result."),
    _comparison("half", "half precision", "Half precision input must give the same result, up to rounding."),
)
