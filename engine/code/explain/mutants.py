"""Known-wrong implementations: which of them does a submission behave like?

A behaviour is looked at in facets, case by case: the values (or that it raises), the dtype, gradients,
whether the argument was changed, and whether an input that must be refused is accepted or raises another
exception than the one that is asked for; of these last two only mutants are made that are right otherwise.
A mutant *matches* if the submission equals it wherever the mutant differs from the reference, on at least
three inputs.  It is named if no other mutant explains the same; one that explains strictly less than another
match gives way to that one, and of pairs that explain the same the mistake that they share is named.

Two rules keep names from programs that only break in the same way.  A program that computes nothing
(:func:`engine.code.comparison.degenerate`) is described as such.  And a mutant that is known by NaN, zeros or
exceptions alone is named only if the submission mostly gives something else where that mutant is right: a row
of NaN is no sign of an overflow if small scores give NaN too.
"""

from __future__ import annotations

import threading
from collections.abc import Container, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from engine.code.comparison import degenerate
from engine.code.exercise import CodeExercise, KnownWrongProgram
from engine.code.explain.in_process import TrustedProgram
from engine.code.observe import CallObservation, PlanObservations, observed
from engine.code.plan import VALUES_TOLERANCE, ExpectedPart, ExpectedResult, InputPlan, close
from engine.code.source import function_names, library_of
from engine.errors import EngineError
from engine.model import Diagnosis
from engine.runner import CallStatus, Job

# What known-wrong implementations do on a plan, found out case by case and only as far as needed.

Floats = NDArray[np.float64]
_REMEMBERED = 6
_NO_REFUSALS = frozenset({"AssertionError", "IndexError", "KeyError", "LookupError", "TypeError"})
"""Exceptions that checks of sizes are written with, or that come by themselves, where ValueError is asked."""


class MutantBehaviour:
    """One implementation of a mutant on one plan; it is ours, so it runs in this process.

    Parameters
    ----------
    mutant : KnownWrongProgram
    function : str
        Which of its functions: a file may hold the same mistake in several clothes.
    plan : InputPlan
    telling : list of str
        Ids of cases that distinguished this function from a submission before, the latest first; kept from
        plan to plan, because a case's id says what kind of input it is.
    likely : sequence of int
        Places of the cases that the checks judge which it fails.
    """

    def __init__(
        self,
        mutant: KnownWrongProgram,
        function: str,
        plan: InputPlan,
        telling: list[str],
        likely: Sequence[int],
    ) -> None:
        self.mutant = mutant.id
        self.names = frozenset(mutant.combines or (mutant.id,))
        self._source, self._filename = mutant.source, mutant.filename
        self._plan, self._telling, self._likely = plan, telling, likely
        self._function = function
        self._seen: dict[int, tuple[CallObservation, tuple[str, ...]]] = {}
        self._wrong: list[int] = []  # of the cases seen

    def result_on(self, place: int) -> tuple[CallObservation, tuple[str, ...]]:
        """Return what it does on a case, and the facets in which that is wrong.

        Raises
        ------
        EngineError
            It can't be loaded.
        """
        if place not in self._seen:
            program, library = _program(self._source, self._filename)
            if program.load.status is not CallStatus.RETURNED:
                raise EngineError(f"the mutant {self.mutant} can't be loaded")
            case, sent = self._plan.cases[place], self._plan.sent(library)[place]
            # whose memory a result is made of isn't looked at here, and comparing it takes most of the time
            call = replace(sent, function=self._function, overwrite_result=False)
            observation = observed(case, call, program.call(call), library)
            facets = wrong_facets(observation, case.expected)
            self._seen[place] = observation, facets
            if facets:
                self._wrong.append(place)
        return self._seen[place]

    def order(self, suspects: Container[int]) -> Iterator[int]:
        """Yield the cases where it may be wrong by their place: those where it's known to be come first.

        Parameters
        ----------
        suspects : container of int
            Where the submission is wrong: it's told from this more easily where it's right.
        """
        yield from tuple(self._wrong)
        if len(self._seen) < len(self._plan.cases):
            telling = (place for case in self._telling if (place := self._plan.places.get(case)) is not None)
            likely = sorted(self._likely, key=lambda place: place in suspects)
            for place in dict.fromkeys((*telling, *likely, *range(len(self._plan.cases)))):
                if place not in self._seen:
                    yield place

    def remember_difference(self, place: int) -> None:
        """Remember a case in which a submission wasn't like this."""
        case = self._plan.cases[place].id
        if case in self._telling:
            self._telling.remove(case)
        self._telling.insert(0, case)
        del self._telling[_REMEMBERED:]


class MutantGallery:
    """All behaviours of an exercise's mutants on one plan; one thread at a time looks at them."""

    def __init__(self, exercise: CodeExercise, plan: InputPlan) -> None:
        self.lock = threading.RLock()
        checks = {check.id: check for check in exercise.checks}
        self._behaviours: list[tuple[Set[str] | None, MutantBehaviour]] = []
        for mutant in exercise.mutants:
            killers = [checks[name] for name in mutant.killed_by if name in checks]
            groups = [group for check in killers for group in plan.groups.get(check.key, ())]
            likely = tuple(dict.fromkeys(place for group in groups for place in group.members))
            facets = [_FACETS.get(check.property.name) for check in killers]
            known = [some for some in facets if some is not None]
            needed = frozenset().union(*known) if known and len(known) == len(facets) else None
            for function in _functions(mutant.source, exercise.function):
                telling = _said_of_behaviours.setdefault((exercise.version, mutant.id, function), [])
                self._behaviours.append((needed, MutantBehaviour(mutant, function, plan, telling, likely)))

    def behaviours(self, facets: Set[str]) -> list[MutantBehaviour]:
        """Return those that a submission may be like that is wrong in these facets.

        What only the check of the gradients fails, or that of refusals, is right otherwise. The first kind is
        written with torch, which takes a second to be imported.
        """
        return [
            mutant for needed, mutant in self._behaviours if needed is None or not needed.isdisjoint(facets)
        ]


# In what a result is wrong of which a property doesn't hold.
_FACETS = {"grad": frozenset({"gradient"}), "refuses": frozenset({"accepted", "other error"})}
_functions = lru_cache(maxsize=4096)(function_names)


@lru_cache(maxsize=4096)
def _program(source: str, filename: str) -> tuple[TrustedProgram, str]:
    # file and library are the same for all plans, so it is loaded once
    return TrustedProgram(Job(source, filename, ())), library_of(source)


_said_of_behaviours: dict[tuple[str, str, str], list[str]] = {}


@lru_cache(maxsize=64)
def gallery(exercise: CodeExercise, plan: InputPlan) -> MutantGallery:
    """Return the mutants of an exercise on a plan; each is loaded when it is first looked at."""
    return MutantGallery(exercise, plan)


def wrong_facets(observation: CallObservation, expected: ExpectedResult | None) -> tuple[str, ...]:
    """Return the facets in which an observation isn't right.

    They are ``"value 0"`` (of part 0) and so on, ``"dtype"``, ``"argument"``, ``"gradient"``, or, for an
    input that must be refused, ``"accepted"`` or ``"other error"``.
    """
    if expected is None:
        if observation.status is CallStatus.RETURNED:
            return ("accepted",)
        if observation.exception is None or observation.takes_fewer:
            return ()
        return ("other error",) if observation.exception.type in _NO_REFUSALS else ()
    facets = [
        f"value {place}"
        for place, part in enumerate(expected.parts)
        if observation.parts is None or not close(observation.parts[place].values, part.values, part.slack)
    ]
    parts = observation.parts
    if parts is not None and any(
        got.dtype != part.dtype and not got.kind for got, part in zip(parts, expected.parts, strict=True)
    ):
        facets.append("dtype")
    if observation.modified:
        facets.append("argument")
    if observation.gradients is not None and expected.gradients is not None:
        facets += _wrong_gradients(observation.gradients, expected.gradients)
    return tuple(facets)


def _wrong_gradients(gradients: tuple[Floats | None, ...], due: tuple[ExpectedPart | None, ...]) -> list[str]:
    wrong = len(gradients) != len(due) or any(
        got is None or not close(got, part.values, part.slack)
        for got, part in zip(gradients, due, strict=True)
        if part is not None
    )
    return ["gradient"] if wrong else []


LEAST_INPUTS = 3
"""Fewer inputs name a mistake only if nothing else is wrong: two programs that differ from the right one in
one place, and there in the same way, are the same as far as anybody can see."""
# A second mistake can hide the first: large scores give NaN, masks may not work at all. So what is still
# unexplained is looked at again without those cases, and at last on plain inputs alone.
_CALMER = (
    frozenset({"ordinary", "batch", "masked", "precision", "half", "layout", "gradient"}),
    frozenset({"ordinary", "batch", "precision", "half", "layout", "gradient"}),
    frozenset({"ordinary"}),
)
Element = tuple[int, str]  # a case and a facet of it


@dataclass(frozen=True, slots=True)
class _Match:
    """A mutant that the submission equals wherever the mutant is wrong."""

    behaviour: MutantBehaviour
    names: frozenset[str]
    elements: frozenset[Element]


@dataclass(frozen=True, slots=True)
class _Submission:
    """What a submission did, and where that is wrong; whether small slips of its own are overlooked."""

    plan: InputPlan
    observations: Sequence[CallObservation]
    wrong: frozenset[Element]
    places: frozenset[int]
    loosely: bool = False

    @classmethod
    def of(cls, plan: InputPlan, observations: Sequence[CallObservation]) -> _Submission:
        cases = enumerate(zip(plan.cases, observations, strict=True))
        wrong = {
            (place, facet)
            for place, (case, observation) in cases
            for facet in wrong_facets(observation, case.expected)
        }
        return cls(plan, observations, frozenset(wrong), frozenset(place for place, _ in wrong))


def name_mutants(
    exercise: CodeExercise, plan: InputPlan, observations: Sequence[CallObservation]
) -> tuple[Diagnosis, ...]:
    """Return the known mistakes that the observations equal; none where two would explain the same."""
    submission = _Submission.of(plan, observations)
    if not submission.wrong:
        return ()
    if degenerate(PlanObservations(plan, exercise.function, "", tuple(observations))) is not None:
        return ()
    mutants = gallery(exercise, plan)
    with mutants.lock:
        behaviours = mutants.behaviours({facet for _, facet in submission.wrong})
        matches = _best_matches(_matches(behaviours, submission, None))
        for kinds in _CALMER:
            matches += _named_within(kinds, behaviours, matches, submission)
        # only now, because there are mutants that differ from one another by as little
        loosely = replace(submission, loosely=True)
        matches = matches or _best_matches(_matches(behaviours, loosely, None))
        for kinds in _CALMER:
            matches += _named_within(kinds, behaviours, matches, loosely)
    return _diagnoses(exercise, {name for match in matches for name in match.names})


def _diagnoses(exercise: CodeExercise, mutants: set[str]) -> tuple[Diagnosis, ...]:
    # in the order of the spec
    return tuple(Diagnosis(mutant.id, mutant.feedback) for mutant in exercise.mutants if mutant.id in mutants)


def _named_within(
    kinds: frozenset[str],
    behaviours: Sequence[MutantBehaviour],
    earlier: Sequence[_Match],
    submission: _Submission,
) -> list[_Match]:
    """Return the mutants that explain, within these aspects, what the named ones leave unexplained."""
    cases = submission.plan.cases
    covered: frozenset[Element] = frozenset().union(*(match.elements for match in earlier))
    unexplained = submission.wrong - covered
    if not {element for element in unexplained if cases[element[0]].kind in kinds}:
        return []
    ids = {match.behaviour.mutant for match in earlier}
    rest = [
        behaviour
        for behaviour in behaviours
        if behaviour.mutant not in ids and len(behaviour.names) == 1  # what sets a pair apart may lie outside
    ]
    matches = _matches(rest, submission, kinds, unexplained)
    return _best_matches([match for match in matches if not match.elements & covered])


def _best_matches(matches: Sequence[_Match]) -> list[_Match]:
    """Return the matches that no other one explains better, with the names that are certain."""
    largest = [match for match in matches if not any(match.elements < other.elements for other in matches)]
    certain = []
    for match in largest:
        # what else explains the same may only differ in mistakes that don't show here: a pair of mistakes
        # looks like one of them on calm inputs, so what all explanations have in common is named
        others = [other.names for other in largest if match.elements & other.elements]
        common = match.names.intersection(*others)
        if common:
            certain.append(_Match(match.behaviour, common, match.elements))
    return certain


def _matches(
    behaviours: Sequence[MutantBehaviour],
    submission: _Submission,
    kinds: frozenset[str] | None,
    unexplained_yet: frozenset[Element] | None = None,
) -> list[_Match]:
    """Return the mutants that the submission equals, within some aspects or everywhere.

    `unexplained_yet` is what is wrong and not explained yet; all if None.
    """
    unexplained = submission.wrong if unexplained_yet is None else unexplained_yet
    matches = []
    for behaviour in behaviours:
        elements = _equalled(behaviour, submission, kinds)
        if not elements:
            continue
        # an element may be missing from `wrong` where rounding decides on which side of the tolerance it is
        inputs = len({place for place, _ in elements & submission.wrong})
        sure = all(facet == "other error" for _, facet in elements)  # the class of an exception is no chance
        # where scores are extreme, much that goes wrong gives the same weights of 0 and 1
        extreme = all(submission.plan.cases[place].kind == "large" for place, _ in elements)
        enough = inputs >= LEAST_INPUTS + extreme or sure or (inputs > 0 and unexplained <= elements)
        if enough and _is_specific(behaviour, submission, elements):
            matches.append(_Match(behaviour, behaviour.names, elements))
    return matches


def _is_specific(behaviour: MutantBehaviour, submission: _Submission, elements: frozenset[Element]) -> bool:
    # that both are broken in the same places is no sign: a program that raises everywhere equals many
    shared = {place for place, facet in elements if facet.startswith("value")}
    if len(shared) < len({place for place, _ in elements}):
        return True  # dtypes, arguments, gradients, inputs accepted: each is a sign by itself
    broken = {_breakdown(behaviour.result_on(place)[0]) for place in shared}
    if None in broken:
        return True
    elsewhere = 0
    for place, case in enumerate(submission.plan.cases):
        if case.expected is None or place in shared or behaviour.result_on(place)[1]:
            continue
        right = any(part.values.size and (part.values != 0).any() for part in case.expected.parts)
        elsewhere += right and _breakdown(submission.observations[place]) in broken
    return elsewhere < len(shared)


def _breakdown(observation: CallObservation) -> str | None:
    """Return how a call broke down, if nothing in its result looks computed."""
    if observation.status is CallStatus.RAISED:
        return "raises"
    if observation.parts is None:
        return None
    values = [part.values for part in observation.parts if part.values.size]
    if values and all(np.isnan(array).any() for array in values):
        return "NaN"
    return "zeros" if values and not any(array.any() for array in values) else None


def _equalled(
    behaviour: MutantBehaviour, submission: _Submission, kinds: frozenset[str] | None
) -> frozenset[Element] | None:
    """Return where a mutant is wrong, or None as soon as the submission differs from it in such a place.

    That an input is accepted counts only if it's all that is wrong with the mutant. Another exception than
    the one that is asked for is the same mistake on whichever inputs it shows.
    """
    elements: set[Element] = set()
    accepted: list[int] = []
    raises_other_error = False
    cases = submission.plan.cases
    for place in behaviour.order(submission.places):
        if kinds is not None and cases[place].kind not in kinds:
            continue
        mutant, facets = behaviour.result_on(place)
        if facets == ("accepted",):
            accepted.append(place)
            continue
        if facets == ("other error",):
            raises_other_error = True
            continue
        for facet in facets:
            if _was_read_only(mutant) and submission.observations[place].exception is None:
                continue  # no tensor is read-only: the same write in torch goes through
            if _fills_beyond_half(submission.observations[place]):
                continue  # numpy makes an infinity of a fill that float16 can't hold, torch raises
            if not _same(mutant, facet, place, submission):
                behaviour.remember_difference(place)
                return None
            elements.add((place, facet))
    if raises_other_error and not elements and not accepted:
        return frozenset(element for element in submission.wrong if element[1] == "other error")
    if elements or not accepted:
        return frozenset(elements)
    if all(submission.observations[place].status is CallStatus.RETURNED for place in accepted):
        return frozenset((place, "accepted") for place in accepted)
    return None


def _same(mutant: CallObservation, facet: str, place: int, submission: _Submission) -> bool:
    student, expected = submission.observations[place], submission.plan.cases[place].expected
    if facet == "argument":
        return bool(student.modified) or _writes_into_a_leaf(student)
    if facet == "dtype":
        return _dtypes(student) == _dtypes(mutant)
    assert expected is not None
    if facet == "gradient":
        return _same_gradients(mutant.gradients, student.gradients, expected.gradients or (), submission)
    if mutant.parts is None or student.parts is None:
        return mutant.parts is student.parts and mutant.status is student.status
    part = int(facet.removeprefix("value "))
    a, b = mutant.parts[part].values, student.parts[part].values
    return a.shape == b.shape and _equal(a, b, expected.parts[part], submission.loosely)


def _writes_into_a_leaf(observation: CallObservation) -> bool:
    # torch stops a write into an argument whose gradient is asked for, numpy makes it
    exception = observation.exception
    return (
        exception is not None and exception.type == "RuntimeError" and "in-place operation" in exception.text
    )


def _fills_beyond_half(observation: CallObservation) -> bool:
    exception = observation.exception
    return exception is not None and "Half without overflow" in exception.text


def _was_read_only(observation: CallObservation) -> bool:
    exception = observation.exception
    return exception is not None and exception.type == "ValueError" and "read-only" in exception.text


def _dtypes(observation: CallObservation) -> tuple[str, ...]:
    return tuple(part.dtype for part in observation.parts or ())


def _same_gradients(
    mutant: tuple[Floats | None, ...] | None,
    student: tuple[Floats | None, ...] | None,
    due: tuple[ExpectedPart | None, ...],
    submission: _Submission,
) -> bool:
    if mutant is None or student is None or not len(mutant) == len(student) == len(due):
        return False
    return all(
        a is b if a is None or b is None else a.shape == b.shape and _equal(a, b, part, submission.loosely)
        for a, b, part in zip(mutant, student, due, strict=True)
        if part is not None
    )


def _equal(mutant: Floats, student: Floats, right: ExpectedPart, loosely: bool) -> bool:
    """Return whether two wrong results are the same: also in their NaN, infinities and lost precision.

    Loosely: where the mutant is far from the right result, a slip of the submission's own that is a thousand
    times smaller doesn't make it another mistake.
    """
    finite = np.isfinite(mutant)
    if not np.array_equal(mutant[~finite], student[~finite], equal_nan=True):
        return False
    a, b = mutant[finite], student[finite]
    size = max(1.0, float(np.abs(a).max(initial=0.0)))
    error = float(np.abs(a - b).max(initial=0.0)) if np.isfinite(b).all() else np.inf
    if error <= right.slack * size:
        return True
    if loosely and error <= VALUES_TOLERANCE * size and error <= 1e-3 * _distance(mutant, right.values):
        return True
    # both were rounded to float32 on their way: equal as far as float32 can tell
    return error <= 1e-6 * size and _single(a) and _single(b)


def _distance(wrong: Floats, right: Floats) -> float:
    """Return how far a wrong result lies from the right one; infinity if it has NaN or another shape."""
    if wrong.shape != right.shape or not np.isfinite(wrong).all():
        return np.inf
    return float(np.abs(wrong - right).max(initial=0.0))


def _single(values: Floats) -> bool:
    return bool(np.array_equal(values, values.astype(np.float32).astype(np.float64)))
