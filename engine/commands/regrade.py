"""``grade regrade``: mark stored work again after an item was corrected."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from engine.commands.options import course_option, json_option, store_option
from engine.errors import UsageError
from engine.text.words import agree, count_noun

if TYPE_CHECKING:
    from engine.commands.context import CommandContext
    from engine.model import GradeReport
    from engine.runner import SandboxOptions
    from engine.runs.regrade import RegradeChange, RegradePlan, RegradeScope
    from engine.store import Store, StoredRegrade

__all__ = ["command", "history_json", "plan_json", "tell_history", "tell_plan"]


@click.command("regrade")
@click.argument("items", metavar="[ITEM]...", nargs=-1)
@click.option("--quiz", default=None, help="Only answers to the quiz of this name.")
@click.option("--student", default=None, help="Only this student's work.")
@click.option("--all", "everything", is_flag=True, help="Also work marked with the item as it is now.")
@click.option("--dry-run", is_flag=True, help="Show the differences and write nothing.")
@click.option("--never-lower", is_flag=True, help="Let marks go up only; what would go down stays as it is.")
@click.option("--yes", is_flag=True, help="Write without asking.")
@click.option("--cause", default="", help="Why, for the history.")
@click.option("--by", default=None, help="Who regrades (default: this account's name).")
@click.option("--history", is_flag=True, help="Show what earlier regrades changed, and write nothing.")
@click.option(
    "--workers", type=click.IntRange(1, 256), default=None, help="Sandbox slots (default: all cores)."
)
@click.option("--tier", type=click.Choice(["T1", "T2", "T3"]), default=None, help="Demand this sandbox tier.")
@click.option("--unsafe-local", is_flag=True, help="Allow marks at T3: for trusted code only.")
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
    by: str | None,
    history: bool,
    workers: int | None,
    tier: str | None,
    unsafe_local: bool,
    as_json: bool,
    course_path: Path | None,
) -> int:
    """Mark stored work again whose item was corrected since, and show first what that changes.

    Answers and code are taken from the store. Only work that was marked with another version of its item
    is looked at; marks by hand stay above. What was and what is now are both kept.

    Exit code 0: done, or nothing to do; 1: some work needs a person (listed); 2: bad usage or input.

    \b
    Example:
      grade regrade softmax-weights --dry-run
      grade regrade softmax-weights --cause "key of the third entry" --yes
    """
    from engine.commands.context import find_context
    from engine.commands.options import decider
    from engine.runner import SandboxOptions
    from engine.runs.regrade import RegradeScope, apply_plan

    context = find_context(course_path)
    options = SandboxOptions(tier, unsafe_local)
    context.check_tier(options)
    for item in items:
        context.bank.path(item)
    with context.open_marks() as store:
        if history:
            found = [
                change
                for change in store.regrades.history(student=student)
                if not items or change.new.item in items
            ]
            if as_json:
                click.echo(json.dumps(history_json(found), ensure_ascii=False, indent=2))
            else:
                tell_history(found)
            return 0
        _check_scope(store, quiz, student)
        scope = RegradeScope(items, quiz, student, everything)
        plan = _plan(context, store, scope, workers, options)
        if never_lower:
            plan = plan.never_lower()
        if not as_json:
            tell_plan(plan)
        run = None
        if not plan.is_empty and not dry_run and _agreed(yes, as_json):
            run, left = apply_plan(store, plan, by=decider(by), cause=cause)
            if not as_json:
                click.echo(f"written as run {run}; pages and gradebooks are as they were:")
                click.echo("  next: grade batch or grade feedback writes the pages anew")
                for attempt in left:
                    click.echo(f"left alone, it changed meanwhile: {attempt.student} {attempt.item}")
        elif not plan.is_empty and not as_json:
            click.echo("nothing was written")
    if as_json:
        click.echo(json.dumps(plan_json(plan, run), ensure_ascii=False, indent=2))
    return 1 if plan.undecided else 0


def _check_scope(store: Store, quiz: str | None, student: str | None) -> None:
    names = store.quiz_names()
    if quiz is not None and quiz not in names:
        raise UsageError(
            "no quiz of this name was drawn", got=quiz, expected=", ".join(names) or "there is none yet"
        )
    if student is not None and next(store.attempts(student=student), None) is None:
        raise UsageError("nothing of this student is stored", got=student)


def _plan(
    context: CommandContext,
    store: Store,
    scope: RegradeScope,
    workers: int | None,
    options: SandboxOptions,
) -> RegradePlan:
    import os

    from engine.commands.terminal import progress_bar
    from engine.runs import CodeExercises
    from engine.runs.regrade import plan_regrade

    bank, mode = context.bank, context.mode
    return plan_regrade(
        store,
        bank,
        code=CodeExercises(bank, secret=context.secret(), mode=mode),
        sandbox=context.offered_sandbox(options),
        mode=mode,
        scope=scope,
        workers=workers or os.cpu_count() or 1,
        progress=lambda total: progress_bar("grading again", total),
    )


def _agreed(yes: bool, as_json: bool) -> bool:
    if yes:
        return True
    if as_json or not sys.stdin.isatty():
        raise UsageError(
            "nobody is here to agree to the changes", next_step="add --yes to write them, or --dry-run"
        )
    from engine.commands.terminal import confirm

    return confirm("Write these changes?")


# ----------------------------------------------------------------------------------------------------
# How ``grade regrade`` shows what changes, and what changed before.

_SHORT = 8  # characters of a version that tell it from others


def tell_plan(plan: RegradePlan) -> None:
    """Print the table of differences, and what stays."""
    from engine.commands.render import show_table

    if plan.visible:
        rows = [
            [
                change.old.student,
                change.column,
                _mark(change.old.report),
                _mark(change.new.report),
                _difference(change),
                "a mark by hand stands above it" if change.by_hand else _why(change.new.report),
            ]
            for change in plan.visible
        ]
        show_table(["student", "column", "was", "is now", "difference", "because"], rows)
        click.echo()
    same = len(plan.changes) - len(plan.visible)
    changes = f"{count_noun(len(plan.visible), 'mark')} {agree(len(plan.visible), 'change')}"
    click.echo(
        f"{changes}, {same} {agree(same, 'stay')} after marking again, "
        f"{plan.current} {agree(plan.current, 'were')} marked with the item as it is now"
    )
    if plan.spared:
        stay = "stays as it is" if plan.spared == 1 else "stay as they are"
        click.echo(f"{count_noun(plan.spared, 'mark')} would go down and {stay} (--never-lower)")
    if plan.waiting:
        click.echo(f"{plan.waiting} {agree(plan.waiting, 'are')} ungraded: grade batch tries again")
    if plan.rekeyed:
        out = len(plan.rekeyed)
        click.echo(
            f"{count_noun(out, 'quiz')} that {agree(out, 'are')} out "
            f"{agree(out, 'get')} the keys that hold now"
        )
    for case in plan.undecided:
        click.echo(f"needs a person: {case.attempt.student} {case.column}: {case.why}")


def _mark(report: GradeReport) -> str:
    from engine.text.words import plain_points

    if report.score is None:
        return report.outcome.word
    return f"{plain_points(report.score)} of {plain_points(report.max_score)}"


def _difference(change: RegradeChange) -> str:
    from engine.text.words import plain_points

    old, new = change.old.report.score, change.new.report.score
    if old is None or new is None:
        return ""
    return str(plain_points(new - old)) if new <= old else f"+{plain_points(new - old)}"


def _why(report: GradeReport) -> str:
    if report.diagnosis:
        return report.diagnosis[0].misconception
    failed = [check.id for check in report.checks if check.points < check.max_points]
    return ", ".join(failed[:3])


def plan_json(plan: RegradePlan, run: str | None) -> dict[str, Any]:
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
            {"student": c.attempt.student, "column": c.column, "why": c.why} for c in plan.undecided
        ],
    }


def _report_json(report: GradeReport) -> dict[str, Any]:
    return {
        "item_version": report.item_version,
        "outcome": str(report.outcome),
        "score": report.score,
        "max_score": report.max_score,
    }


def tell_history(changes: Sequence[StoredRegrade]) -> None:
    """Print what earlier regrades changed, oldest first."""
    from engine.commands.render import show_table

    if not changes:
        click.echo("nothing was regraded yet")
        return
    rows = [
        [
            f"{change.at:%Y-%m-%d %H:%M}",
            change.run,
            change.by,
            change.student,
            change.new.item,
            f"{change.old.item_version[:_SHORT]} → {change.new.item_version[:_SHORT]}",
            f"{_mark(change.old)} → {_mark(change.new)}",
            change.cause,
        ]
        for change in changes
    ]
    show_table(["when (UTC)", "run", "by", "student", "item", "version", "mark", "cause"], rows)


def history_json(changes: Sequence[StoredRegrade]) -> list[dict[str, Any]]:
    """Return what ``--history --json`` prints."""
    return [
        {
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
        for change in changes
    ]
