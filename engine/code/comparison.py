"""Where two results differ, as a clause for the student: what most properties come to.

A clause shows what was seen beside what is due, with as many digits as it takes to tell the two apart: a
sentence whose evidence looks like the right answer is worse than none. Weights are kept beside the right
ones as well (:func:`compared_weights`), so that they can be drawn. At the end of the file are programs that
compute nothing (:func:`degenerate`): zeros, NaN, one number, an argument, an exception, random numbers.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from engine.code.arguments import LONGEST_CALL, arrays_of, describe_call, key_of
from engine.code.observe import CallObservation, PlanObservations, UnusableError
from engine.code.plan import ExpectedPart, ExpectedResult, InputPlan, PlanCase, close
from engine.code.result_kinds import ReadPart
from engine.code.step_table import StepTable
from engine.model import ComparedWeights, FloatArray
from engine.runner import CallStatus

Floats = NDArray[np.float64]

MOST_CASES = 2  # public inputs that are kept; those on which something is wrong come first
_MOST_ROWS = 12  # and columns: more can't be read on a page
_WEIGHT_CASES = {"ordinary", "batch", "masked", "all-hidden"}
_SUM_SLACK = 1e-6  # of right weights, which are computed in float64: only rounding is left


def compared_weights(run: PlanObservations) -> tuple[ComparedWeights, ...]:
    """Return the weights of a few public inputs as they came back, beside the right ones.

    The right values decide what is a row of weights: they are not negative and sum to 1, or are all 0
    where everything is hidden. Results of another kind, type or shape are left out: the checks report them.
    """
    by_call: dict[str, ComparedWeights] = {}
    for member, case in enumerate(run.plan.cases):
        if not case.public or case.expected is None or case.kind not in _WEIGHT_CASES:
            continue
        call = describe_call(case.args, run.function)
        is_long = len(call) > LONGEST_CALL
        text = describe_call(case.args, run.function, shapes=True) if is_long else call
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
    if values.ndim == 0 or values.size == 0 or not 2 <= values.shape[-1] <= _MOST_ROWS:
        return False
    if values.ndim > 1 and values.shape[-2] > _MOST_ROWS:
        return False
    sums = values.sum(axis=-1)
    ones, zeros = np.abs(sums - 1) <= _SUM_SLACK, np.all(values == 0, axis=-1)
    return bool(np.all(values >= 0) and np.all(ones | zeros) and np.any(ones))


def _compared(call: str, name: str, got: Floats, part: ExpectedPart) -> ComparedWeights:
    index = _first_wrong(got, part)
    right, mine = part.values[index], got[index]
    wrong = where_different(mine, right, part.slack)  # NaN is never right
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


class DifferenceEvidence(str):
    """A clause on what was seen instead; what was seen and what is due stand in it as `got` and `due`.

    Where nothing is compared (“raised IndexError”), both are empty. Tests hold for every known mistake
    that the two are in the clause and aren't the same.
    """

    got: str
    due: str

    def __new__(cls, clause: str, got: str = "", due: str = "") -> Self:
        """Return the clause with both texts beside it."""
        evidence = super().__new__(cls, clause)
        evidence.got, evidence.due = got, due
        return evidence


def number(value: Any, digits: int = 6) -> str:
    """Return a number with some significant digits; NaN and infinities in words."""
    x = float(value)
    if math.isnan(x):
        return "NaN"
    if math.isinf(x):
        return "infinity" if x > 0 else "-infinity"
    return f"{x:.{digits}g}"


def number_pair(got: Any, due: Any) -> tuple[str, str]:
    """Return two different numbers as text, with as many digits as it takes to tell them apart."""
    for digits in (6, 9, 12):
        pair = (number(got, digits), number(due, digits))
        if pair[0] != pair[1]:
            return pair
    return number(got, 17), number(due, 17)  # 17 digits tell any two floats apart


def contrast(
    run: PlanObservations, member: int, clause: str, got: Any, due: Any, **fields: Any
) -> DifferenceEvidence:
    """Return a clause on two numbers that differ.

    Parameters
    ----------
    run : PlanObservations
    member : int
        The case that the result is of.
    clause : str
        Holds ``{call}``, ``{got}`` and ``{due}``; the last two are filled in so that they can be told apart.
    got, due : number
    **fields
        What else is filled in.
    """
    texts = number_pair(got, due)
    text = clause.format(call=run.call(member), got=texts[0], due=texts[1], **fields)
    return DifferenceEvidence(text, *texts)


def where_different(got: Floats, due: Floats, slack: Any) -> NDArray[np.bool_]:
    """Return where two arrays lie further apart than `slack`; equal infinities, and two NaN, don't."""
    with np.errstate(invalid="ignore"):
        near = np.abs(got - due) <= slack
    return np.asarray(~(near | (got == due) | (np.isnan(got) & np.isnan(due))))


def worst_index(got: Floats, due: Floats, wrong: NDArray[np.bool_]) -> tuple[int, ...]:
    """Return the wrong entry whose error is largest; what isn't finite is larger than anything."""
    with np.errstate(invalid="ignore"):
        error = np.where(wrong, np.abs(got - due), -1.0)
    position = int(np.argmax(np.where(wrong & ~np.isfinite(error), np.inf, error)))
    return tuple(int(index) for index in np.unravel_index(position, error.shape))


def describe_worst(
    run: PlanObservations,
    member: int,
    clause: str,
    got: Floats,
    due: Floats,
    slack: Any,
    other: int | None = None,
) -> DifferenceEvidence | None:
    """Return None if two arrays of one shape agree within `slack`, else a clause on the worst entry.

    The clause is as in :func:`contrast`; ``{index}`` in it is the position of that entry along the first
    axis, ``{other}`` the call on the case `other`.
    """
    wrong = where_different(got, due, slack)
    if not wrong.any():
        return None  # before any call is written out, which takes longer than the comparison
    index = worst_index(got, due, wrong)
    fields = {"index": index[0] if index else 0, "other": "" if other is None else run.call(other)}
    return contrast(run, member, clause, got[index], due[index], **fields)


def total_slack(run: PlanObservations, members: Sequence[int], part: int = 0) -> float:
    """Return how far one part of the results of these cases may lie apart that is equal in theory."""
    return sum(run.expected(member).parts[part].slack for member in members)


def slack_between(run: PlanObservations, members: Sequence[int], part: int = 0) -> float:
    """Return the slack between results of one program, which may be wrong.

    Rounding is relative: where the numbers are larger than the right ones, so are their errors.
    """
    largest = max(_largest(values_or_none(run, member, part)) for member in members)
    right = max(_largest(run.expected(member).parts[part].values) for member in members)
    return total_slack(run, members, part) * max(1.0, largest / right if right > 0 else 1.0)


def _largest(values: Floats | None) -> float:
    largest = 0.0 if values is None else float(np.abs(values[np.isfinite(values)]).max(initial=0.0))
    return largest if math.isfinite(largest) else 0.0


def values_or_none(run: PlanObservations, member: int, part: int = 0) -> Floats | None:
    """Return one part of a program's result, to compare another one with; None if there is none.

    A call that raised, or gave another shape, is reported by the checks that it belongs to.
    """
    try:
        return run.values(member, part)
    except UnusableError:
        return None


def describe_difference(
    run: PlanObservations,
    members: Sequence[int],
    got: Floats,
    due: Floats,
    slack: float,
    *,
    noun: str = "an entry",
) -> DifferenceEvidence | None:
    """Return None if two arrays of one shape agree within `slack`, else where they differ most.

    Parameters
    ----------
    run : PlanObservations
    members : sequence of int
        The case that the result is of, or the two cases that were to agree.
    got, due : ndarray
    slack : float
        Absolute.
    noun : str
        What an entry is called.
    """
    where, other = ("between {call} and {other}", members[1]) if len(members) > 1 else ("for {call}", None)
    clause = f"{where} {noun} is {{got}} instead of {{due}}"
    return describe_worst(run, members[0], clause, got, due, slack, other)


def describe_part_difference(
    run: PlanObservations, members: Sequence[int], part: int, due: Floats
) -> DifferenceEvidence | None:
    """Return where one part of the last case's result differs from what the cases before it lead to."""
    noun = f"an entry of {run.expected(members[-1]).result.parts[part]}"
    slack = slack_between(run, members, part)
    got = run.values(members[-1], part)
    return describe_difference(run, members[-2:], got, due, slack, noun=noun)


# Programs that compute nothing break many laws and keep some others by accident. Neither says anything about
# them, so they earn nothing, and are told what they do instead of a known mistake that happens to look alike.

Kind = tuple[str, Hashable]  # what one call came to; "" for a result that may have been computed

# Of one input alone nobody can tell whether its result was computed, and two may be alike.
_LEAST_CALLS = 3
_LOOKS = 8  # calls compared with the right result, to be done with a program early


def degenerate(run: PlanObservations) -> str | None:
    """Return what a program does for every input that has a result, if it computes none of them.

    Parameters
    ----------
    run : PlanObservations
        All calls of one submission on one plan.

    Returns
    -------
    str or None
        A clause that continues “The function”, such as ``"returns NaN for every input"``; None for a
        program that computes something, be it right or wrong.
    """
    return _degenerate(run.plan, run.items)


@lru_cache(maxsize=64)  # asked for the verdict, and again for the known mistakes
def _degenerate(plan: InputPlan, items: tuple[CallObservation, ...]) -> str | None:
    run = PlanObservations(plan, "", "", items)
    is_search = any(isinstance(case.args[0], StepTable) for case in plan.cases)
    kinds: dict[Kind, None] = {}
    results: set[Hashable] = set()
    right: list[ExpectedResult] = []
    looks = _LOOKS
    for case, observation in zip(plan.cases, items, strict=True):
        if not _has_result(case, observation):
            continue
        kind = _kind(case, observation)
        if kind is None:
            return None
        right += [case.expected] if case.expected is not None else []
        kinds[kind] = None
        if observation.parts is not None and len(results) < 2:
            results.add(key_of([part.values for part in observation.parts]))
        # most programs are known by a few calls: their results differ, and one of them is right
        differs = (
            len(results) > 1 and ("", None) in kinds and isinstance(case.args[0], StepTable) is is_search
        )
        if differs and (looks := looks - 1) >= 0 and _is_right(case, observation):
            return None
    due = (key_of([part.values for part in expected.parts]) for expected in right)
    if len(right) < _LEAST_CALLS or all(key == first for first in islice(due, 1) for key in due):
        return None
    names = list(dict.fromkeys(name for name, _ in kinds))
    if "" in names:  # at least one result holds different numbers
        same = len(kinds) == 1 and len(results) == 1 and next(iter(kinds)) == ("", None)
        if not same and _is_random(run):
            return "returns other numbers each time, for the same input too, and never the right ones"
        return "returns the same result for every input" if same else _habit_of_search(run)
    if len({value for name, value in kinds if name == _ONE_NUMBER}) > 1:
        return _habit_of_search(run)  # not always the same number: mostly something was computed
    habits = [_words(name, value) for name, value in kinds]
    return f"{' or '.join(dict.fromkeys(habits))} for every input"


def _habit_of_search(run: PlanObservations) -> str | None:
    # A search that never asks its decoder, or doesn't use what it answers, gives one result for all models
    # wherever the other arguments are equal. Only models whose right results differ tell it, and no result
    # at all may be right.
    answers: dict[Hashable, tuple[set[Hashable], set[Hashable]]] = {}
    for case, observation in zip(run.plan.cases, run.items, strict=True):
        if not isinstance(case.args[0], StepTable) or case.expected is None or observation.parts is None:
            continue
        if _is_right(case, observation):
            return None
        got, due = answers.setdefault(case.args[2:], (set(), set()))
        got.add(key_of([part.values for part in observation.parts]))
        due.add(key_of([part.values for part in case.expected.parts]))
    telling = [got for got, due in answers.values() if len(due) > 1]
    if telling and all(len(got) == 1 for got in telling):
        return "returns the same whatever the decoder gives, and never the right result"
    return None


def _is_random(run: PlanObservations) -> bool:
    """Return whether equal calls gave different results, and no call of all a right one."""
    pairs = [group.members for group in run.plan.groups.get("pure", ()) if len(group.members) == 2]
    equal = [pair for pair in pairs if _same_input(run, pair)]
    arrays = [[[part.values for part in run[m].parts or ()] for m in pair] for pair in equal]
    if not any(first and second and key_of(first) != key_of(second) for first, second in arrays):
        return False
    return not any(_is_right(case, item) for case, item in zip(run.plan.cases, run.items, strict=True))


def _same_input(run: PlanObservations, pair: Sequence[int]) -> bool:
    first, second = (arrays_of(run.plan.cases[member].args) for member in pair)
    return all(map(np.array_equal, first, second))


def _is_right(case: PlanCase, observation: CallObservation) -> bool:
    if case.expected is None or observation.parts is None:
        return False
    if all(np.ptp(part.values) == 0 for part in case.expected.parts if part.values.size):
        return False  # a single weight is 1 whatever it was made of
    pairs = zip(observation.parts, case.expected.parts, strict=True)
    # much wider than any tolerance: a program that is right except for its precision isn't random
    return all(
        got.values.shape == part.values.shape and np.allclose(got.values, part.values, rtol=1e-2, atol=1e-6)
        for got, part in pairs
    )


_ONE_NUMBER = "one number"


def _has_result(case: PlanCase, observation: CallObservation) -> bool:
    # cases of an empty result are right whatever was computed, and calls that weren't made show nothing
    if case.expected is None or observation.status is CallStatus.NOT_RUN:
        return False
    return any(part.values.size for part in case.expected.parts)


def _kind(case: PlanCase, observation: CallObservation) -> Kind | None:
    # where nothing of the right type came, the checks of the type say so: such a program isn't degenerate
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
    return (_ONE_NUMBER, float(whole[0])) if (whole == whole[0]).all() else ("", None)


def _are_arguments(arrays: Sequence[Floats], case: PlanCase) -> bool:
    # where the right result is an argument too, giving it back is no sign of anything
    assert case.expected is not None
    arguments = [np.asarray(array, dtype=np.float64) for array in arrays_of(case.args)]
    if not all(any(np.array_equal(array, argument) for argument in arguments) for array in arrays):
        return False
    right = [part.values for part in case.expected.parts]
    return not all(map(np.array_equal, arrays, right))


def _words(name: str, value: Hashable) -> str:
    if name == _ONE_NUMBER:
        return f"returns the number {number(value)} everywhere"
    return {
        "raises": "raises an exception",
        "empty": "returns an empty result",
        "NaN": "returns NaN",
        "zeros": "returns zeros",
        "argument": "returns an argument as it is",
    }[name]
