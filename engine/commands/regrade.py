"""``grade regrade``: mark stored work again after an item was corrected."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from engine.commands.options import course_option, json_option, store_option
from engine.errors import UsageError

if TYPE_CHECKING:
    from engine.commands.workplace import Workplace
    from engine.regrade import RegradePlan, Scope
    from engine.store import Store

__all__ = ["command"]


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
    from engine.commands.account import decider
    from engine.commands.regrade_tables import history_json, plan_json, tell_history, tell_plan
    from engine.commands.workplace import find_workplace
    from engine.regrade import Scope, apply_plan

    workplace = find_workplace(course_path)
    workplace.check_tier(tier, unsafe_local)
    for item in items:
        workplace.bank.path(item)
    with workplace.open_marks() as store:
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
        scope = Scope(items, quiz, student, everything)
        plan = _plan(workplace, store, scope, workers, tier, unsafe_local)
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
    workplace: Workplace,
    store: Store,
    scope: Scope,
    workers: int | None,
    tier: str | None,
    unsafe_local: bool,
) -> RegradePlan:
    import os

    from engine.batch import CodeExercises
    from engine.commands.terminal import progress_bar
    from engine.regrade import plan_regrade

    bank, mode = workplace.bank, workplace.mode
    return plan_regrade(
        store,
        bank,
        code=CodeExercises(bank, secret=workplace.secret(), mode=mode),
        open_runner=lambda slots: workplace.open_runner(tier, unsafe_local, slots),
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
    from engine.commands.terminal import agreed

    return agreed("Write these changes?")
