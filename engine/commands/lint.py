"""``grade lint``: every item proves itself."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from engine.commands.options import course_option, json_option

if TYPE_CHECKING:
    from engine.lint import LintReport
    from engine.spec.bank import Bank

__all__ = ["command"]


@click.command("lint")
@click.argument("items", metavar="[ITEM|FILE.yaml]...", nargs=-1)
@click.option(
    "--seeds", type=click.IntRange(1, 1_000_000), default=30, show_default=True, help="Variants per item."
)
@json_option
@course_option
def command(items: tuple[str, ...], seeds: int, as_json: bool, course_path: Path | None) -> int:
    """Check items by recomputing keys and distractors and by answering their variants.

    Without ITEM the whole bank is checked.

    Exit code 0: no error; 1: an item is wrong; 2: a problem file can't be read.

    \b
    Examples:
      grade lint
      grade lint l16-ex3-softmax-weights my_item.yaml --seeds 200
    """
    from engine.commands.progress import progress_bar
    from engine.commands.workplace import find_workplace
    from engine.lint import lint_bank

    bank = find_workplace(course_path).bank
    reports: list[LintReport] = []
    names = [name for name in items if not name.endswith((".yaml", ".yml"))]
    files = [Path(name) for name in items if name.endswith((".yaml", ".yml"))]
    wanted = names if items else bank.ids()
    for name in names:
        bank.path(name)
    with progress_bar("checking", len(wanted)) as advance:
        reports += lint_bank(bank, wanted, seeds=seeds, progress=lambda _: advance()) if wanted else []
    reports += [_lint_file(path, bank, seeds) for path in files]
    if as_json:
        click.echo(json.dumps([report.as_json() for report in reports], ensure_ascii=False, indent=2))
    else:
        _tell(reports)
    return _exit_code(reports)


def _lint_file(path: Path, bank: Bank, seeds: int) -> LintReport:
    from engine.lint import lint_item
    from engine.spec import load_spec

    return lint_item(load_spec(path), path, bank, seeds=seeds)


def _exit_code(reports: Sequence[LintReport]) -> int:
    errors = [finding for report in reports for finding in report.errors]
    if any(finding.rule == "spec" for finding in errors):
        return 2
    return 1 if errors else 0


def _tell(reports: Sequence[LintReport]) -> None:
    from engine.foreign import clean

    for report in reports:
        for finding in report.findings:
            click.echo(clean("\n".join(finding.lines()), 50_000))
    errors = sum(len(report.errors) for report in reports)
    warnings = sum(len(report.warnings) for report in reports)
    declared = [report.item for report in reports if report.facts.get("errata")]
    click.echo(f"{len(reports)} items checked: {errors} errors, {warnings} warnings")
    if declared:
        click.echo(f"errata of the sources, recomputed and declared: {', '.join(declared)}")
