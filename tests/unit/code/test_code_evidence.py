"""What a sentence shows contradicts what is due: of every known mistake, and of programs near the truth."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from engine.code import CodeExercise
from engine.code.comparison import (
    DifferenceEvidence,
    contrast,
    degenerate,
    describe_difference,
    where_different,
)
from engine.code.explain.in_process import TrustedRunner
from engine.code.observe import PlanObservations, UnusableError, observe
from engine.code.plan import InputPlan
from engine.code.properties import property_of
from engine.code.source import function_names, library_of
from engine.runner import Job

pytestmark = pytest.mark.slow

CODE = Path(__file__).parents[3] / "problems" / "code"
ITEMS = sorted(path.name for path in CODE.iterdir())
# clauses of these may go without two texts to compare: an exception, a missing error, a changed argument
WORDS_ALONE = {
    "pure", "refuses", "grad", "sees-itself", "sees-past", "no-future", "hypotheses", "vocabulary", "length",
    "ends", "largest", "smallest-id", "possible",
}  # fmt: skip
# results a little off, in ways that six digits hide, and results that aren't finite
SLIGHTLY_WRONG = {
    "a little too large": "value * (1 + 3e-8)",
    "a little too small": "value * (1 - 3e-8)",
    "rounded to single precision": "single(value)",
    "infinite": "value + float('inf')",
    "not a number in places": "nan_first(value)",
}
CHANGED = """

def change(value):
    if isinstance(value, (list, tuple)):
        return type(value)(change(entry) for entry in value)
    return {how} if hasattr(value, "dtype") and "float64" in str(value.dtype) else value


def single(value):
    return value.float().double() if hasattr(value, "double") else value.astype("float32").astype("float64")


def nan_first(value):
    value = value * 1
    if value.size if hasattr(value, "astype") else value.numel():
        value.reshape(-1)[0] = float("nan")
    return value


_right = {function}


def {function}(*args, **kwargs):
    return change(_right(*args, **kwargs))
"""


# What known mistakes give, for the tests that look at it one after the other.
_KNOWN: dict[tuple[str, str, str], PlanObservations] = {}


def _seen(exercise: CodeExercise, plan: InputPlan, source: str, function: str) -> PlanObservations:
    library = library_of(source)
    with np.errstate(all="ignore"), TrustedRunner() as runner:
        result = runner.run(Job(source, "f.py", plan.calls(function, library), exercise.limits))
        return PlanObservations(plan, function, library, observe(plan, library, result.outcomes))


def _known(exercise: CodeExercise, plan: InputPlan, source: str, function: str) -> PlanObservations:
    key = (exercise.item, source, function)
    if key not in _KNOWN:
        _KNOWN[key] = _seen(exercise, plan, source, function)
    return _KNOWN[key]


def _told(exercise: CodeExercise, seen: PlanObservations) -> Iterator[tuple[str, str]]:
    """Yield every clause that any property of the plan says about a program, wherever it was told."""
    with np.errstate(all="ignore"):
        for key, groups in seen.plan.groups.items():
            name = key.split("@")[0]
            for group in groups:
                try:
                    told = (exercise.inputs.properties.get(name) or property_of(name)).judge(group, seen)
                except UnusableError:
                    continue  # says what came back instead of an array
                # a relation of the author's own may say nothing but that it doesn't hold
                by_author = name in exercise.inputs.properties and isinstance(told, DifferenceEvidence)
                if told is not None and not (by_author and not told.got):
                    yield name, told


def _shows_a_contradiction(name: str, told: str) -> None:
    assert isinstance(told, DifferenceEvidence), (name, told)
    if not told.got:
        assert name in WORDS_ALONE, (name, told)
        return
    assert told.got != told.due, (name, told)
    assert told.got in told, (name, told)
    assert told.due in told or name in ("one-hot", "stable", "rows-apart", "dtype"), (name, told)


@pytest.mark.parametrize("item", ITEMS)
def test_evidence_of_every_known_mistake_contradicts_what_is_due(
    item: str, exercise_of: Callable[[str], CodeExercise], plan_of: Callable[[str, int], InputPlan]
) -> None:
    exercise, plan = exercise_of(item), plan_of(item, 0)
    count = 0
    for mutant in exercise.mutants:
        for function in function_names(mutant.source, exercise.function):
            for name, told in _told(exercise, _known(exercise, plan, mutant.source, function)):
                _shows_a_contradiction(name, told)
                count += 1
    assert count > len(exercise.mutants)


@pytest.mark.parametrize("item", ITEMS)
def test_solutions_and_known_mistakes_compute_something(
    item: str, exercise_of: Callable[[str], CodeExercise], plan_of: Callable[[str, int], InputPlan]
) -> None:
    exercise, plan = exercise_of(item), plan_of(item, 0)
    sources = [*exercise.solutions.values(), *(mutant.source for mutant in exercise.mutants)]
    for source in sources:
        for function in function_names(source, exercise.function):
            assert degenerate(_known(exercise, plan, source, function)) is None, source


@pytest.mark.parametrize("how", SLIGHTLY_WRONG)
@pytest.mark.parametrize("item", ITEMS)
def test_evidence_of_results_near_the_truth_contradicts_what_is_due(
    item: str, how: str, exercise_of: Callable[[str], CodeExercise], plan_of: Callable[[str, int], InputPlan]
) -> None:
    exercise = exercise_of(item)
    source = exercise.solutions["solution_numpy.py"]
    source += CHANGED.format(how=SLIGHTLY_WRONG[how], function=exercise.function)
    seen = _seen(exercise, plan_of(item, 0), source, exercise.function)
    for name, told in _told(exercise, seen):
        _shows_a_contradiction(name, told)


def test_numbers_get_as_many_digits_as_it_takes(plan_of: Callable[[str, int], InputPlan]) -> None:
    seen = PlanObservations(plan_of("softmax", 0), "softmax", "numpy", ())
    assert contrast(seen, 0, "for {call} the sum is {got} instead of {due}", 0.99999998, 1) == (
        f"for {seen.call(0)} the sum is 0.99999998 instead of 1"
    )
    near = contrast(seen, 0, "for {call} it is {got} and not {due}", 1 + 2.0**-52, 1)
    assert near.got == "1.0000000000000002" and near.due == "1"


def test_infinities_and_nan_are_equal_to_themselves_alone(
    exercise_of: Callable[[str], CodeExercise], plan_of: Callable[[str, int], InputPlan]
) -> None:
    first = np.array([np.inf, -np.inf, np.nan, 1.0, 2.0])
    assert not where_different(first, first, 0.0).any()
    second = np.array([-np.inf, 0.0, 1.0, np.nan, 2.5])
    assert where_different(first, second, 0.1).all()
    plan = plan_of("softmax", 0)
    seen = PlanObservations(plan, "softmax", "numpy", ())
    told = describe_difference(seen, [0], first, second, 0.1)
    assert told is not None and told.got == "infinity" and told.due == "-infinity"
