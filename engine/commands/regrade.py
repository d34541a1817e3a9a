"""``grade regrade``: mark stored work again after an item was corrected."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from engine.commands.context import CommandContext, find_context
from engine.commands.journal import log
from engine.commands.options import (
    by_option,
    cluster_option,
    course_option,
    json_option,
    sandbox_options,
    store_option,
    workers_option,
)
from engine.commands.terminal import confirm, number, print_json, progress_bar, show_table
from engine.errors import UsageError
from engine.text.words import agree, count_noun

if TYPE_CHECKING:
    from engine.model import GradeReport
    from engine.runner import SandboxOptions
    from engine.runs.regrade import RegradeChange, RegradePlan, RegradeScope
    from engine.store import Store, StoredRegrade

_WAITING = 32  # programs whose reports are waited for at the same time


@click.command("regrade")
@click.argument("items", metavar="[ITEM]...", nargs=-1)
@click.option("--quiz", default=None, help="Only answers to the quiz of this name.")
@click.option("--student", default=None, help="Only this student's work.")
@click.option("--all", "everything", is_flag=True, help="Also work marked with the current item.")
@click.option("--dry-run", is_flag=True, help="Show the differences without writing anything.")
@click.option("--never-lower", is_flag=True, help="Let marks go up only; what would go down stays as it is.")
@click.option("--yes", is_flag=True, help="Write without asking.")
@click.option("--cause", default="", help="Why, for the history.")
@by_option
@click.option("--history", is_flag=True, help="Show what earlier regrades changed, without writing anything.")
@workers_option
@sandbox_options("tier", "unsafe_local")
@cluster_option
@json_option
@course_option
@store_option
def command(
    items: tuple[str, ...],
    quiz: str | None,
    student: str | None,
    everything: bool,
    dry_run: bool,
    never_lower: bool,
    yes: bool,
    cause: str,
    by: str,
    history: bool,
    workers: int | None,
    sandbox: SandboxOptions,
    cluster: bool,
    as_json: bool,
    course_path: Path | None,
) -> int:
    """Mark stored work again after its item was corrected, and show first what that changes.

    Answers and code come from the store. Only work that was marked with another version of its item is marked
    again; marks by hand keep precedence. The old report is kept beside the new one.

    Exit code 0: done, or nothing to do; 1: some work needs a person (listed); 2: bad usage or input.

    \b
    Examples:
      grade regrade softmax-weights --dry-run
      grade regrade softmax-weights --cause "key of the third entry" --yes
    """
    from engine.runs.regrade import RegradeScope, apply_plan

    context = find_context(course_path)
    sandbox.check(context.mode)
    if cluster:
        from engine.commands.worker import check_cluster

        check_cluster(context, workers, sandbox)
    for item in items:
        context.bank.path(item)
    with context.open_marks() as store:
        if history:
            _show_history(context, store, items, student, as_json)
            return 0
        scope = RegradeScope(items, quiz, student, everything)
        # A mistyped name would find nothing, and look like good news.
        scope.check(store)
        plan = _plan(context, store, scope, workers, sandbox, cluster)
        if never_lower:
            plan = plan.never_lower()
        if not as_json:
            _show_plan(plan)
        run = None
        if not plan.is_empty and not dry_run and _is_confirmed(yes, as_json):
            with store.one_transaction():
                run, skipped = apply_plan(store, plan, by=by, cause=cause)
                log(
                    context,
                    store,
                    "regrade.apply",
                    ", ".join(items) or "everything that changed",
                    by=by,
                    student=student,
                    quiz=quiz,
                    run=run,
                    changes=len(plan.visible),
                    never_lower=never_lower or None,
                    reason=cause or None,
                )
            if not as_json:
                click.echo(f"written as run {run}; the site shows it at once, files written earlier don't")
                click.echo("  next: grade feedback writes the pages again, grade export a gradebook")
                for attempt in skipped:
                    click.echo(f"left alone, it changed meanwhile: {attempt.student} {attempt.item}")
        elif not plan.is_empty and not as_json:
            click.echo("nothing was written")
    # After writing: a script gets one document, with the run's id.
    if as_json:
        print_json(_plan_json(plan, run))
    return 1 if plan.undecided else 0


def _plan(
    context: CommandContext,
    store: Store,
    scope: RegradeScope,
    workers: int | None,
    sandbox: SandboxOptions,
    cluster: bool,
) -> RegradePlan:
    from engine.runs import CodeExercises
    from engine.runs.regrade import plan_regrade

    with ExitStack() as stack:
        code = CodeExercises(context.bank, secret=context.secret(), mode=context.mode)
        if cluster:
            from engine.commands.worker import exercises_on_cluster

            code = stack.enter_context(exercises_on_cluster(context, sandbox))
        return plan_regrade(
            store,
            context.bank,
            code=code,
            sandbox=context.offered_sandbox(sandbox),
            mode=context.mode,
            scope=scope,
            # A plan with fewer submissions opens fewer slots; for other machines' reports threads only wait.
            workers=_WAITING if cluster else workers or os.cpu_count() or 1,
            progress=partial(progress_bar, "grading again"),
        )


def _is_confirmed(yes: bool, as_json: bool) -> bool:
    # A script must not hang at a question that nobody reads.
    if not yes and (as_json or not sys.stdin.isatty()):
        raise UsageError(
            "the changes need a yes, and nobody can be asked here",
            next_step="add --yes to write them, or --dry-run",
        )
    return yes or confirm("Write these changes?")


def _show_plan(plan: RegradePlan) -> None:
    if plan.visible:
        rows = [
            [
                change.old.student,
                change.column,
                _mark(change.old.report),
                _mark(change.new.report),
                _difference(change),
                "a mark set by hand overrides it" if change.by_hand else _causes(change.new.report),
            ]
            for change in plan.visible
        ]
        show_table(["student", "column", "was", "is now", "difference", "because"], rows)
        click.echo()
    same = len(plan.changes) - len(plan.visible)
    changes = f"{count_noun(len(plan.visible), 'mark')} {agree(len(plan.visible), 'change')}"
    current = f", {plan.current} {agree(plan.current, 'were')} already marked with the current item"
    click.echo(f"{changes}, {same} {agree(same, 'stay')} the same{current if plan.current else ''}")
    marked = [change for change in plan.changes if change.keeps_marks]
    if marked:
        click.echo(
            f"{count_noun(len(marked), 'answer')} {agree(len(marked), 'keep')} the points that a person gave"
        )
    again = [change for change in plan.changes if change.unmarks]
    if again:
        answers = f"{count_noun(len(again), 'answer')} {agree(len(again), 'wait')} to be marked again"
        click.echo(
            f"{answers}, because the rubric offers other points now; the old marks stay in the history\n"
            "  next: grade mark answers"
        )
    if plan.spared:
        stay = "stays as it is" if plan.spared == 1 else "stay as they are"
        click.echo(f"{count_noun(plan.spared, 'mark')} would go down and {stay} (--never-lower)")
    if plan.waiting:
        click.echo(f"{plan.waiting} {agree(plan.waiting, 'are')} ungraded: grade batch tries again")
    if plan.rekeyed:
        count = len(plan.rekeyed)
        click.echo(f"{count_noun(count, 'drawn quiz')} {agree(count, 'get')} the current keys")
    for case in plan.undecided:
        click.echo(f"needs a person: {case.attempt.student} {case.column}: {case.why}")


def _mark(report: GradeReport) -> str:
    if report.score is None:
        return report.word
    return f"{number(report.score)} of {number(report.max_score)}"


def _difference(change: RegradeChange) -> str:
    old, new = change.old.report.score, change.new.report.score
    if old is None or new is None:
        return ""
    return number(new - old) if new <= old else f"+{number(new - old)}"


def _causes(report: GradeReport) -> str:
    """Return the known mistake that explains a mark, or else the first checks that failed."""
    if report.diagnosis:
        return report.diagnosis[0].misconception
    failed = [check.id for check in report.checks if check.points < check.max_points]
    return ", ".join(failed[:3])  # a row of a table has room for three; grade feedback shows all


def _plan_json(plan: RegradePlan, run: str | None) -> dict[str, Any]:
    """Return what ``--json`` prints; `run` is None where nothing was written."""
    return {
        "run": run,
        "spared": plan.spared,
        "changes": [
            {
                "student": change.old.student,
                "column": change.column,
                "item": change.old.item,
                "submission": change.old.submission,
                "old": _report_json(change.old.report),
                "new": _report_json(change.new.report),
                "by_hand": change.by_hand,
            }
            for change in plan.visible
        ],
        "same": len(plan.changes) - len(plan.visible),
        "current": plan.current,
        "waiting": plan.waiting,
        "rekeyed_quizzes": len(plan.rekeyed),
        "undecided": [
            {"student": case.attempt.student, "column": case.column, "why": case.why}
            for case in plan.undecided
        ],
    }


def _report_json(report: GradeReport) -> dict[str, Any]:
    fields = {"item_version": report.item_version, "outcome": str(report.outcome)}
    return {**fields, "score": report.score, "max_score": report.max_score}


def _show_history(
    context: CommandContext, store: Store, items: Sequence[str], student: str | None, as_json: bool
) -> None:
    from engine.runs.regrade import regrade_history

    # Scripts get all that the store has; a person looks for marks that a regrade has changed.
    history = store.regrades.history(student=student) if as_json else regrade_history(store, student)
    changes = [change for change in history if not items or change.new.item in items]
    if as_json:
        print_json([_change_json(change) for change in changes])
        return
    if not changes:
        click.echo("nothing was regraded yet")
        return
    rows = [
        [
            context.local_text(change.at),
            change.run,
            change.by,
            change.student,
            change.new.item,
            # Eight digits of a version tell it from others, as with git.
            f"{change.old.item_version[:8]} → {change.new.item_version[:8]}",
            f"{_mark(change.old)} → {_mark(change.new)}",
            change.cause,
        ]
        for change in changes
    ]
    show_table(
        [f"when ({context.zone_name})", "run", "by", "student", "item", "version", "mark", "cause"], rows
    )


def _change_json(change: StoredRegrade) -> dict[str, Any]:
    return {
        "run": change.run,
        "at": change.at.isoformat(),
        "by": change.by,
        "cause": change.cause,
        "student": change.student,
        "item": change.new.item,
        "submission": change.submission,
        "old": _report_json(change.old),
        "new": _report_json(change.new),
    }
