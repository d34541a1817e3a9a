"""The weights that a submission gave for public inputs, beside the right ones: they can be drawn."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from engine.code.observe import PlanObservations
from engine.code.plan import ExpectedPart, PlanCase
from engine.code.results import ReadPart
from engine.code.show import described
from engine.code.tolerance import close
from engine.model import ComparedWeights, FloatArray

__all__ = ["MOST_CASES", "compared_weights"]


MOST_CASES = 2
"""How many public inputs are kept; those on which something is wrong come first."""
_MOST = 12
"""Most rows and most columns: more can't be read on a page."""
_KINDS = {"ordinary", "batch", "masked", "all-hidden"}
_SUM_SLACK = 1e-6
_LONGEST_CALL = 160


def compared_weights(run: PlanObservations) -> tuple[ComparedWeights, ...]:
    """Return the weights of a few public inputs as they came back, beside the right ones.

    What is a row of weights is told by the right values: they are not negative and sum to 1, or are all 0
    where everything is hidden. Results of another kind, type or shape are left out: the checks tell them.
    """
    by_call: dict[str, ComparedWeights] = {}
    for member, case in enumerate(run.plan.cases):
        if not case.public or case.expected is None or case.kind not in _KINDS:
            continue
        call = described(run.plan, member, run.function)
        is_long = len(call) > _LONGEST_CALL
        text = described(run.plan, member, run.function, shapes=True) if is_long else call
        for name, got, part in _weights(run, member, case):
            if call not in by_call:
                by_call[call] = _compared(text, name, got.values, part)
    ordered = sorted(by_call.values(), key=lambda compared: not compared.differing)
    return tuple(ordered[:MOST_CASES] if ordered and ordered[0].differing else ordered[:1])


def _weights(
    run: PlanObservations, member: int, case: PlanCase
) -> Iterator[tuple[str, ReadPart, ExpectedPart]]:
    """Yield the parts of one result that should be weights, by name."""
    parts, expected = run[member].parts, case.expected
    if parts is None or expected is None:
        return
    for name, got, part in zip(expected.result.parts, parts, expected.parts, strict=True):
        if part.dtype != "int" and got.values.shape == part.values.shape and _are_weights(part.values):
            yield name, got, part


def _are_weights(values: Floats) -> bool:
    if values.ndim == 0 or values.size == 0 or not 2 <= values.shape[-1] <= _MOST:
        return False
    if values.ndim > 1 and values.shape[-2] > _MOST:
        return False
    sums = values.sum(axis=-1)
    ones, zeros = np.abs(sums - 1) <= _SUM_SLACK, np.all(values == 0, axis=-1)
    return bool(np.all(values >= 0) and np.all(ones | zeros) and np.any(ones))


def _compared(call: str, name: str, got: Floats, part: ExpectedPart) -> ComparedWeights:
    index = _first_wrong(got, part)
    right, mine = part.values[index], got[index]
    wrong = ~(np.abs(mine - right) <= part.slack)  # NaN is never right
    place = name + (f"[{', '.join(map(str, index))}]" if index else "")
    flat = tuple(int(i) for i in np.flatnonzero(wrong))
    return ComparedWeights(call, place, _array(mine), _array(right), flat)


def _first_wrong(got: Floats, part: ExpectedPart) -> tuple[int, ...]:
    # of a stack one matrix is shown
    stack = list(np.ndindex(got.shape[:-2])) if got.ndim > 2 else [()]
    differing = (i for i in stack if not close(got[i], part.values[i], part.slack))
    return next(differing, stack[0])


def _array(values: Floats) -> FloatArray:
    # it is stored for every submission, and nobody reads a tenth digit of a weight
    rows = np.atleast_2d(values)
    return FloatArray((rows.shape[0], rows.shape[1]), tuple(float(f"{x:.9g}") for x in rows.ravel()))
