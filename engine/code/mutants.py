"""Known-wrong implementations: which of them does a submission behave like?

A behaviour is looked at in facets, case by case: the values (or that it raises), the dtype, gradients,
whether the argument was changed, and whether an input is accepted that must be refused; of this last one
only mutants are made that are right otherwise.  A mutant *matches* if the submission equals it wherever
the mutant differs from the reference, on at least three inputs.  It is named if no other mutant explains
the same; one that explains strictly less than another match gives way to that one, and of pairs that
explain the same the mistake that they share is named.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from engine.code.case import Expected, Part, Plan
from engine.code.exercise import CodeExercise
from engine.code.observe import Observation, observe
from engine.code.source import function_names, library_of
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
    frozenset({"ordinary", "batch", "masked", "precision", "half", "layout", "gradient"}),
    frozenset({"ordinary", "batch", "precision", "half", "layout", "gradient"}),
    frozenset({"ordinary"}),
)
# a case and a facet: "value 0" (of part 0), "dtype", "argument", "gradient" or "accepted"
Element = tuple[int, str]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Behaviour:
    """One implementation of a mutant on one plan, and where it differs from the reference."""

    mutant: str
    names: frozenset[str]
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
            library = library_of(mutant.source)
            for name in function_names(mutant.source, exercise.function):
                job = Job(mutant.source, mutant.filename, plan.calls(name, library))
                result = runner.run(job)
                if result.load.status is not CallStatus.RETURNED:
                    raise EngineError(f"the mutant {mutant.id} of {exercise.item} can't be loaded")
                observations = observe(plan, library, result.outcomes)
                elements = _telling(differing(plan, observations))
                names = frozenset(mutant.combines or (mutant.id,))
                found.append(Behaviour(mutant.id, names, observations, elements))
    return tuple(found)


def _telling(elements: frozenset[Element]) -> frozenset[Element]:
    """Leave out what a mutant accepts besides, unless that is all that is wrong with it."""
    results = frozenset(element for element in elements if element[1] != "accepted")
    return results or elements


def differing(plan: Plan, observations: Sequence[Observation]) -> frozenset[Element]:
    """Return the cases and facets in which observations differ from the reference."""
    found: set[Element] = set()
    for place, (case, observation) in enumerate(zip(plan.cases, observations, strict=True)):
        if case.expected is not None:
            found.update((place, facet) for facet in _wrong_facets(observation, case.expected))
        elif observation.status is CallStatus.RETURNED:
            found.add((place, "accepted"))
    return frozenset(found)


def _wrong_facets(observation: Observation, expected: Expected) -> list[str]:
    facets = [
        f"value {place}"
        for place, part in enumerate(expected.parts)
        if observation.parts is None or not close(observation.parts[place].values, part.values, part.slack)
    ]
    if observation.parts is not None and _dtypes(observation) != tuple(p.dtype for p in expected.parts):
        facets.append("dtype")
    if observation.modified:
        facets.append("argument")
    if observation.gradients is not None and expected.gradients is not None:
        facets += _wrong_gradients(observation.gradients, expected.gradients)
    return facets


def _wrong_gradients(found: tuple[Floats | None, ...], wanted: tuple[Part, ...]) -> list[str]:
    wrong = len(found) != len(wanted) or any(
        got is None or not close(got, part.values, part.slack)
        for got, part in zip(found, wanted, strict=True)
    )
    return ["gradient"] if wrong else []


def _dtypes(observation: Observation) -> tuple[str, ...]:
    return tuple(part.dtype for part in observation.parts or ())


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
    return _diagnoses(exercise, {found.mutant for found in named})


def _diagnoses(exercise: CodeExercise, named: set[str]) -> tuple[Diagnosis, ...]:
    """Return the sentences of these mutants in the order of the spec; a pair tells of both its mistakes."""
    by_id = {mutant.id: mutant for mutant in exercise.mutants}
    single = {name for mutant in named for name in by_id[mutant].combines or (mutant,)}
    return tuple(Diagnosis(mutant.id, mutant.feedback) for mutant in exercise.mutants if mutant.id in single)


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
        replace(found, elements=inside(found.elements))
        for found in behaviours
        if found.mutant not in taken and len(found.names) == 1  # what sets a pair apart may lie outside
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
    told = []
    for found in largest:
        # what else explains the same may only differ in mistakes that don't show here: a pair of mistakes
        # looks like one of them on calm inputs, so what all explanations have in common is named
        others = [other.names for other in largest if found.elements & other.elements]
        common = found.names.intersection(*others)
        if common:
            told.append(replace(found, names=common))
    return told


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
    if facet == "accepted":
        return student.status is CallStatus.RETURNED
    if facet == "dtype":
        return _dtypes(student) == _dtypes(mutant)
    assert expected is not None
    if facet == "gradient":
        return _same_gradients(mutant.gradients, student.gradients, expected.gradients or ())
    if mutant.parts is None or student.parts is None:
        return mutant.parts is student.parts and mutant.status is student.status
    part = int(facet.removeprefix("value "))
    a, b = mutant.parts[part].values, student.parts[part].values
    return a.shape == b.shape and _equal(a, b, expected.parts[part].slack)


def _same_gradients(
    mutant: tuple[Floats | None, ...] | None,
    student: tuple[Floats | None, ...] | None,
    wanted: tuple[Part, ...],
) -> bool:
    if mutant is None or student is None or not len(mutant) == len(student) == len(wanted):
        return False
    return all(
        a is b if a is None or b is None else a.shape == b.shape and _equal(a, b, part.slack)
        for a, b, part in zip(mutant, student, wanted, strict=True)
    )


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
