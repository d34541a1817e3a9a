"""The dependency graph of checks: loads → function → runs → the rubric's checks, with visible skips."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from engine.code.comparison import degenerate
from engine.code.exercise import CodeExercise, RubricCheck
from engine.code.observe import PlanObservations, UnusableError
from engine.code.plan import CaseGroup, close
from engine.code.properties import property_of
from engine.code.properties.contract import is_right
from engine.code.show import exception_text, sentence
from engine.items.checks.code import PREREQUISITES
from engine.model import Check, Verdict
from engine.runner import CallOutcome, CallStatus

_LOAD = {
    CallStatus.TIMED_OUT: (Verdict.TIMED_OUT, "Loading the file didn't finish in time."),
    CallStatus.OUT_OF_MEMORY: (Verdict.OUT_OF_MEMORY, "Loading the file needed more memory than allowed."),
    CallStatus.CRASHED: (Verdict.CRASHED, "Loading the file crashed the process."),
}
_UNCOMPARABLE = "what came back can't be compared with the right result"
_log = logging.getLogger(__name__)
_NOTHING_RIGHT = "Skipped, because not one result is right yet."


@dataclass(frozen=True, slots=True)
class PropertyFinding:
    """What a property's judgement came to; `clause` is what the student may see of it."""

    verdict: Verdict
    clause: str = ""


def judge_load(outcome: CallOutcome) -> Check:
    """Return the check of loading the file; no input is involved, so everything may be shown."""
    if outcome.status is CallStatus.RETURNED:
        return Check("loads", Verdict.PASSED, 0.0, 0.0)
    if outcome.exception is not None:
        message = f"Loading the file raised {exception_text(outcome.exception)}."
        return Check("loads", Verdict.FAILED, 0.0, 0.0, message)
    verdict, message = _LOAD.get(outcome.status, (Verdict.FAILED, "The file couldn't be loaded."))
    return Check("loads", verdict, 0.0, 0.0, message)


def judge_all(exercise: CodeExercise, run: PlanObservations) -> tuple[Check, ...]:
    """Return ``runs`` and every check of the rubric, in the order of the rubric.

    A check whose prerequisite didn't pass is skipped and says so; one that names no prerequisite
    requires ``runs``.  Checks of a contract, such as the dtype, also need one result that is right.
    """
    runs = _prerequisite(run)
    # such a program keeps some laws by accident: none of them may earn anything, so `runs` fails
    trivial = degenerate(run)
    if trivial is not None:
        runs = _computes_nothing(runs, trivial)
    done = dict.fromkeys(PREREQUISITES, Verdict.PASSED) | {"runs": runs.verdict}
    checks = []
    for rubric in exercise.checks:
        missing = [name for name in ("runs", *rubric.requires) if done[name] is not Verdict.PASSED]
        check = skipped(rubric, missing[0]) if missing else _judged(rubric, run)
        done[rubric.id] = check.verdict
        checks.append(check)
    # a contract (the dtype, no changed arguments) is kept by many a program that computes something else
    if runs.verdict is Verdict.PASSED and not _something_right(run):
        checks = [
            replace(check, verdict=Verdict.SKIPPED, points=0.0, message=_NOTHING_RIGHT)
            if rubric.property.contract and check.verdict is Verdict.PASSED
            else check
            for rubric, check in zip(exercise.checks, checks, strict=True)
        ]
    return (runs, *_all_or_nothing(exercise, checks))


def _something_right(run: PlanObservations) -> bool:
    # a result of zeros doesn't count: a program that gives nothing but zeros gets it right by accident
    return any(
        case.expected is not None
        and any(part.values.any() for part in case.expected.parts)
        and is_right(run, member)
        for member, case in enumerate(run.plan.cases)
    )


def _all_or_nothing(exercise: CodeExercise, checks: list[Check]) -> Iterator[Check]:
    # laws that say much the same share the points of one of them
    lost = {
        rubric.together: check.id
        for rubric, check in reversed(list(zip(exercise.checks, checks, strict=True)))
        if rubric.together is not None and check.verdict is not Verdict.PASSED
    }
    for rubric, check in zip(exercise.checks, checks, strict=True):
        blocking = None if rubric.together is None else lost.get(rubric.together)
        if blocking is not None and check.points:
            message = f"Passed, but it counts only together with the check “{blocking}”."
            check = replace(check, points=0.0, message=message)
        yield check


def judge_apart(exercise: CodeExercise, run: PlanObservations) -> dict[str, Verdict]:
    """Return the verdict of ``runs`` and of every check, each judged as if all prerequisites had passed."""
    verdicts = {"runs": _prerequisite(run).verdict}
    return verdicts | {rubric.id: _judged(rubric, run).verdict for rubric in exercise.checks}


def skipped(rubric: RubricCheck, prerequisite: str) -> Check:
    """Return the visible skip of a check."""
    message = f"Skipped, because the check “{prerequisite}” didn't pass."
    return Check(rubric.id, Verdict.SKIPPED, 0.0, rubric.points, message, rubric.title)


def _prerequisite(run: PlanObservations) -> Check:
    finding = _first_problem(property_of("runs").judge, run.plan.groups["runs"], run, public=True)
    if finding.verdict is Verdict.PASSED:
        return Check("runs", Verdict.PASSED, 0.0, 0.0)
    return Check("runs", finding.verdict, 0.0, 0.0, _sentence("The function must return a value.", finding))


def _computes_nothing(runs: Check, trivial: str) -> Check:
    if runs.verdict is Verdict.PASSED:
        message = f"The function must compute its result from its input. But it {trivial}."
        return replace(runs, verdict=Verdict.FAILED, message=message)
    return replace(runs, message=f"{runs.message} It {trivial}.")


def _judged(rubric: RubricCheck, run: PlanObservations) -> Check:
    groups = run.plan.groups.get(rubric.key, ())
    finding = _first_problem(rubric.property.judge, groups, run, rubric.public)
    if finding.verdict is Verdict.PASSED:
        return Check(rubric.id, Verdict.PASSED, rubric.points, rubric.points, title=rubric.title)
    message = _sentence(rubric.message, finding)
    return Check(rubric.id, finding.verdict, 0.0, rubric.points, message, rubric.title)


def _sentence(message: str, finding: PropertyFinding) -> str:
    return f"{message} But {finding.clause}." if finding.clause else message


def _first_problem(
    judge: Callable[[CaseGroup, PlanObservations], str | None],
    groups: tuple[CaseGroup, ...],
    run: PlanObservations,
    public: bool,
) -> PropertyFinding:
    # a call that wasn't run says nothing: it gives way to a real problem
    waiting: PropertyFinding | None = None
    for group in groups:
        may_show = public and all(run.plan.cases[member].public for member in group.members)
        try:
            clause = judge(group, run)
        except UnusableError as fault:
            finding = PropertyFinding(fault.verdict, sentence(fault.clause if may_show else fault.blunt))
            if fault.verdict is not Verdict.SKIPPED:
                return finding
            waiting = waiting or finding
            continue
        except Exception:
            if _all_right(group, run):
                raise  # nothing foreign is left that could have caused it
            _log.debug("%s can't be judged on what came back", run.function, exc_info=True)
            return PropertyFinding(Verdict.FAILED, _UNCOMPARABLE)
        if clause is not None:
            return PropertyFinding(Verdict.FAILED, sentence(clause) if may_show else "")
    return waiting or PropertyFinding(Verdict.PASSED)


def _all_right(group: CaseGroup, run: PlanObservations) -> bool:
    """Tell whether every call of a group gave what the reference gives.

    Where a judgement fails, that is whose fault it is: over right values it is ours, and the attempt is
    ungraded; over others nobody can choose to be ungraded by what the code returns.
    """
    for member in group.members:
        expected, observation = run.plan.cases[member].expected, run[member]
        if expected is None:
            continue
        if observation.parts is None or len(observation.parts) != len(expected.parts):
            return False
        pairs = zip(observation.parts, expected.parts, strict=True)
        if not all(close(got.values, part.values, part.slack) for got, part in pairs):
            return False
        if observation.gradients and expected.gradients is not None:
            if len(observation.gradients) != len(expected.gradients):
                return False
            gradients = zip(observation.gradients, expected.gradients, strict=True)
            if not all(got is not None and close(got, part.values, part.slack) for got, part in gradients):
                return False
    return True
