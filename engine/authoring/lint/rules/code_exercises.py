"""A code exercise proves itself: its solutions pass everything, each mutant is killed by a named check.

A check that kills no mutant checks nothing, and a mutant that no check kills is a mistake that earns full
marks. The kill matrix, which says which check kills which mutant, is among the facts of the report.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from engine.authoring.lint.subject import LintFinding, LintSubject
from engine.errors import SpecError
from engine.items import CodeAnswer
from engine.model import Check, Verdict

if TYPE_CHECKING:
    from engine.code.exercise import CodeExercise, KnownWrongProgram
    from engine.code.plan import InputPlan

# several plans: a mutant that only some inputs expose could get through a single one
PLANS = (b"lint 1", b"lint 2", b"lint 3")
_THOROUGH = 100  # seeds from which on all plans are tried
_SLOW_S = 5.0  # plans of the built-in exercises take a tenth of a second


def plan_seeds(seeds: int) -> tuple[bytes, ...]:
    """Return the seeds of the plans that are tried where so many variants of other items are drawn."""
    return PLANS if seeds >= _THOROUGH else PLANS[:1]


def check(subject: LintSubject) -> Iterator[LintFinding]:
    """Yield solutions that don't pass and mutants that aren't killed as declared; record the kill matrix.

    Solutions and mutants are the author's own: they run in this process, without a sandbox.
    """
    from engine.code import freeze_plan, load_exercise

    if not subject.is_code:
        return
    if subject.path is None:
        yield subject.fault("a code exercise needs its folder", next_step="lint it by its file")
        return
    try:
        exercise = load_exercise(subject.spec, Path(subject.path).parent, subject.version)
    except SpecError as error:
        for fault in error.diagnostics:
            yield LintFinding.of_diagnostic("code", fault)
        return
    yield from _unpaid(subject, exercise)
    yield from _unsaid(subject)
    yield from _unsteady(subject, exercise)
    killed: dict[str, set[str]] = {mutant.id: set() for mutant in exercise.mutants}
    for plan in (freeze_plan(exercise, seed) for seed in plan_seeds(subject.seeds)):
        yield from _solutions(subject, exercise, plan)
        yield from _starter(subject, exercise, plan)
        for index, mutant in enumerate(exercise.mutants):
            yield from _mutant(subject, exercise, plan, index, mutant, killed[mutant.id])
    yield from _reference_only(subject, exercise, killed)
    subject.facts["kill_matrix"] = {mutant: sorted(checks) for mutant, checks in killed.items()}
    subject.facts["checks"] = [check.id for check in exercise.checks]


def _unsteady(subject: LintSubject, exercise: CodeExercise) -> Iterator[LintFinding]:
    """Yield an author's file whose plans depend on something else than the seed, or take long."""
    from engine.code import freeze_plan

    where = ("answer", "exercise")
    start = time.process_time()
    first = freeze_plan(exercise, PLANS[0])
    seconds = time.process_time() - start
    if freeze_plan(exercise, PLANS[0]).id != first.id:
        message = "exercise.py gives another plan when it is asked again with the same seed"
        step = "draw everything from the inputs' own streams: no time, no random, no order of a set"
        yield subject.fault(message, where, next_step=step)
    if seconds > _SLOW_S:
        message = f"drawing a plan takes {seconds:.0f} s of processor time, which every run pays"
        yield subject.warning(message, where, next_step="make the inputs smaller, or the reference faster")


def _unpaid(subject: LintSubject, exercise: CodeExercise) -> Iterator[LintFinding]:
    """Yield checks that cost nothing when they fail: a wrong program would have full marks."""
    paid = {check.together for check in exercise.checks if check.points and check.together is not None}
    for index, check in enumerate(exercise.checks):
        if not check.points and check.together not in paid:
            message = f"check {check.id} has no points, so a program that fails it has full marks"
            step = "give it points, or put it together with a check that has some"
            yield subject.fault(message, ("answer", "checks", index), next_step=step)


# What a statement must say before a check may require it. Values, shapes and mathematical laws follow from
# the definition; these don't.
_STATED_BY = {
    "pure": (
        re.compile(r"\bsame\s+call\b|\bstays?\s+as\b|\bunchanged\b|\bnot\s+change\b|n't\s+change\b", re.I),
        "that arguments stay as they are and that a call has one result",
    ),
    "refuses": (re.compile(r"\b\w*Error\b|\braises?\b"), "which error is raised, and when"),
    "dtype": (re.compile(r"\bdtype|\bboolean|\bfloat|\bint\b|`int`", re.I), "of which dtype the result is"),
    "precision": (re.compile(r"\bdtype|\bfloat32|\bsingle\b", re.I), "which dtypes are kept"),
    "half": (re.compile(r"\bfloat16|\bhalf\b|\bbfloat16", re.I), "that half precision occurs"),
    "grad": (re.compile(r"\bgradient", re.I), "that gradients must be right"),
    "empty": (re.compile(r"\bsize 0\b|\bempty\b", re.I), "what is empty, and what comes out then"),
    "batch": (re.compile(r"\bleading\s+ax|\.\.\.|\bbatch", re.I), "that there may be leading axes"),
    "stable": (
        re.compile(r"\bany\s+size\b|\blarge\b|\bbillions|\bthousands|\boverflow", re.I),
        "how large numbers are",
    ),
}


def _unsaid(subject: LintSubject) -> Iterator[LintFinding]:
    """Yield checks of something that the statement doesn't mention, so that nobody could know it."""
    answer = subject.spec.answer
    if not isinstance(answer, CodeAnswer) or not subject.strict:
        return
    stem = " ".join(subject.spec.stem.split())
    for index, check in enumerate(answer.checks):
        pattern, matter = _STATED_BY.get(check.property, (None, ""))
        if pattern is not None and not pattern.search(stem):
            message = f"check {check.id} asks for what the statement doesn't say: {matter}"
            step = "say it in the stem, or drop the check"
            yield subject.warning(message, ("answer", "checks", index), next_step=step)


def _failed(checks: Sequence[Check]) -> list[Check]:
    return [check for check in checks if check.verdict is not Verdict.PASSED]


def _solutions(subject: LintSubject, exercise: CodeExercise, plan: InputPlan) -> Iterator[LintFinding]:
    from engine.authoring.mutation.trials import checks_of

    # the author may read what students may not: where a hidden input shows it
    exercise = replace(exercise, checks=tuple(replace(check, public=True) for check in exercise.checks))
    plan = replace(plan, cases=tuple(replace(case, public=True) for case in plan.cases))
    for index, (name, source) in enumerate(exercise.solutions.items()):
        for failed in _failed(checks_of(exercise, plan, source, exercise.function))[:1]:
            message = f"the solution {name} doesn't pass check {failed.id}: {failed.message}"
            yield subject.fault(message, ("answer", "solutions", index))


def _starter(subject: LintSubject, exercise: CodeExercise, plan: InputPlan) -> Iterator[LintFinding]:
    from engine.authoring.mutation.trials import checks_of
    from engine.code.source import function_names

    checks = checks_of(exercise, plan, exercise.starter, exercise.function)
    if not _failed(checks):
        yield subject.fault("the starter file already earns full marks", ("answer", "starter"))
    if checks and checks[0].id == "loads" and checks[0].verdict is not Verdict.PASSED:
        text = checks[0].message.replace("(solution.py, ", "(")  # it runs under that name
        yield subject.fault(f"the starter file can't be loaded: {text}", ("answer", "starter"))
    elif exercise.function not in function_names(exercise.starter, exercise.function):
        yield subject.fault(f"the starter file has no function {exercise.function}", ("answer", "starter"))


def _mutant(
    subject: LintSubject,
    exercise: CodeExercise,
    plan: InputPlan,
    index: int,
    mutant: KnownWrongProgram,
    killed: set[str],
) -> Iterator[LintFinding]:
    from engine.authoring.mutation.trials import checks_of, killers
    from engine.code.source import function_names

    loc = ("answer", "mutants", index)
    functions = function_names(mutant.source, exercise.function)
    if not functions:  # nothing is tried then
        first = checks_of(exercise, plan, mutant.source, exercise.function)[0]
        unread = first.id == "loads" and first.verdict is not Verdict.PASSED
        why = f"can't be loaded: {first.message}" if unread else f"has no def {exercise.function}"
        yield subject.fault(f"the mutant {mutant.id} {why}", loc)
    for function in functions:
        failed = killers(exercise, plan, mutant.source, function)
        killed |= failed
        if failed == {"loads"}:
            yield subject.fault(f"the mutant {mutant.id} ({function}) can't be loaded", loc)
        elif not failed:
            message = f"the mutant {mutant.id} ({function}) passes every check"
            yield subject.fault(message, loc, next_step="add a check that kills it, or show why it is right")
        for name in sorted(set(mutant.killed_by) - failed):
            yield subject.fault(
                f"check {name} doesn't kill the mutant {mutant.id} ({function})",
                (*loc, "killed_by"),
                got=f"killed by {', '.join(sorted(failed)) or 'none'}",
            )


def _reference_only(
    subject: LintSubject, exercise: CodeExercise, killed: dict[str, set[str]]
) -> Iterator[LintFinding]:
    """Yield mutants that only a comparison with the reference kills, unless the spec says why."""
    comparing = {check.id for check in exercise.checks if check.property.compares}
    for index, mutant in enumerate(exercise.mutants):
        only = bool(killed[mutant.id]) and killed[mutant.id] <= comparing
        loc = ("answer", "mutants", index)
        if only and mutant.reference_only is None:
            yield subject.fault(
                f"the mutant {mutant.id} is killed only by comparing with the reference",
                loc,
                got=f"killed by {', '.join(sorted(killed[mutant.id]))}",
                next_step="add a property that it breaks, or say why there is none under reference_only",
            )
        elif mutant.reference_only is not None and not only:
            others = ", ".join(sorted(killed[mutant.id] - comparing)) or "nothing"
            message = f"reference_only of the mutant {mutant.id} says no property kills it, but {others} does"
            yield subject.fault(message, (*loc, "reference_only"))
