"""Programs that compute nothing: zeros, NaN, one number, an argument, an exception or random numbers.

Such a program breaks many laws and keeps some others by accident. Neither says anything about it, so it
earns nothing, and it's told what it does instead of a known mistake that happens to look alike.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from engine.code.arguments import arrays_of
from engine.code.case import Case
from engine.code.observe import Observation, Observations
from engine.code.show import number
from engine.code.step_table import StepTable
from engine.runner import CallStatus

__all__ = ["degenerate"]

Floats = NDArray[np.float64]
Kind = tuple[str, Hashable]  # what one call came to; "" for a result that may have been computed

# of one input alone nobody can tell whether its result was computed
_LEAST = 3


def degenerate(seen: Observations) -> str | None:
    """Return what a program does for every input that has a result, if it computes none of them.

    Parameters
    ----------
    seen : Observations
        All calls of one submission on one plan.

    Returns
    -------
    str or None
        A clause that continues “The function”, such as ``"returns NaN for every input"``; None for a
        program that computes something, be it right or wrong.
    """
    kinds: dict[Kind, None] = {}
    results: set[Hashable] = set()
    wanted: set[Hashable] = set()
    judged = 0
    for case, observation in zip(seen.plan.cases, seen.items, strict=True):
        if not _tells(case, observation):
            continue
        kind = _kind(case, observation)
        if kind is None:
            return None
        judged += 1
        kinds[kind] = None
        if observation.parts is not None:
            results.add(_key([part.values for part in observation.parts]))
        if case.expected is not None:
            wanted.add(_key([part.values for part in case.expected.parts]))
    if judged < _LEAST or len(wanted) < 2:
        return None
    names = list(dict.fromkeys(name for name, _ in kinds))
    if "" in names:  # at least one result holds different numbers
        same = len(kinds) == 1 and len(results) == 1 and next(iter(kinds)) == ("", None)
        if not same and _is_random(seen):
            return "returns other numbers each time, for the same input too, and never the right ones"
        return "returns the same result for every input" if same else _without_model(seen)
    if len({value for name, value in kinds if name == _ONE}) > 1:
        return _without_model(seen)  # not always the same number: mostly something was computed
    told = [_words(name, value) for name, value in kinds]
    return f"{' or '.join(dict.fromkeys(told))} for every input"


def _without_model(seen: Observations) -> str | None:
    """Return the clause on a search that never asks its decoder, or doesn't use what it answers."""
    if _ignores_the_model(seen):
        return "returns the same whatever the decoder gives, and never the right result"
    return None


def _ignores_the_model(seen: Observations) -> bool:
    """Return whether a search gives one result for all models wherever the other arguments are equal.

    Only models whose right results differ tell it, and no result at all may be right.
    """
    answers: dict[Hashable, tuple[set[Hashable], set[Hashable]]] = {}
    for case, observation in zip(seen.plan.cases, seen.items, strict=True):
        if not isinstance(case.args[0], StepTable) or case.expected is None or observation.parts is None:
            continue
        if _is_right(case, observation):
            return False
        got, due = answers.setdefault(case.args[2:], (set(), set()))
        got.add(_key([part.values for part in observation.parts]))
        due.add(_key([part.values for part in case.expected.parts]))
    told = [got for got, due in answers.values() if len(due) > 1]
    return bool(told) and all(len(got) == 1 for got in told)


def _is_random(seen: Observations) -> bool:
    """Return whether equal calls gave different results, and no call of all a right one."""
    pairs = [group.members for group in seen.plan.groups.get("pure", ()) if len(group.members) == 2]
    equal = [pair for pair in pairs if _same_input(seen, pair)]
    arrays = [[[part.values for part in seen[m].parts or ()] for m in pair] for pair in equal]
    if not any(first and second and _key(first) != _key(second) for first, second in arrays):
        return False
    return not any(_is_right(case, item) for case, item in zip(seen.plan.cases, seen.items, strict=True))


def _same_input(seen: Observations, pair: Sequence[int]) -> bool:
    first, second = (arrays_of(seen.plan.cases[member].args) for member in pair)
    return all(map(np.array_equal, first, second))


def _is_right(case: Case, observation: Observation) -> bool:
    if case.expected is None or observation.parts is None:
        return False
    if all(np.ptp(part.values) == 0 for part in case.expected.parts if part.values.size):
        return False  # a single weight is 1 whatever it was made of
    pairs = zip(observation.parts, case.expected.parts, strict=True)
    return all(
        got.values.shape == part.values.shape and np.allclose(got.values, part.values, rtol=1e-2, atol=1e-6)
        for got, part in pairs
    )


_ONE = "one number"


def _tells(case: Case, observation: Observation) -> bool:
    """Return whether a case has a result to compute, and the call was made."""
    if case.expected is None or observation.status is CallStatus.NOT_RUN:
        return False
    return any(part.values.size for part in case.expected.parts)


def _kind(case: Case, observation: Observation) -> Kind | None:
    """Return what a call came to; None where nothing of the right type came, which other checks report."""
    if observation.exception is not None:
        return "raises", None
    if observation.parts is None:
        return None
    arrays = [part.values for part in observation.parts]
    whole = np.concatenate([array.ravel() for array in arrays])
    if not whole.size:
        return "empty", None
    if np.isnan(whole).all():
        return "NaN", None
    if (whole == 0).all():
        return "zeros", None
    if _are_arguments(arrays, case):
        return "argument", None
    return (_ONE, float(whole[0])) if (whole == whole[0]).all() else ("", None)


def _are_arguments(arrays: Sequence[Floats], case: Case) -> bool:
    """Return whether every part is an argument as it came, and the right result is another."""
    assert case.expected is not None
    given = [np.asarray(array, dtype=np.float64) for array in arrays_of(case.args)]
    if not all(any(np.array_equal(array, argument) for argument in given) for array in arrays):
        return False
    right = [part.values for part in case.expected.parts]
    return not all(map(np.array_equal, arrays, right))


def _key(arrays: Sequence[Floats]) -> Hashable:
    return tuple((array.shape, array.tobytes()) for array in arrays)


def _words(name: str, value: Hashable) -> str:
    if name == _ONE:
        return f"returns the number {number(value)} everywhere"
    return {
        "raises": "raises an exception",
        "empty": "returns an empty result",
        "NaN": "returns NaN",
        "zeros": "returns zeros",
        "argument": "returns an argument as it is",
    }[name]
