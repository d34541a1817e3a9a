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
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import islice
from operator import itemgetter
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
from engine.code.explain.in_process import TrustedProgram, TrustedRunner
from engine.code.observe import CallObservation, PlanObservations, observed
from engine.code.plan import VALUES_TOLERANCE, ExpectedPart, ExpectedResult, InputPlan, PlanCase, close
from engine.code.planned_exercise import PlannedExercise
from engine.code.result_kinds import ReadPart
from engine.code.source import library_of
from engine.model import CodeSubmission, Counterexample
from engine.runner import Call, CallOutcome, CallStatus, Job, Runner

# Simpler neighbours of an input: what a counterexample is shrunk through.
#
# Every step removes a slice of a named axis (from all arguments that have it), drops an argument or a
# leading axis of size 1, or makes one number simpler.  The order of simplicity is total, so the search
# is deterministic.

Complexity = tuple[float, ...]


@dataclass(frozen=True, eq=False)
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

    @cached_property
    def key(self) -> tuple[Hashable, ...]:
        """A key that two equal inputs share."""
        return key_of(self.args)

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
    return _complexity(candidate, {})


def _complexity(candidate: CandidateInput, known: Mapping[int, Complexity]) -> Complexity:
    # the sums are exact, whatever their order: entries are small multiples of a power of 2
    leaves = flat(candidate.args)
    weights = [known.get(id(leaf)) or _leaf_complexity(leaf) for leaf in leaves]
    size, axes, narrow, fractions, numbers, negative, hidden = map(sum, zip(*weights, strict=True))
    special = [weight for leaf in leaves if isinstance(leaf, SpecialArgument) for weight in leaf.weight()]
    return size, *special, axes, float(len(candidate.args)), narrow, fractions, numbers, negative, hidden


def _leaf_complexity(leaf: Leafwise) -> Complexity:
    if not isinstance(leaf, np.ndarray):
        size = float(leaf.entries) if isinstance(leaf, SpecialArgument) else 0.0
        x = float(leaf) if isinstance(leaf, int | float) and type(leaf) is not bool else 0.0
        return size, 0.0, 0.0, float(not x.is_integer() and abs(x) != np.inf), abs(x), float(x < 0), 0.0
    size, axes = float(leaf.size), float(leaf.ndim)
    if leaf.dtype == np.bool_:
        return size, axes, 0.0, 0.0, 0.0, 0.0, size - float(np.count_nonzero(leaf))
    entries = leaf.astype(np.float64, copy=False)
    fractions, negative = np.count_nonzero(entries != np.trunc(entries)), np.count_nonzero(entries < 0)
    narrow = float(leaf.dtype != np.float64)
    return size, axes, narrow, float(fractions), float(np.abs(entries).sum()), float(negative), 0.0


def simpler(candidate: CandidateInput) -> list[CandidateInput]:
    """Return the neighbours that are simpler than this input, simplest first."""
    known = {id(leaf): _leaf_complexity(leaf) for leaf in flat(candidate.args)}
    now = _complexity(candidate, known)
    neighbours: dict[tuple[Hashable, ...], tuple[Complexity, CandidateInput]] = {}
    for neighbour in _neighbours(candidate):
        then = _complexity(neighbour, known)
        if then < now:
            neighbours.setdefault(neighbour.key, (then, neighbour))
    return [neighbour for _, neighbour in sorted(neighbours.values(), key=itemgetter(0))]


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
_FIRST = 24
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
class Trial:
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
    """Runs candidates of one program within the budget.

    Without a runner the program is a mutant: it runs here, one call after the other, as far as needed.
    """

    def __init__(
        self, exercise: CodeExercise, program: CodeSubmission, library: str, runner: Runner | None
    ) -> None:
        self._exercise, self._program = exercise, program
        self._library, self._runner = library, runner
        # a job costs a process, but not where our own programs run
        self._at_once = _FEW if runner is None or isinstance(runner, TrustedRunner) else MAX_CALLS
        self._left = MAX_CALLS - 1  # one is for the last look
        self._tried: set[object] = set()

    def first_wrong(self, candidates: Sequence[CandidateInput], fault: str | None = None) -> Trial | None:
        """Run candidates in their order; return the first that is wrong in this aspect, or most seriously."""
        return _first_wrong(self._trials(candidates), fault)

    def _trials(self, candidates: Sequence[CandidateInput]) -> Iterator[Trial]:
        fresh = [candidate for candidate in candidates if candidate.key not in self._tried]
        results = ((candidate, _right_result(self._exercise.inputs, candidate)) for candidate in fresh)
        valid = ((candidate, right) for candidate, right in results if right is not None)
        # many a mistake shows at once, and most of a long list would be run in vain
        most = self._at_once if len(fresh) <= _BATCH else min(_FIRST, self._at_once)
        while self._left > 0 and (batch := list(islice(valid, min(most, self._left)))):
            most = self._at_once
            self._left -= len(batch)
            self._tried.update(candidate.key for candidate, _ in batch)
            yield from self._run(batch)

    def alone(self, trial: Trial, fault: str | None) -> Trial | None:
        """Return what one candidate does in a process of its own, if that is wrong in this aspect."""
        if trial.alone and trial.fault == fault:
            return trial  # a process less for every search that the first input of a batch ends
        again = next(self._run([(trial.candidate, trial.expected)]), None)
        return again if again is not None and again.fault == fault else None

    def twice(self, trial: Trial) -> Trial | None:
        """Return what one candidate gives the second time, if only that is wrong: something is kept."""
        both = list(self._run([(trial.candidate, trial.expected)] * 2))
        faults = [each.fault for each in both]
        return replace(both[1], repeated=True) if len(both) == 2 and faults[0] is None and faults[1] else None

    def _run(self, batch: Sequence[tuple[CandidateInput, ExpectedResult]]) -> Iterator[Trial]:
        cases = [PlanCase("candidate", candidate.args, "ordinary", True, right) for candidate, right in batch]
        made = zip(batch, cases, self._made(cases), strict=True)
        for place, ((candidate, right), case, (call, outcome)) in enumerate(made):
            if outcome.status in _LOST:
                self._left = 0
                return
            yield Trial(candidate, right, observed(case, call, outcome, self._library), alone=not place)

    def _made(self, cases: Sequence[PlanCase]) -> Iterator[tuple[Call, CallOutcome]]:
        limits, program, name = self._exercise.limits, self._program, self._exercise.function
        short = replace(limits, wall_s=min(limits.wall_s, 4.0), call_s=min(limits.call_s, 1.0))
        job = Job(program.source, "submission.py", (), short, (name,), modules=program.modules)
        calls = (_looked_at(case, name, self._library) for case in cases)
        if self._runner is None:
            ours = TrustedProgram(job)
            for call in calls:
                yield call, ours.call(call)
            return
        job = replace(job, calls=tuple(calls))
        outcomes = self._runner.run(job).outcomes
        if any(outcome.status in _LOST for outcome in outcomes):
            self._left = 0  # what comes after it wasn't run, and shrinking a hang takes seconds
        yield from zip(job.calls, outcomes, strict=True)


def _first_wrong(trials: Iterable[Trial], fault: str | None = None) -> Trial | None:
    mild: Trial | None = None
    for trial in trials:
        kind = trial.fault
        if kind is None or fault not in (None, kind):
            continue
        if fault is not None or kind not in _MILD:
            return trial
        if mild is None or _MILD.index(kind) < _MILD.index(mild.fault or ""):
            mild = trial
    return mild


TrialsAlong = Callable[[CandidateInput], Trial | None]


class SentCalls:
    """The calls of a plan, and behind them calls on inputs that showed known mistakes before.

    A wrong submission that makes one of these mistakes again needs no second process for its counterexample.
    """

    def __init__(
        self, exercise: CodeExercise, plan: InputPlan, library: str, inputs: tuple[CandidateInput, ...]
    ) -> None:
        self._exercise, self._library = exercise, library
        self.inputs = inputs
        self.calls = plan.calls(exercise.function, library)  # the same object, if nothing is added
        self._first = len(self.calls)
        self._places = {candidate.key: place for place, candidate in enumerate(inputs, self._first)}
        if inputs:
            cases = (PlanCase("along", candidate.args, "ordinary", True, None) for candidate in inputs)
            self.calls += tuple(case.call(exercise.function, library) for case in cases)

    def trials(self, outcomes: Sequence[CallOutcome]) -> TrialsAlong:
        """Return what looks up what the submission did on an input; None if it wasn't sent or got lost."""

        def trial(candidate: CandidateInput) -> Trial | None:
            place = self._places.get(candidate.key)
            right = None if place is None else _right_result(self._exercise.inputs, candidate)
            if place is None or right is None or outcomes[place].status in _LOST:
                return None
            case = PlanCase("along", candidate.args, "ordinary", True, right)
            return Trial(candidate, right, observed(case, self.calls[place], outcomes[place], self._library))

        return trial


# A right submission pays for every one of them, a second process costs as much as thirty, and of the mistakes
# of an exercise a few inputs show most.
_MOST_SENT = 6


def sent_calls(exercise: CodeExercise, plan: InputPlan, library: str, runner: Runner | None) -> SentCalls:
    """Return the calls to send to a runner, the same object while it can be; None: the plan's alone."""
    ours = runner is None or isinstance(runner, TrustedRunner)  # there a process more costs nothing
    inputs = (() if ours else _telling_inputs.get(exercise)) or ()
    sent = _sent.get((plan, library, exercise, len(inputs)))
    if sent is None:
        sent = SentCalls(exercise, plan, library, inputs)
        _sent.put((plan, library, exercise, len(inputs)), sent)
    return sent


def _remember(exercise: CodeExercise, candidates: Sequence[CandidateInput]) -> None:
    before = _telling_inputs.get(exercise) or ()
    known = {candidate.key: candidate for candidate in (*before, *candidates)}
    _telling_inputs.put(exercise, tuple(known.values())[:_MOST_SENT])


def _looked_at(case: PlanCase, function: str, library: str) -> Call:
    # whose memory a result is made of is no matter here, and looking costs as much as the call
    return replace(case.call(function, library, returning=True), overwrite_result=False)


def find_counterexample(
    exercise: CodeExercise,
    run: PlanObservations,
    submission: CodeSubmission,
    runner: Runner,
    mutants: Collection[str] = (),
    along: TrialsAlong = lambda candidate: None,
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
    along : callable
        What the submission did on an input that was sent along with the plan, if it was.

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
        # another file with the same outputs: is the same input wrong in the same way?
        if earlier[2] is not None:
            again = along(earlier[2]) or search.first_wrong([earlier[2]])
            if again is not None and (counterexample := _show(exercise, run.library, again)) == earlier[1]:
                return counterexample
    trial = _like_a_mutant(exercise, search, mutants, along)
    if trial is None or (trial.fault in _MILD and not faults.issubset(_MILD)):
        trial = _smallest(exercise, search) or trial
    smallest = None if trial is None else _show(exercise, run.library, trial)
    _cached.put(key, (submission.sha256, smallest, None if trial is None else trial.candidate))
    return smallest


def _like_a_mutant(
    exercise: CodeExercise,
    search: _Search,
    mutants: Collection[str],
    along: TrialsAlong,
) -> Trial | None:
    trials = [_shows(exercise, mutant) for mutant in exercise.mutants if mutant.id in mutants]
    of_mutants = [trial for trial in trials if trial is not None]
    of_mutants.sort(key=lambda trial: complexity(trial.candidate))
    if not of_mutants:
        return None
    seen = [along(trial.candidate) for trial in of_mutants]
    # whether the arguments change isn't asked of what is sent along
    _remember(exercise, [t.candidate for t in of_mutants if not t.repeated and t.fault != "argument"])
    wrong = None if None in seen else _first_wrong(trial for trial in seen if trial is not None)
    # the plan's calls came before it: it is believed where the mutant gives the same in a process of its own
    if wrong is not None and _agree(wrong, of_mutants[seen.index(wrong)]):
        return wrong
    trial = search.first_wrong([trial.candidate for trial in of_mutants])
    if trial is None or len(of_mutants) == 1:
        return trial
    return search.alone(trial, trial.fault)


def _agree(trial: Trial, of_mutant: Trial) -> bool:
    mine, other = trial.observation, of_mutant.observation
    if of_mutant.repeated or trial.fault != of_mutant.fault or mine.status is not other.status:
        return False
    if mine.parts is None or other.parts is None:
        return mine.parts is other.parts
    return all(
        a.values.shape == b.values.shape and np.allclose(a.values, b.values, 1e-6, due.slack, equal_nan=True)
        for a, b, due in zip(mine.parts, other.parts, trial.expected.parts, strict=True)
    )


def _right_result(inputs: PlannedExercise, candidate: CandidateInput) -> ExpectedResult | None:
    """Return what is right for an input; None for one that the function needn't take."""
    # searches for different mistakes ask for much the same inputs
    key = (inputs, candidate.key)
    known = _known_results.get(key)
    if known is None:
        valid = inputs.is_valid_input(candidate.args)
        known = (inputs.expected(candidate.args) if valid else None,)
        _known_results.put(key, known)
    return known[0]


@lru_cache(maxsize=1024)
def _shows(exercise: CodeExercise, mutant: KnownWrongProgram) -> Trial | None:
    # the mutant is ours, so it runs in this process, once for all submissions that are like it
    submission = CodeSubmission(mutant.source, mutant.filename, "")
    library = library_of(mutant.source)
    return _smallest(exercise, _Search(exercise, submission, library, None))


def _smallest(exercise: CodeExercise, search: _Search) -> Trial | None:
    best = search.first_wrong(_simple(exercise.inputs))
    if best is None:
        best = search.first_wrong(_varied(exercise.inputs))
    if best is None:
        return None
    fault = best.fault
    while (better := search.first_wrong(simpler(best.candidate)[:_BATCH], fault)) is not None:
        best = better
    # run alone, as the student will: a fault that needs earlier calls isn't what this input shows
    return search.alone(best, fault) or search.twice(best)


@lru_cache(maxsize=64)
def _simple(source: PlannedExercise) -> tuple[CandidateInput, ...]:
    return tuple(CandidateInput(args, source.axes(args)) for args in source.simple_inputs())


@lru_cache(maxsize=64)
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


def _show(exercise: CodeExercise, library: str, trial: Trial) -> Counterexample:
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
_telling_inputs = LruCache[tuple[CandidateInput, ...]](64)
_sent = LruCache[SentCalls](128)
_known_results = LruCache[tuple[ExpectedResult | None]](8192)  # tiny arrays: some MiB
