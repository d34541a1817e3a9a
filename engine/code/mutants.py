"""Known-wrong implementations: which of them does a submission behave like?

A behaviour is looked at in three facets, case by case: the values (or that it raises), the dtype, and
whether the argument was changed.  A mutant *matches* if the submission equals it wherever the mutant
differs from the reference, on at least three inputs.  It is named if no other mutant explains the
same; one that explains strictly less than another match gives way to that one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from engine.code.case import Expected, Plan
from engine.code.exercise import CodeExercise
from engine.code.observe import Observation, observe
from engine.code.source import function_names
from engine.code.tolerance import close
from engine.code.trusted import TrustedRunner
from engine.errors import EngineError
from engine.model import Diagnosis
from engine.runner import CallStatus, Job

__all__ = ["LEAST_INPUTS", "Behaviour", "differing", "mutant_behaviours", "name_mutants"]

LEAST_INPUTS = 3
# A second mistake can hide the first: large scores give NaN, masks may not work at all. So what is still
# unexplained is looked at again without those cases, and at last on plain inputs alone.
_CALMER = (
    frozenset({"ordinary", "batch", "masked", "precision"}),
    frozenset({"ordinary", "batch", "precision"}),
)
Element = tuple[int, str]  # a case and a facet: "value", "dtype" or "argument"
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Behaviour:
    """One implementation of a mutant on one plan, and where it differs from the reference."""

    mutant: str
    feedback: str
    observations: tuple[Observation, ...]
    elements: frozenset[Element]


@lru_cache(maxsize=64)
def mutant_behaviours(exercise: CodeExercise, plan: Plan) -> tuple[Behaviour, ...]:
    """Run every mutant on the plan, once per plan; they are ours, so they run in this process.

    A mutant's file may hold further functions ``NAME_…``: the same mistake in other clothes.

    Raises
    ------
    EngineError
        A mutant can't be loaded.
    """
    found: list[Behaviour] = []
    with TrustedRunner() as runner:
        for mutant in exercise.mutants:
            for name in function_names(mutant.source, exercise.function):
                job = Job(mutant.source, mutant.filename, plan.calls(name, "numpy"))
                result = runner.run(job)
                if result.load.status is not CallStatus.RETURNED:
                    raise EngineError(f"the mutant {mutant.id} of {exercise.item} can't be loaded")
                observations = observe(plan, "numpy", result.outcomes)
                elements = differing(plan, observations)
                found.append(Behaviour(mutant.id, mutant.feedback, observations, elements))
    return tuple(found)


def differing(plan: Plan, observations: Sequence[Observation]) -> frozenset[Element]:
    """Return the cases and facets in which observations differ from the reference."""
    found: set[Element] = set()
    for place, (case, observation) in enumerate(zip(plan.cases, observations, strict=True)):
        if case.expected is not None:
            found.update((place, facet) for facet in _wrong_facets(observation, case.expected))
    return frozenset(found)


def _wrong_facets(observation: Observation, expected: Expected) -> list[str]:
    facets = []
    if observation.array is None or not close(observation.array, expected.values, expected.slack):
        facets.append("value")
    if observation.array is not None and observation.dtype != expected.dtype:
        facets.append("dtype")
    if observation.modified:
        facets.append("argument")
    return facets


def name_mutants(
    exercise: CodeExercise, plan: Plan, observations: Sequence[Observation]
) -> tuple[Diagnosis, ...]:
    """Return the known mistakes that the observations equal; none where two would explain the same."""
    wrong = differing(plan, observations)
    if not wrong:
        return ()
    behaviours = mutant_behaviours(exercise, plan)
    named = _named(behaviours, plan, observations, wrong)
    for aspects in _CALMER:
        named += _named_within(aspects, behaviours, named, plan, observations, wrong)
    order = {mutant.id: place for place, mutant in enumerate(exercise.mutants)}
    feedback = {found.mutant: found.feedback for found in named}
    return tuple(Diagnosis(name, feedback[name]) for name in sorted(feedback, key=order.__getitem__))


def _named_within(
    aspects: frozenset[str],
    behaviours: Sequence[Behaviour],
    named: Sequence[Behaviour],
    plan: Plan,
    observations: Sequence[Observation],
    wrong: frozenset[Element],
) -> list[Behaviour]:
    """Return the mutants that explain, within these aspects, what the named ones leave unexplained."""

    def inside(elements: frozenset[Element]) -> frozenset[Element]:
        return frozenset(element for element in elements if plan.cases[element[0]].aspect in aspects)

    taken = {found.mutant for found in named}
    covered: frozenset[Element] = frozenset().union(*(found.elements for found in named))
    if not inside(wrong) - covered:
        return []
    rest = [
        replace(found, elements=inside(found.elements)) for found in behaviours if found.mutant not in taken
    ]
    free = [found for found in rest if not found.elements & covered]
    return _named(free, plan, observations, wrong)


def _named(
    behaviours: Iterable[Behaviour],
    plan: Plan,
    observations: Sequence[Observation],
    wrong: frozenset[Element],
) -> list[Behaviour]:
    matches = [found for found in behaviours if _matches(found, plan, observations, wrong)]
    largest = [found for found in matches if not any(found.elements < other.elements for other in matches)]
    return [
        found
        for found in largest
        if not any(found.elements & other.elements for other in largest if other.mutant != found.mutant)
    ]


def _matches(
    behaviour: Behaviour, plan: Plan, observations: Sequence[Observation], wrong: frozenset[Element]
) -> bool:
    # an element may be missing from `wrong` where rounding decides on which side of the tolerance it falls
    inputs = {place for place, _ in behaviour.elements & wrong}
    if len(inputs) < LEAST_INPUTS:
        return False
    return all(
        _same(behaviour.observations[place], observations[place], facet, plan.cases[place].expected)
        for place, facet in behaviour.elements
    )


def _same(mutant: Observation, student: Observation, facet: str, expected: Expected | None) -> bool:
    if facet == "argument":
        return bool(student.modified)
    if facet == "dtype":
        return student.dtype == mutant.dtype
    if mutant.array is None or student.array is None:
        return mutant.array is student.array and mutant.status is student.status
    assert expected is not None
    return mutant.array.shape == student.array.shape and _equal(mutant.array, student.array, expected.slack)


def _equal(mutant: Floats, student: Floats, slack: float) -> bool:
    """Return whether two wrong results are the same: also in their NaN, infinities and lost precision."""
    finite = np.isfinite(mutant)
    if not np.array_equal(mutant[~finite], student[~finite], equal_nan=True):
        return False
    a, b = mutant[finite], student[finite]
    size = max(1.0, float(np.abs(a).max(initial=0.0)))
    error = float(np.abs(a - b).max(initial=0.0)) if np.isfinite(b).all() else np.inf
    if error <= slack * size:
        return True
    # both were rounded to float32 on their way: equal as far as float32 can tell
    return error <= 1e-6 * size and _single(a) and _single(b)


def _single(values: Floats) -> bool:
    return bool(np.array_equal(values, values.astype(np.float32).astype(np.float64)))
