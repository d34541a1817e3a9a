"""Type, shape, dtype, purity and refusals: what holds before any number is looked at."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from engine.code.arguments import shape_text
from engine.code.comparison import (
    DifferenceEvidence,
    contrast,
    describe_difference,
    describe_worst,
    slack_between,
    values_or_none,
    where_different,
    worst_index,
)
from engine.code.observe import PlanObservations
from engine.code.plan import VALUES_TOLERANCE, CaseGroup, ExpectedPart
from engine.code.properties import Property
from engine.code.result_kinds import ArrayResult
from engine.runner import CallStatus

Floats = NDArray[np.float64]
Judge = Callable[[CaseGroup, PlanObservations], str | None]

# how far two results of one program in different precision may lie apart, in tolerances of a right one: a
# wrong program may pass its roundings on through larger numbers
_LENIENT = 4.0
_LAYOUTS = {"read-only": "if the arrays are read-only", "strided": "if the arrays are views with gaps"}
_REFUSALS = {"ValueError", "AxisError"}
_OTHER_BUILTIN = {
    "ArithmeticError", "AssertionError", "AttributeError", "IndexError", "KeyError", "LookupError",
    "NameError", "NotImplementedError", "RecursionError", "RuntimeError", "StopIteration", "TypeError",
    "UnboundLocalError", "ZeroDivisionError", "MemoryError", "SystemExit", "KeyboardInterrupt",
}  # fmt: skip


def _runs(group: CaseGroup, run: PlanObservations) -> str | None:
    for member in group.members:
        run.returned(member)
    return None


def _shape(group: CaseGroup, run: PlanObservations) -> str | None:
    # calls that raised are no matter of shape: the checks that need their values report them
    for member in group.members:
        if run[member].status is CallStatus.RETURNED:
            _parts(run, member)
    return None


def _parts(run: PlanObservations, member: int) -> list[tuple[Floats, ExpectedPart]]:
    """Return what came back beside what should, part by part; UnusableError if the shapes differ."""
    due = run.expected(member).parts
    return [(run.values(member, place), part) for place, part in enumerate(due)]


def _dtype(group: CaseGroup, run: PlanObservations) -> str | None:
    # whether the numbers are finite is for the checks of the values to find
    for member in group.members:
        case, expected = run.plan.cases[member], run.expected(member)
        for place, (_, part) in enumerate(_parts(run, member)):
            name = expected.result.parts[place]
            result = f"the result {name}" if name else "the result"
            got, kind = (run[member].parts or ())[place].dtype, (run[member].parts or ())[place].kind
            if kind:
                due = ArrayResult().type_text(run.library)
                return DifferenceEvidence(f"{result} is {kind}, expected {due}", kind, due)
            if got != part.dtype:
                input_dtype = "float32" if case.narrow and run.library == "numpy" else part.dtype
                where = "" if part.dtype == "bool" else f"for {input_dtype} input "  # a mask's is a number
                return DifferenceEvidence(f"{where}{result} is {got}", got, part.dtype)
    return None


def _pure(group: CaseGroup, run: PlanObservations) -> str | None:
    """Judge one case (its arguments are as before), two of equal input, or two of similar input.

    Calls that raised say nothing here.
    """
    if group.data.get("similar"):
        return _stale(group, run)
    first = group.members[0]
    if len(group.members) == 1:
        observation = run[first]
        if not (observation.modified or observation.shared or observation.reused):
            return None
        call = run.call(first)
        if observation.modified:
            clause = f"after {call} an argument isn't as it was before"
        elif observation.shared:
            clause = f"writing into the result of {call} changes an argument, because it's a view of it"
        else:
            clause = f"the result of {call} is the same object, or memory, as that of an earlier call"
        return DifferenceEvidence(clause)
    for place in range(len(run.expected(first).parts)):
        pair = [values_or_none(run, member, place) for member in group.members]
        if pair[0] is None or pair[1] is None:
            return None
        clause = "{call} gave {got} in one entry, and {due} when it was called again"
        slack = slack_between(run, group.members, place)
        if evidence := describe_worst(run, first, clause, pair[0], pair[1], slack):
            return evidence
    return None


def _stale(group: CaseGroup, run: PlanObservations) -> str | None:
    # two inputs that are alike in much have different results: is the second the first's?
    first, second = group.members
    if not is_right(run, first) or is_right(run, second):
        return None
    pairs = zip(_all_values(run, first), _all_values(run, second), strict=True)
    if not all(a is not None and b is not None and np.array_equal(a, b) for a, b in pairs):
        return None
    clause = f"{run.call(second)} gave the result of {run.call(first)}, which was called before"
    return DifferenceEvidence(clause)


def _all_values(run: PlanObservations, member: int) -> list[Floats | None]:
    return [values_or_none(run, member, part) for part in range(len(run.expected(member).parts))]


def is_right(run: PlanObservations, member: int) -> bool:
    """Return whether all parts of a result are what the definition gives."""
    pairs = zip(_all_values(run, member), run.expected(member).parts, strict=True)
    return all(values is not None and not _where_wrong(values, part).any() for values, part in pairs)


def _where_wrong(got: Floats, part: ExpectedPart) -> NDArray[np.bool_]:
    # nothing is broadcast, because the shape was compared
    largest = float(np.abs(part.values).max(initial=1.0))
    return where_different(got, part.values, max(part.slack, VALUES_TOLERANCE * largest))


def _refuses(group: CaseGroup, run: PlanObservations) -> str | None:
    (member,) = group.members
    run.not_lost(member)
    observation = run[member]
    kind = None if observation.exception is None else observation.exception.type
    if kind in _REFUSALS or (kind == "RuntimeError" and run.library == "torch"):
        return None
    if kind is not None and kind not in _OTHER_BUILTIN:
        return None  # a class of the student's own
    if run[member].takes_fewer:
        return None  # an argument that is missing altogether shows in the checks of what it does
    call = run.call(member, shapes=True)
    if kind is not None:
        return DifferenceEvidence(f"{call} raised {kind}, not ValueError", kind, "ValueError")
    shape = "" if observation.shape is None else f" of shape {shape_text(observation.shape)}"
    return DifferenceEvidence(f"{call} gave a result{shape} instead of an error")


def judge_values(group: CaseGroup, run: PlanObservations) -> str | None:
    """Judge every part of every member by what the definition gives."""
    for member in group.members:
        for place, (got, part) in enumerate(_parts(run, member)):
            wrong = _where_wrong(got, part)
            if wrong.any():
                return _wrong_entry(run, member, place, got, wrong)
    return None


def _precise(group: CaseGroup, run: PlanObservations) -> str | None:
    """Judge right results by the precision of their dtype: what is far from right is found elsewhere."""
    for member in group.members:
        if is_right(run, member):
            for place, (got, part) in enumerate(_parts(run, member)):
                wrong = where_different(got, part.values, part.slack)
                if wrong.any():
                    return _wrong_entry(run, member, place, got, wrong)
    return None


def _wrong_entry(
    run: PlanObservations, member: int, place: int, got: Floats, wrong: NDArray[np.bool_]
) -> DifferenceEvidence:
    expected = run.expected(member)
    part, name = expected.parts[place], expected.result.parts[place]
    if part.dtype == "int":  # token ids: a whole result says more than one of its entries
        texts = expected.result.text(run[member].parts or (), run.library), expected.text(run.library)
        clause = f"for {run.call(member)} the result is {texts[0]}, expected {texts[1]}"
        return DifferenceEvidence(clause, *texts)
    index = worst_index(got, part.values, wrong)
    entry = f"entry [{', '.join(map(str, index))}]" if index else "the result"
    entry = f"{entry} of {name}" if name else entry
    clause = f"for {{call}} {entry} is {{got}}, expected {{due}}"
    return contrast(run, member, clause, got[index], part.values[index])


def _as_alone(group: CaseGroup, run: PlanObservations) -> str | None:
    """Judge an input in another form by what the program itself gives for the plain form.

    Members are the case and its plain form. A plain form without a result is reported elsewhere.
    """
    member, plain = group.members
    values = _all_values(run, plain)
    if any(array is None for array in values):
        return None
    layout = run.plan.cases[member].layout
    if run[plain].modified and layout == "read-only" and run[member].exception:
        return None  # it writes into its arguments: the same fault, which the check of that reports
    form = _LAYOUTS.get(layout) or f"in {run.expected(member).parts[0].dtype}"
    clause = f"for {{call}} an entry is {{got}} {form}, and {{due}} otherwise"
    for place, array in enumerate(values):
        assert array is not None
        slack = _LENIENT * slack_between(run, [member], place)
        if evidence := describe_worst(run, member, clause, run.values(member, place), array, slack):
            return evidence
    return None


def _grad(group: CaseGroup, run: PlanObservations) -> str | None:
    """Judge gradients where there are any: numpy has none, and nobody must be differentiable.

    Of a wrong result the right gradient is another.
    """
    (member,) = group.members
    gradients, due = run[member].gradients, run.expected(member).gradients
    if gradients is None or due is None or not is_right(run, member):
        return None
    if len(gradients) != len(due):
        return DifferenceEvidence(f"the gradient of {run.call(member)} can't be computed")
    for got, part in zip(gradients, due, strict=True):
        if part is None:
            continue  # nobody asks for this one
        if got is None or got.shape != part.values.shape:
            clause = f"the result of {run.call(member)} is cut off from one of its arguments"
            return DifferenceEvidence(clause)
        clause = "a gradient through {call} is {got}, expected {due}"
        if evidence := describe_worst(run, member, clause, got, part.values, part.slack):
            return evidence
    return None


# Relations between calls: the second input is made from the first, so the second output is known too.


def _last_two_differ(group: CaseGroup, run: PlanObservations, got: Floats, due: Floats) -> str | None:
    return describe_difference(run, group.members[-2:], got, due, slack_between(run, group.members))


def _unchanged(group: CaseGroup, run: PlanObservations) -> str | None:
    first, second = group.members
    due, got = run.values(first), run.values(second)
    return _last_two_differ(group, run, got, due)


def _permuted(group: CaseGroup, run: PlanObservations) -> str | None:
    first, second = group.members
    due = np.take(run.values(first), group.data["order"], axis=int(group.data["axis"]))
    return _last_two_differ(group, run, run.values(second), due)


def _other_rows(group: CaseGroup, run: PlanObservations) -> str | None:
    first, second = group.members
    changed = int(group.data["changed"])
    due = np.delete(run.values(first), changed, axis=0)
    return _last_two_differ(group, run, np.delete(run.values(second), changed, axis=0), due)


def _batch(group: CaseGroup, run: PlanObservations) -> str | None:
    # what the parts lack is reported elsewhere
    whole, *parts = group.members
    alone = [values_or_none(run, part) for part in parts]
    if any(values is None for values in alone):
        return None
    got = run.values(whole)
    due = np.stack([values for values in alone if values is not None]).reshape(got.shape)
    return describe_difference(run, [whole], got, due, slack_between(run, group.members))


def _alone(group: CaseGroup, run: PlanObservations) -> str | None:
    # what a row must get follows from the visible keys, given without any mask
    whole, *rows = group.members
    alone = [values_or_none(run, row) for row in rows]
    if any(values is None for values in alone):
        return None
    due = np.concatenate([values for values in alone if values is not None])
    return describe_difference(run, [whole], run.values(whole), due, slack_between(run, group.members))


def _linear(group: CaseGroup, run: PlanObservations) -> str | None:
    first, second, mixed = group.members
    a, b = group.data["factors"]
    return _last_two_differ(group, run, run.values(mixed), a * run.values(first) + b * run.values(second))


def _contract(name: str, title: str, sentence: str, judge: Judge) -> Property:
    return Property(name, title, sentence, judge, contract=True)


PROPERTIES = (
    Property("runs", "the function runs", "The function must return a value.", _runs),
    Property("shape", "shape of the result", "The result must be an array of the right shape.", _shape),
    _contract(
        "dtype", "dtype of the result",
        "The result must have the floating dtype of the input.", _dtype,
    ),
    _contract(
        "pure", "nothing is changed or kept",
        "Arguments must stay as they are, results must be new arrays, and equal calls must give equal ones.",
        _pure,
    ),
    _contract(
        "refuses", "wrong sizes are refused", "Inputs whose shapes don't fit must raise ValueError.", _refuses
    ),
    _contract(
        "grad", "gradients through the result",
        "Gradients through the result must be right (torch only).", _grad,
    ),
    Property(
        "values", "values of the result", "The result must equal what the definition gives.", judge_values,
        compares=True,
    ),
    _contract(
        "layout", "views and read-only arrays",
        "Views with gaps and read-only arrays must give the same result as other arrays.", _as_alone,
    ),
    _contract(
        "precision", "single precision",
        "Single precision input must give the same result as double precision, up to rounding.", _as_alone,
    ),
    _contract(
        "half", "half precision",
        "Half precision input must give the same result as double precision, up to rounding.", _as_alone,
    ),
    _contract(
        "precise", "double precision",
        "Double precision input must be computed with in double precision all along.", _precise,
    ),
    Property(
        "empty", "empty input", "An empty batch must give an empty result.", judge_values,
        compares=True, contract=True,
    ),
    # relations between calls
    Property(
        "shift", "one number added to all scores",
        "Adding one constant to all scores must not change the weights.", _unchanged,
    ),
    Property(
        "perm-eq", "reordered input",
        "Reordering the input must reorder the output in the same way.", _permuted,
    ),
    Property(
        "rowind", "rows don't affect each other",
        "A row's result must not depend on the other rows.", _other_rows,
    ),
    Property(
        "joint-perm", "keys and values reordered together",
        "Reordering keys and values together must not change the output.", _unchanged,
    ),
    Property(
        "tile-law", "the scale, on repeated features",
        "Repeating each feature four times must act like doubling the queries.", _unchanged,
    ),
    Property(
        "key-shift", "one vector added to all keys",
        "Adding one vector to all keys must not change the output.", _unchanged,
    ),
    Property("linear-v", "linearity", "The output must be linear in the values.", _linear),
    Property("batch", "leading axes", "A batch must give what its parts give one by one.", _batch),
    Property(
        "subset", "hiding a key is like leaving it out",
        "Hiding a key must act like leaving it out.", _unchanged,
    ),
    Property(
        "mask-irrel", "hidden entries don't matter",
        "What a hidden key or value holds must not matter.", _unchanged,
    ),
    Property(
        "alone", "some keys are hidden",
        "With a mask, a query must get what its visible keys alone would give.", _alone,
    ),
    Property(
        "all-true", "a mask that hides nothing", "A mask that hides nothing must change nothing.", _unchanged
    ),
)  # fmt: skip
