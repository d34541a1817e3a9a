"""Grading one code submission: source, run, judge, explain, score."""

from __future__ import annotations

import logging
import math
from dataclasses import replace

import numpy as np

from engine.code.comparison import compared_weights
from engine.code.examine import (
    IMPORTABLE,
    ArgumentAdapter,
    CellLines,
    SourceFacts,
    examine_source,
    load_notes,
    missing_package,
)
from engine.code.exercise import CodeExercise
from engine.code.explain.counterexample import find_counterexample
from engine.code.explain.mutants import name_mutants
from engine.code.judge import judge_all, judge_load, skipped
from engine.code.observe import PlanObservations, observe
from engine.code.plan import InputPlan
from engine.code.show import exception_text
from engine.code.signatures import defaults_of
from engine.errors import EngineError
from engine.items.checks.code import PREREQUISITES
from engine.model import Check, CodeSubmission, GradeReport, Mode, Outcome, Verdict
from engine.runner import CallOutcome, CallStatus, Job, Runner, RunResult
from engine.text.escape import clean_line
from engine.text.words import count_noun

_log = logging.getLogger(__name__)

_NO_DEFAULT = (
    "An argument without its default was passed by the grader in most calls; expected {signature}, "
    "so that it can be left out."
)
_BY_KEYWORD = "The grader passed {name} by keyword, because the function takes it no other way."


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
        ``loads``, ``function`` and ``runs`` earn nothing; every other check stands in the rubric.
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
    blank = replace(blank, tier=runner.tier)
    if submission.filename.lower().endswith(".ipynb"):
        runner = CellLines(runner)
    if not facts.passing.is_usual:
        size = exercise.signature.count(",") + 1
        runner = ArgumentAdapter(runner, facts.passing, defaults_of(exercise.signature), size)
    if facts.passing.requires is not None:
        blank = replace(blank, notes=(*blank.notes, _NO_DEFAULT.format(signature=exercise.signature)))
    by_keyword = tuple(
        _BY_KEYWORD.format(name=clean_line(name, 60)) for name in facts.passing.keywords.values()
    )
    blank = replace(blank, notes=(*blank.notes, *by_keyword))
    try:
        with np.errstate(all="ignore"):  # infinities and NaN of a student are nothing to warn of
            return _run_and_judge(blank, exercise, plan, submission, runner, facts, explain)
    except EngineError as error:
        return _ungraded(blank, exercise, str(error.what))
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
    result = _run(exercise, plan, submission, runner, facts.library)
    blank = replace(blank, tier=result.tier or runner.tier)
    loaded = judge_load(result.load)
    if loaded.verdict is not Verdict.PASSED:
        return _scored(replace(blank, checks=_stopped_at(exercise, loaded)))
    missing = missing_package(submission, exercise.function, plan, result)
    if missing is not None:
        message = (
            f"{exercise.function} needs a module that isn't here: {exception_text(missing)}. {IMPORTABLE}"
        )
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
    return _explained(report, exercise, run, submission, runner) if explain else report


def _explained(
    report: GradeReport,
    exercise: CodeExercise,
    run: PlanObservations,
    submission: CodeSubmission,
    runner: Runner,
) -> GradeReport:
    # the checks are all judged already, so whatever fails here the mark stands
    try:
        report = replace(report, weights=compared_weights(run))
        if report.outcome is Outcome.RIGHT:
            return report  # there is nothing to explain, and the search would cost a process
        diagnosis = name_mutants(exercise, run.plan, run.items)
        report = replace(report, diagnosis=diagnosis)
        mutants = [mistake.misconception for mistake in diagnosis]
        counterexample = find_counterexample(exercise, run, submission, runner, mutants)
        return replace(report, counterexample=counterexample)
    except EngineError as error:
        note = f"No counterexample was sought: {clean_line(error.what)}"
    except Exception as error:
        _log.debug("explaining %s failed", exercise.item, exc_info=True)
        note = f"No known mistake or counterexample was sought: {type(error).__name__}"
    return replace(report, notes=(*report.notes, note))


def _run(
    exercise: CodeExercise, plan: InputPlan, submission: CodeSubmission, runner: Runner, library: str
) -> RunResult:
    # one job for the whole plan; going on after a crashed call is the runner's business
    calls = plan.calls(exercise.function, library)
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
    # right only if every check passed, those without points too
    # one check that we couldn't judge is enough: a score without it would be somebody's loss
    if any(check.verdict is Verdict.ENGINE_ERROR for check in report.checks):
        return replace(report, outcome=Outcome.UNGRADED, score=None)
    score = math.fsum(check.points for check in report.checks)
    if all(check.verdict is Verdict.PASSED for check in report.checks):
        return replace(report, outcome=Outcome.RIGHT, score=report.max_score)
    return replace(report, outcome=Outcome.PARTIAL if score > 0 else Outcome.WRONG, score=score)


def _stopped_at(exercise: CodeExercise, failed: Check) -> tuple[Check, ...]:
    """Return the checks of a submission that got no further than this prerequisite."""
    # that nothing forbidden is used is told only where it isn't so
    names = [name for name in PREREQUISITES if name != "allowed" or failed.id == "allowed"]
    place = names.index(failed.id)
    before = (Check(name, Verdict.PASSED, 0.0, 0.0) for name in names[:place])
    message = f"Skipped, because the check “{failed.id}” didn't pass."
    after = (Check(name, Verdict.SKIPPED, 0.0, 0.0, message) for name in names[place + 1 :])
    return (*before, failed, *after, *(skipped(rubric, failed.id) for rubric in exercise.checks))


def _failed_at(exercise: CodeExercise, name: str, sentence: str) -> tuple[Check, ...]:
    return _stopped_at(exercise, Check(name, Verdict.FAILED, 0.0, 0.0, sentence))


def _ungraded(blank: GradeReport, exercise: CodeExercise, cause: str) -> GradeReport:
    note = f"Not graded: {clean_line(cause)}. This isn't the submission's fault and costs no mark."
    checks = tuple(
        Check(rubric.id, Verdict.ENGINE_ERROR, 0.0, rubric.points, "Not graded.")
        for rubric in exercise.checks
    )
    return replace(blank, outcome=Outcome.UNGRADED, score=None, checks=checks, notes=(*blank.notes, note))
