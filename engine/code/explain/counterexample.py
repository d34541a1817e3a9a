"""The smallest input found that shows a fault, from public inputs only.

The search starts from the exercise's public candidates, never from the hidden plan, and walks through
simpler and simpler inputs.  Candidates are sent in batches, one job each, so that the budget of calls
costs a dozen round trips.  It depends on nothing but the submission, so the same file gets the same
answer; results are kept by (plan, what the submission did on it).
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from engine.code.arguments import (
    Argument,
    Leafwise,
    SpecialArgument,
    flat,
    key_of,
    python_of,
    rebuilt,
    shape_text,
)
from engine.code.exercise import CodeExercise, KnownWrongProgram
from engine.code.explain.in_process import TrustedRunner
from engine.code.observe import CallObservation, PlanObservations, observed
from engine.code.plan import VALUES_TOLERANCE, ExpectedPart, ExpectedResult, PlanCase, close
from engine.code.planned_exercise import PlannedExercise
from engine.code.result_kinds import ReadPart
from engine.code.source import library_of
from engine.model import CodeSubmission, Counterexample
from engine.runner import CallStatus, Job, Runner

# Simpler neighbours of an input: what a counterexample is shrunk through.
#
# Every step removes a slice of a named axis (from all arguments that have it), drops an argument or a
# leading axis of size 1, or makes one number simpler.  The order of simplicity is total, so the search
# is deterministic.

Complexity = tuple[float, ...]


@dataclass(frozen=True, slots=True, eq=False)
class CandidateInput:
    """An input that may become a counterexample.

    Parameters
    ----------
    args : tuple
        As a call's positional arguments.
    axes : tuple of tuple of str
        For each leaf of the arguments (:func:`engine.code.arguments.flat`) the names of its axes; axes of
        one name have one size and shrink together. Leaves at the end may be left out.
    """

    args: tuple[Argument, ...]
    axes: tuple[tuple[str, ...], ...]

    def leaves(self) -> list[tuple[Leafwise, tuple[str, ...]]]:
        """Return the leaves of the arguments with the names of their axes."""
        values = flat(self.args)
        names = self.axes + ((),) * (len(values) - len(self.axes))
        return list(zip(values, names[: len(values)], strict=True))

    def with_leaves(self, leaves: Sequence[Leafwise]) -> CandidateInput:
        """Return the same arguments with other leaves."""
        return replace(self, args=rebuilt(self.args, leaves))


def complexity(candidate: CandidateInput) -> Complexity:
    """Return what makes an input hard to read: entries, axes, arguments, fractions, size of the numbers."""
    leaves = flat(candidate.args)
    arrays = [value for value in leaves if isinstance(value, np.ndarray)]
    special = [value for value in leaves if isinstance(value, SpecialArgument)]
    numbers = [value.astype(np.float64).ravel() for value in arrays if value.dtype != np.bool_]
    numbers += [np.array([value], dtype=float) for value in leaves if type(value) in (int, float)]
    entries = np.concatenate(numbers) if numbers else np.zeros(0)
    hidden = sum(int((~value).sum()) for value in arrays if value.dtype == np.bool_)
    return (
        float(sum(value.size for value in arrays) + sum(value.entries for value in special)),
        *(weight for value in special for weight in value.weight()),
        float(sum(value.ndim for value in arrays)),
        float(len(candidate.args)),
        float(sum(value.dtype not in (np.float64, np.bool_) for value in arrays)),
        float((entries != np.trunc(entries)).sum()),
        float(np.abs(entries).sum()),
        float((entries < 0).sum()),
        float(hidden),
    )


def fingerprint(candidate: CandidateInput) -> tuple[Hashable, ...]:
    """Return a key that two equal inputs share."""
    return key_of(candidate.args)


def simpler(candidate: CandidateInput) -> list[CandidateInput]:
    """Return the neighbours that are simpler than this input, simplest first."""
    now = complexity(candidate)
    neighbours: dict[tuple[Hashable, ...], CandidateInput] = {}
    for neighbour in _neighbours(candidate):
        if complexity(neighbour) < now:
            neighbours.setdefault(fingerprint(neighbour), neighbour)
    return sorted(neighbours.values(), key=complexity)


def _neighbours(candidate: CandidateInput) -> Iterator[CandidateInput]:
    yield from _without_slices(candidate)
    yield from _without_axes(candidate)
    yield from _without_last(candidate)
    yield from _plainer(candidate)


def _without_slices(candidate: CandidateInput) -> Iterator[CandidateInput]:
    sizes: dict[str, int] = {}
    for value, names in candidate.leaves():
        if isinstance(value, np.ndarray):
            sizes.update(zip(names, value.shape, strict=True))
    for name, size in sizes.items():
        for index in range(size if size > 1 else 0):
            yield _mapped(candidate, lambda value, place, index=index: np.delete(value, index, place), name)


def _without_axes(candidate: CandidateInput) -> Iterator[CandidateInput]:
    # only one that every array has, or the others wouldn't fit any more
    arrays = [(value, names) for value, names in candidate.leaves() if isinstance(value, np.ndarray)]
    shared = [names[0] for value, names in arrays if value.ndim > 1 and value.shape[0] == 1]
    if arrays and len(shared) == len(arrays) and len(set(shared)) == 1:
        leaves = [v[0] if isinstance(v, np.ndarray) else v for v, _ in candidate.leaves()]
        yield replace(candidate.with_leaves(leaves), axes=tuple(names[1:] for names in candidate.axes))


def _without_last(candidate: CandidateInput) -> Iterator[CandidateInput]:
    # what is optional in the exercises' functions is a mask or a plain value, and comes last
    last = candidate.args[-1]
    array = isinstance(last, np.ndarray) and last.dtype != np.bool_
    if len(candidate.args) > 1 and not array and not isinstance(last, Mapping | SpecialArgument):
        yield CandidateInput(candidate.args[:-1], candidate.axes)


def _plainer(candidate: CandidateInput) -> Iterator[CandidateInput]:
    leaves = [value for value, _ in candidate.leaves()]
    for place, value in enumerate(leaves):
        for changed in _plainer_leaves(value):
            yield candidate.with_leaves([*leaves[:place], changed, *leaves[place + 1 :]])


def _plainer_leaves(value: Leafwise) -> Iterator[Leafwise]:
    if isinstance(value, SpecialArgument):
        yield from value.simpler()
    elif type(value) is int:
        yield from (number for number in (0, 1, value - 1, -value) if number != value)
    elif isinstance(value, np.ndarray):
        for index in np.ndindex(value.shape):
            for number in _plainer_numbers(value[index]):
                changed = value.copy()
                changed[index] = number
                yield changed


def _plainer_numbers(entry: Any) -> list[Any]:
    if isinstance(entry, np.bool_):
        return [] if entry else [True]
    x = float(entry)
    tries = [0.0, 1.0, -x, float(np.trunc(x)), float(np.trunc(x / 2)), _round_down(x)]
    return [t for t in dict.fromkeys(tries) if t != x]


def _round_down(x: float) -> float:
    # large numbers should be round ones: 1000 is easier to read than 731
    return 0.0 if abs(x) <= 1 else float(np.sign(x)) * 10.0 ** np.floor(np.log10(abs(x)) - 1e-12)


def _mapped(candidate: CandidateInput, change: Callable[..., NDArray[Any]], name: str) -> CandidateInput:
    leaves: list[Leafwise] = []
    for value, names in candidate.leaves():
        if isinstance(value, np.ndarray) and name in names:
            changed = change(value, names.index(name))
            leaves.append(np.ascontiguousarray(changed).reshape(changed.shape))
        else:
            leaves.append(value)
    return candidate.with_leaves(leaves)


MAX_CALLS = 300
_BATCH = 48
_FEW = 6
_PUBLIC_SEEDS = (b"public 1", b"public 2")
# what is shown only if nothing worse is found: a NaN row says more than the eighth decimal of another one
_MILD = ("rounding", "dtype", "argument")
_LOST = {CallStatus.TIMED_OUT, CallStatus.OUT_OF_MEMORY, CallStatus.CRASHED, CallStatus.NOT_RUN}
_WORDS = {
    CallStatus.TIMED_OUT: "(no result in time)",
    CallStatus.OUT_OF_MEMORY: "(more memory than allowed)",
    CallStatus.CRASHED: "(the process crashed)",
    CallStatus.TOO_LARGE: "(a value that is far too large)",
}


@dataclass(frozen=True, slots=True, eq=False)
class _Trial:
    """A candidate, what is right for it and what the submission did there."""

    candidate: CandidateInput
    expected: ExpectedResult
    observation: CallObservation
    repeated: bool = False
    alone: bool = False  # no other call was made before it in its process

    @property
    def fault(self) -> str | None:
        """In what the result differs from the reference's, None if in nothing."""
        return _fault(self.observation, self.expected)


class _Search:
    """Runs candidates of one submission within the budget."""

    def __init__(
        self, exercise: CodeExercise, submission: CodeSubmission, library: str, runner: Runner
    ) -> None:
        self._exercise, self._submission = exercise, submission
        self._library, self._runner = library, runner
        # a job costs a process, but not where our own mutants run
        self._at_once = _FEW if isinstance(runner, TrustedRunner) else MAX_CALLS
        self._left = MAX_CALLS - 1  # one is for the last look
        self._tried: set[object] = set()

    def first_wrong(self, candidates: Sequence[CandidateInput], fault: str | None = None) -> _Trial | None:
        """Run candidates in their order; return the first that is wrong in this aspect, or most seriously."""
        mild: _Trial | None = None
        fresh = [candidate for candidate in candidates if fingerprint(candidate) not in self._tried]
        valid = [candidate for candidate in fresh if self._exercise.inputs.is_valid_input(candidate.args)]
        while valid and self._left > 0:
            most = min(self._at_once, self._left)
            batch, valid = valid[:most], valid[most:]
            self._left -= len(batch)
            self._tried.update(fingerprint(candidate) for candidate in batch)
            for trial in self._run(batch):
                kind = trial.fault
                if kind is None or fault not in (None, kind):
                    continue
                if fault is not None or kind not in _MILD:
                    return trial
                if mild is None or _MILD.index(kind) < _MILD.index(mild.fault or ""):
                    mild = trial
        return mild

    def alone(self, trial: _Trial, fault: str | None) -> _Trial | None:
        """Return what one candidate does in a process of its own, if that is wrong in this aspect."""
        if trial.alone and trial.fault == fault:
            return trial  # a process less for every search that the first input of a batch ends
        again = self._run([trial.candidate])
        return again[0] if again and again[0].fault == fault else None

    def twice(self, trial: _Trial) -> _Trial | None:
        """Return what one candidate gives the second time, if only that is wrong: something is kept."""
        both = self._run([trial.candidate, trial.candidate])
        faults = [each.fault for each in both]
        return replace(both[1], repeated=True) if len(both) == 2 and faults[0] is None and faults[1] else None

    def _run(self, candidates: Sequence[CandidateInput]) -> list[_Trial]:
        name, limits = self._exercise.function, self._exercise.limits
        cases = [
            PlanCase("candidate", candidate.args, "ordinary", True, _expected(self._exercise, candidate))
            for candidate in candidates
        ]
        calls = tuple(case.call(name, self._library, returning=True) for case in cases)
        short = replace(limits, wall_s=min(limits.wall_s, 4.0), call_s=min(limits.call_s, 1.0))
        job = Job(
            self._submission.source, "submission.py", calls, short, (name,), modules=self._submission.modules
        )
        trials: list[_Trial] = []
        for candidate, case, call, outcome in zip(
            candidates, cases, calls, self._runner.run(job).outcomes, strict=True
        ):
            if outcome.status in _LOST:
                self._left = 0  # what comes after it wasn't run, and shrinking a hang takes seconds
                break
            assert case.expected is not None
            seen = observed(case, call, outcome, self._library)
            trials.append(_Trial(candidate, case.expected, seen, alone=not trials))
        return trials


def find_counterexample(
    exercise: CodeExercise,
    run: PlanObservations,
    submission: CodeSubmission,
    runner: Runner,
    mutants: Collection[str] = (),
) -> Counterexample | None:
    """Return the smallest counterexample found within the budget of calls, or None.

    Parameters
    ----------
    exercise : CodeExercise
    run : PlanObservations
        What the submission did on the plan; only public cases of it are ever shown.
    submission : CodeSubmission
    runner : Runner
    mutants : collection of str
        Ids of the mutants that the submission equals: what shows them, found once in this process, is
        tried first, so that most searches cost one call.

    Raises
    ------
    EngineError
        The runner was lost.
    """
    lost = _lost_case(exercise, run)
    if lost is not None:
        return lost
    faults = _faults(run)
    if not faults:  # what is wrong shows in no result: an input that must be refused, a gradient
        return None
    key = (exercise.version, run.plan.id, run.library, _signature(run))
    earlier = _cached.get(key)
    search = _Search(exercise, submission, run.library, runner)
    if earlier is not None:
        if earlier[0] == submission.sha256:
            return earlier[1]
        if (
            earlier[2] is not None
        ):  # another file with the same outputs: is the same input wrong in the same way?
            again = search.first_wrong([earlier[2]])
            if again is not None and (counterexample := _show(exercise, run.library, again)) == earlier[1]:
                return counterexample
    trial = _like_a_mutant(exercise, search, mutants)
    if trial is None or (trial.fault in _MILD and not faults.issubset(_MILD)):
        trial = _smallest(exercise, search) or trial
    smallest = None if trial is None else _show(exercise, run.library, trial)
    _cached.put(key, (submission.sha256, smallest, None if trial is None else trial.candidate))
    return smallest


def _like_a_mutant(exercise: CodeExercise, search: _Search, mutants: Collection[str]) -> _Trial | None:
    candidates = [_shows(exercise, mutant) for mutant in exercise.mutants if mutant.id in mutants]
    simplest_first = sorted((candidate for candidate in candidates if candidate is not None), key=complexity)
    if not simplest_first:
        return None
    trial = search.first_wrong(simplest_first)
    if trial is None or len(simplest_first) == 1:
        return trial
    return search.alone(trial, trial.fault)


def _expected(exercise: CodeExercise, candidate: CandidateInput) -> ExpectedResult:
    # searches for different mistakes ask for much the same inputs
    key = (exercise.inputs, fingerprint(candidate))
    expected = _known_results.get(key)
    if expected is None:
        expected = exercise.inputs.expected(candidate.args)
        _known_results.put(key, expected)
    return expected


@lru_cache(maxsize=1024)
def _shows(exercise: CodeExercise, mutant: KnownWrongProgram) -> CandidateInput | None:
    # the mutant is ours, so it runs in this process, once for all submissions that are like it
    submission = CodeSubmission(mutant.source, mutant.filename, "")
    library = library_of(mutant.source)
    with TrustedRunner() as runner:
        trial = _smallest(exercise, _Search(exercise, submission, library, runner))
    return None if trial is None else trial.candidate


def _smallest(exercise: CodeExercise, search: _Search) -> _Trial | None:
    source = exercise.inputs
    best = search.first_wrong([CandidateInput(args, source.axes(args)) for args in source.candidates()])
    if best is None:
        best = search.first_wrong(_varied(exercise.inputs))
    if best is None:
        return None
    fault = best.fault
    while (better := search.first_wrong(simpler(best.candidate)[:_BATCH], fault)) is not None:
        best = better
    # run alone, as the student will: a fault that needs earlier calls isn't what this input shows
    return search.alone(best, fault) or search.twice(best)


@cache
def _varied(source: PlannedExercise) -> tuple[CandidateInput, ...]:
    # their seeds are no secret, but their inputs are like the hidden ones
    cases = [case for seed in _PUBLIC_SEEDS for case in source.plan(seed).cases]
    candidates = [
        CandidateInput(case.args, source.axes(case.args))
        for case in cases
        if source.is_valid_input(case.args)
    ]
    return tuple(sorted(candidates, key=complexity))


def _fault(observation: CallObservation, expected: ExpectedResult) -> str | None:
    # in the order of how much each says: a wrong shape explains wrong values, not the other way round
    if observation.status is not CallStatus.RETURNED:
        return "raises"
    if observation.parts is None or any(part.kind for part in observation.parts):
        return "type"
    pairs = list(zip(observation.parts, expected.parts, strict=True))
    if any(got.values.shape != part.values.shape for got, part in pairs):
        return "shape"
    wrong = [(got.values, part) for got, part in pairs if not close(got.values, part.values, part.slack)]
    if wrong:
        if not all(np.isfinite(values).all() for values, _ in wrong):
            return "not finite"
        return "rounding" if all(_is_rounding(values, part) for values, part in wrong) else "value"
    if any(got.dtype != part.dtype for got, part in pairs):
        return "dtype"
    return "argument" if observation.modified else None


def _faults(run: PlanObservations) -> set[str]:
    cases = zip(run.plan.cases, run.items, strict=True)
    faults = (_fault(item, case.expected) for case, item in cases if case.expected is not None)
    return {fault for fault in faults if fault is not None}


def _is_rounding(values: np.ndarray, part: ExpectedPart) -> bool:
    # so near the right one that only precision was lost
    largest = float(np.abs(part.values).max(initial=1.0))
    return bool((np.abs(values - part.values) <= max(VALUES_TOLERANCE * largest, 10 * part.slack)).all())


def _show(exercise: CodeExercise, library: str, trial: _Trial) -> Counterexample:
    names, args = exercise.inputs.argument_names, trial.candidate.args
    code = python_of(args, names, exercise.function, library)
    if trial.repeated:
        code = f"{code}\n{code.splitlines()[-1]}  # the second time"
    observation, expected = trial.observation, trial.expected
    if _fault(observation, expected) == "argument":
        name = names[observation.changed or 0]
        got = f"{name} isn't as it was before the call"
        return Counterexample(f"{code}\n{name}", got, f"{name} is as it was")
    if observation.exception is not None:
        return Counterexample(code, observation.exception.summary(), expected.text(library))
    if observation.parts is None:
        got = observation.misfit or _WORDS.get(observation.status, "(no result)")
        return Counterexample(code, got, expected.text(library))
    kinds = [part.kind for part in observation.parts if part.kind]
    if kinds:
        return Counterexample(code, kinds[0], expected.text(library))
    got, right = _result_pair(observation.parts, expected, library)
    return Counterexample(code, got, right)


def _result_pair(parts: Sequence[ReadPart], expected: ExpectedResult, library: str) -> tuple[str, str]:
    # two texts that look the same would show nothing
    for digits in (6, 12, 17):
        got, right = expected.result.text(parts, library, digits), expected.text(library, digits)
        if got != right:
            break
    shapes = [shape_text(part.values.shape) for part in (parts[0], expected.parts[0])]
    if len(parts) == 1 and parts[0].dtype != "int" and shapes[0] != shapes[1]:
        return f"{got} of shape {shapes[0]}", f"{right} of shape {shapes[1]}"
    return got, right


def _lost_case(exercise: CodeExercise, run: PlanObservations) -> Counterexample | None:
    # nothing is shrunk here: each further trial of a hang would cost seconds
    for case, observation in zip(run.plan.cases, run.items, strict=True):
        if observation.status in _WORDS and case.public and case.expected is not None:
            code = python_of(case.args, exercise.inputs.argument_names, exercise.function, run.library)
            return Counterexample(code, _WORDS[observation.status], case.expected.text(run.library))
    return None


def _signature(run: PlanObservations) -> str:
    digest = hashlib.sha256()
    for item in run.items:
        kind = item.exception.type if item.exception is not None else item.misfit
        digest.update(f"|{item.status}|{kind}|{item.modified}".encode())
        for part in item.parts or ():
            digest.update(f"|{part.dtype}|{part.values.shape}".encode())
            digest.update(np.ascontiguousarray(part.values).tobytes())
    return digest.hexdigest()


KeptCounterexample = tuple[str, Counterexample | None, CandidateInput | None]


T = TypeVar("T")


class LruCache(Generic[T]):
    """The most recently used results, safe between threads.

    Parameters
    ----------
    size : int
        How many results are kept.
    """

    def __init__(self, size: int) -> None:
        self._size, self._lock = size, threading.Lock()
        self._results: OrderedDict[Hashable, T] = OrderedDict()

    def get(self, key: Hashable) -> T | None:
        """Return the result under a key, None if there is none."""
        with self._lock:
            if key not in self._results:
                return None
            self._results.move_to_end(key)
            return self._results[key]

    def put(self, key: Hashable, value: T) -> None:
        """Keep a result; the least recently used one may go."""
        with self._lock:
            self._results[key] = value
            while len(self._results) > self._size:
                self._results.popitem(last=False)


_cached = LruCache[KeptCounterexample](512)
_known_results = LruCache[ExpectedResult](8192)  # tiny arrays: some MiB
