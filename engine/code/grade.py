"""Grading one code submission: source, run, judge, explain, score.

Checks build on each other: ``loads``, ``function``, ``runs``, then the rubric's own. A check that can't be
judged because an earlier one failed is skipped, and says so.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from engine.code.comparison import compared_weights, degenerate
from engine.code.examine import (
    IMPORTABLE,
    SourceFacts,
    examine_source,
    load_notes,
    missing_package,
    passing_notes,
    suited_runner,
)
from engine.code.exercise import CodeExercise, RubricCheck
from engine.code.explain.counterexample import TrialsAlong, find_counterexample, sent_calls
from engine.code.explain.mutants import name_mutants
from engine.code.observe import PlanObservations, UnusableError, observe
from engine.code.plan import CaseGroup, InputPlan, close, remembered
from engine.code.properties import property_of
from engine.code.properties.contract import is_right
from engine.errors import EngineError
from engine.items.checks.code import PREREQUISITES
from engine.model import Check, CodeSubmission, GradeReport, Mode, Outcome, Verdict
from engine.runner import Call, CallOutcome, CallStatus, Job, Runner, RunResult
from engine.text.words import clean_line, count_noun

_log = logging.getLogger(__name__)

_UNCOMPARABLE = "what came back can't be compared with the right result"
_SKIPPED = "Skipped, because the check “{}” didn't pass."
_NOTHING_RIGHT = "Skipped, because not one result is right yet."
_LONGEST_SENTENCE = 600


def grade_code(
    exercise: CodeExercise,
    plan: InputPlan,
    submission: CodeSubmission,
    runner: Runner,
    *,
    mode: Mode,
    student: str | None,
    explain: bool = True,
) -> GradeReport:
    """Return the report of one submission.

    Whatever the code does becomes a verdict. Whatever the machine or we do wrong makes the attempt
    ungraded: its score is then None, never 0 and never full marks.

    Parameters
    ----------
    exercise : CodeExercise
    plan : InputPlan
        Frozen before, by :func:`engine.code.freeze_plan`.
    submission : CodeSubmission
        Foreign.
    runner : Runner
        What runs the code: a sandbox for students,
        :class:`engine.code.explain.in_process.TrustedRunner` for ours.
    mode : Mode
    student : str or None
    explain : bool
        Whether to look for known mistakes and for a counterexample, and to keep the weights that can be
        drawn; marks don't depend on it.

    Returns
    -------
    GradeReport
        ``loads``, ``function`` and ``runs`` earn nothing; every other check is in the rubric.
    """
    blank = GradeReport.blank(
        exercise.item,
        exercise.version,
        Outcome.UNGRADED,
        exercise.points,
        student=student,
        mode=mode,
        notes=submission.notes,
    )
    facts = examine_source(
        submission.source,
        exercise.function,
        exercise.signature,
        forbidden=exercise.forbidden,
        modules=submission.modules,
    )
    # what the source shows needs no sandbox, and a process less for every file that can't earn anything
    if facts.unreadable is not None:
        checks = _failed_at(exercise, "loads", facts.unreadable)
        return replace(blank, outcome=Outcome.FORMAT_ERROR, checks=checks)
    if facts.forbidden is not None:
        return _scored(replace(blank, checks=_failed_at(exercise, "allowed", facts.forbidden)))
    if facts.fault is not None:
        return _scored(replace(blank, checks=_failed_at(exercise, "function", facts.fault)))
    notes = (*blank.notes, *passing_notes(facts.passing, exercise.signature))
    blank = replace(blank, tier=runner.tier, notes=notes)
    runner = suited_runner(runner, submission, facts.passing, exercise.signature)
    try:
        with np.errstate(all="ignore"):  # infinities and NaN of a student are nothing to warn of
            return _run_and_judge(blank, exercise, plan, submission, runner, facts, explain)
    except EngineError as error:
        return _ungraded(blank, exercise, str(error.what))
    except OSError as error:  # no descriptors or no room left, say
        return _ungraded(blank, exercise, f"this machine failed ({error.strerror or type(error).__name__})")
    except Exception as error:  # a bug of ours must not become a mark
        _log.debug("judging %s failed", exercise.item, exc_info=True)
        return _ungraded(blank, exercise, f"an error of Softmark itself ({type(error).__name__})")


def _run_and_judge(
    blank: GradeReport,
    exercise: CodeExercise,
    plan: InputPlan,
    submission: CodeSubmission,
    runner: Runner,
    facts: SourceFacts,
    explain: bool,
) -> GradeReport:
    sent = sent_calls(exercise, plan, facts.library, runner if explain else None)
    whole = _run(exercise, sent.calls, submission, runner)
    result = replace(whole, outcomes=whole.outcomes[: len(plan.cases)])
    blank = replace(blank, tier=result.tier or runner.tier, library=result.library or None)
    loaded = judge_load(result.load)
    if loaded.verdict is not Verdict.PASSED:
        return _scored(replace(blank, checks=_stopped_at(exercise, loaded)))
    if (missing := missing_package(submission, exercise.function, plan, result)) is not None:
        message = f"{exercise.function} needs a module that isn't here: {missing.summary()}. {IMPORTABLE}"
        return replace(blank, outcome=Outcome.FORMAT_ERROR, checks=_failed_at(exercise, "loads", message))
    if exercise.function in result.missing and result.failed:
        loaded = judge_load(CallOutcome(CallStatus.RAISED, exception=result.failed[0]))
        return _scored(replace(blank, checks=_stopped_at(exercise, loaded)))
    blank = replace(blank, notes=(*blank.notes, *load_notes(result)))
    if exercise.function in result.missing:
        sentence = f"The file doesn't define {exercise.signature}."
        message = f"{sentence} {facts.hint}" if facts.hint else sentence
        return _scored(replace(blank, checks=_failed_at(exercise, "function", message)))
    items = observe(plan, facts.library, result.outcomes)
    run = PlanObservations(plan, exercise.function, facts.library, items)
    passed = (loaded, Check("function", Verdict.PASSED, 0.0, 0.0))
    report = _scored(replace(blank, checks=(*passed, *judge_all(exercise, run))))
    along = sent.trials(whole.outcomes)
    return _explained(report, exercise, run, submission, runner, along) if explain else report


def _explained(
    report: GradeReport,
    exercise: CodeExercise,
    run: PlanObservations,
    submission: CodeSubmission,
    runner: Runner,
    along: TrialsAlong,
) -> GradeReport:
    # the checks are all judged already, so whatever fails here the mark stands
    try:
        report = replace(report, weights=compared_weights(run))
        if report.outcome is Outcome.RIGHT:
            return report  # there is nothing to explain, and the search would cost a process
        report = replace(report, diagnosis=name_mutants(exercise, run.plan, run.items))
        mutants = [mistake.misconception for mistake in report.diagnosis]
        counterexample = find_counterexample(exercise, run, submission, runner, mutants, along)
        return replace(report, counterexample=counterexample)
    except EngineError as error:
        note = f"No counterexample was sought: {clean_line(error.what)}"
    except Exception as error:
        _log.debug("explaining %s failed", exercise.item, exc_info=True)
        note = f"No known mistake or counterexample was sought: {type(error).__name__}"
    return replace(report, notes=(*report.notes, note))


def _run(
    exercise: CodeExercise, calls: tuple[Call, ...], submission: CodeSubmission, runner: Runner
) -> RunResult:
    # one job for the whole plan; going on after a crashed call is the runner's business
    # the first call is the one that "runs" judges: without it every other check is skipped
    job = Job(
        submission.source,
        "submission.py",
        calls,
        exercise.limits,
        (exercise.function,),
        essential=1,
        modules=submission.modules,
    )
    result = runner.run(job)
    if result.load.status is CallStatus.RETURNED and len(result.outcomes) != len(calls):
        raise EngineError(
            f"the runner gave {count_noun(len(result.outcomes), 'outcome')} for "
            f"{count_noun(len(calls), 'call')}"
        )
    return result


def _scored(report: GradeReport) -> GradeReport:
    # one check that we couldn't judge is enough: a score without it would be somebody's loss
    if any(check.verdict is Verdict.ENGINE_ERROR for check in report.checks):
        return replace(report, outcome=Outcome.UNGRADED, score=None)
    score = math.fsum(check.points for check in report.checks)
    # right only if every check passed, those without points too
    if all(check.verdict is Verdict.PASSED for check in report.checks):
        return replace(report, outcome=Outcome.RIGHT, score=report.max_score)
    return replace(report, outcome=Outcome.PARTIAL if score > 0 else Outcome.WRONG, score=score)


def _stopped_at(exercise: CodeExercise, failed: Check) -> tuple[Check, ...]:
    """Return the checks of a submission that got no further than this prerequisite."""
    # the check for forbidden names is reported only where it fails
    names = [name for name in PREREQUISITES if name != "allowed" or failed.id == "allowed"]
    place = names.index(failed.id)
    before = (Check(name, Verdict.PASSED, 0.0, 0.0) for name in names[:place])
    message = _SKIPPED.format(failed.id)
    after = (Check(name, Verdict.SKIPPED, 0.0, 0.0, message) for name in names[place + 1 :])
    return (*before, failed, *after, *(_skipped(rubric, failed.id) for rubric in exercise.checks))


def _failed_at(exercise: CodeExercise, name: str, sentence: str) -> tuple[Check, ...]:
    return _stopped_at(exercise, Check(name, Verdict.FAILED, 0.0, 0.0, sentence))


def _ungraded(blank: GradeReport, exercise: CodeExercise, cause: str) -> GradeReport:
    note = f"Not graded: {clean_line(cause)}. This isn't the submission's fault and costs no mark."
    checks = tuple(
        Check(rubric.id, Verdict.ENGINE_ERROR, 0.0, rubric.points, "Not graded.")
        for rubric in exercise.checks
    )
    return replace(blank, outcome=Outcome.UNGRADED, score=None, checks=checks, notes=(*blank.notes, note))


@dataclass(frozen=True, slots=True)
class _Finding:
    """What a property's judgement came to; `clause` is what the student may see of it."""

    verdict: Verdict
    clause: str = ""


_LOAD = {
    CallStatus.TIMED_OUT: (Verdict.TIMED_OUT, "Loading the file didn't finish in time."),
    CallStatus.OUT_OF_MEMORY: (Verdict.OUT_OF_MEMORY, "Loading the file needed more memory than allowed."),
    CallStatus.CRASHED: (Verdict.CRASHED, "Loading the file crashed the process."),
}


def judge_load(outcome: CallOutcome) -> Check:
    """Return the check of loading the file; no input is involved, so everything may be shown."""
    if outcome.status is CallStatus.RETURNED:
        return Check("loads", Verdict.PASSED, 0.0, 0.0)
    if outcome.exception is not None:
        message = f"Loading the file raised {outcome.exception.summary()}."
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
    if (trivial := degenerate(run)) is not None:
        runs = _computes_nothing(runs, trivial)
    done = dict.fromkeys(PREREQUISITES, Verdict.PASSED) | {"runs": runs.verdict}
    checks = []
    for rubric in exercise.checks:
        missing = [name for name in ("runs", *rubric.requires) if done[name] is not Verdict.PASSED]
        check = _skipped(rubric, missing[0]) if missing else _judged(rubric, run)
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


def _skipped(rubric: RubricCheck, prerequisite: str) -> Check:
    """Return the visible skip of a check."""
    return Check(rubric.id, Verdict.SKIPPED, 0.0, rubric.points, _SKIPPED.format(prerequisite), rubric.title)


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
    seen = {member: run[member] for group in groups for member in group.members}
    key = rubric, run.function, run.library, tuple(seen.values())
    return remembered(run.plan.judged, key, lambda: _judged_anew(rubric, run, groups))


def _judged_anew(rubric: RubricCheck, run: PlanObservations, groups: tuple[CaseGroup, ...]) -> Check:
    finding = _first_problem(rubric.property.judge, groups, run, rubric.public)
    if finding.verdict is Verdict.PASSED:
        return Check(rubric.id, Verdict.PASSED, rubric.points, rubric.points, title=rubric.title)
    message = _sentence(rubric.message, finding)
    return Check(rubric.id, finding.verdict, 0.0, rubric.points, message, rubric.title)


def _sentence(message: str, finding: _Finding) -> str:
    return f"{message} But {finding.clause}." if finding.clause else message


def _first_problem(
    judge: Callable[[CaseGroup, PlanObservations], str | None],
    groups: tuple[CaseGroup, ...],
    run: PlanObservations,
    public: bool,
) -> _Finding:
    # a call that wasn't run says nothing: it gives way to a real problem
    waiting: _Finding | None = None
    for group in groups:
        may_show = public and all(run.plan.cases[member].public for member in group.members)
        try:
            clause = judge(group, run)
        except UnusableError as fault:
            finding = _Finding(fault.verdict, _cut(fault.clause if may_show else fault.blunt))
            if fault.verdict is not Verdict.SKIPPED:
                return finding
            waiting = waiting or finding
            continue
        except EngineError:
            raise  # an author's relation is at fault, whatever came back
        except Exception:
            if _all_right(group, run):
                raise  # nothing foreign is left that could have caused it
            _log.debug("%s can't be judged on what came back", run.function, exc_info=True)
            return _Finding(Verdict.FAILED, _UNCOMPARABLE)
        if clause is not None:
            return _Finding(Verdict.FAILED, _cut(clause) if may_show else "")
    return waiting or _Finding(Verdict.PASSED)


def _cut(text: str) -> str:
    # some sentences quote what came back, and nobody reads that far
    return text if len(text) <= _LONGEST_SENTENCE else f"{text[: _LONGEST_SENTENCE - 2].rstrip()} …"


def _all_right(group: CaseGroup, run: PlanObservations) -> bool:
    """Return whether every call of a group gave what the reference gives.

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
            judged = ((got, part) for got, part in gradients if part is not None)
            if not all(got is not None and close(got, part.values, part.slack) for got, part in judged):
                return False
    return True
