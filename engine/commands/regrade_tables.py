"""How ``grade regrade`` shows what changes, and what changed before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from engine.commands.render import number, show_table
from engine.model import GradeReport
from engine.plurals import agree, counted
from engine.regrade import Change, RegradePlan
from engine.store import Regrade

__all__ = ["history_json", "plan_json", "tell_history", "tell_plan"]

_SHORT = 8  # characters of a version that tell it from others


def tell_plan(plan: RegradePlan) -> None:
    """Print the table of differences, and what stays."""
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
    changes = f"{counted(len(plan.visible), 'mark')} {agree(len(plan.visible), 'change')}"
    click.echo(
        f"{changes}, {same} {agree(same, 'stay')} after marking again, "
        f"{plan.current} {agree(plan.current, 'were')} marked with the item as it is now"
    )
    if plan.spared:
        stay = "stays as it is" if plan.spared == 1 else "stay as they are"
        click.echo(f"{counted(plan.spared, 'mark')} would go down and {stay} (--never-lower)")
    if plan.waiting:
        click.echo(f"{plan.waiting} {agree(plan.waiting, 'are')} ungraded: grade batch tries again")
    if plan.rekeyed:
        out = len(plan.rekeyed)
        click.echo(
            f"{counted(out, 'quiz')} that {agree(out, 'are')} out {agree(out, 'get')} the keys that hold now"
        )
    for case in plan.undecided:
        click.echo(f"needs a person: {case.attempt.student} {case.column}: {case.why}")


def _mark(report: GradeReport) -> str:
    if report.score is None:
        return report.outcome.word
    return f"{number(report.score)} of {number(report.max_score)}"


def _difference(change: Change) -> str:
    old, new = change.old.report.score, change.new.report.score
    if old is None or new is None:
        return ""
    return number(new - old) if new <= old else f"+{number(new - old)}"


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


def tell_history(changes: Sequence[Regrade]) -> None:
    """Print what earlier regrades changed, oldest first."""
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


def history_json(changes: Sequence[Regrade]) -> list[dict[str, Any]]:
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
