"""``grade lint``: every item proves itself."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from engine.commands.context import find_context
from engine.commands.options import complete_items, course_option, json_option
from engine.commands.terminal import print_json, progress_bar
from engine.errors import UsageError
from engine.text.words import clean, count_noun

if TYPE_CHECKING:
    from engine.authoring.lint import LintReport
    from engine.items.bank import Bank


@click.command("lint")
@click.argument("items", metavar="[ITEM|FILE.yaml|FOLDER]...", nargs=-1, shell_complete=complete_items)
@click.option(
    "--seeds", type=click.IntRange(1, 1_000_000), default=30, show_default=True, help="Variants per item."
)
@click.option(
    "--mutants",
    is_flag=True,
    help="Code exercises only: show which check kills which known mistake, and try generated ones.",
)
@click.option(
    "--mutant-seconds",
    "mutant_s",
    type=click.FloatRange(1, 86_400),
    default=120,
    show_default=True,
    help="With --mutants: how long generated mutants of an exercise are tried.",
)
@click.option(
    "--strict",
    is_flag=True,
    help="Check style as well (stems, options, formulas, pictures, hints), and let warnings fail.",
)
@click.option("--own", "course_only", is_flag=True, help="Check the course's own items only.")
@json_option
@course_option
def command(
    items: tuple[str, ...],
    seeds: int,
    mutants: bool,
    mutant_s: float,
    strict: bool,
    course_only: bool,
    as_json: bool,
    course_path: Path | None,
) -> int:
    """Check items by recomputing keys and distractors and by answering their variants.

    Without ITEM the whole bank is checked; of a FOLDER, every problem file below it.

    --mutants also changes one place of the solutions at a time and warns of every program that passes
    all checks; `grade mutants ITEM` lists them.

    Exit code 0: no error; 1: an item is wrong (--strict: or a warning); 2: a problem file can't be read.

    \b
    Examples:
      grade lint
      grade lint l16-ex3-softmax-weights my-item.yaml --seeds 200
      grade lint --mutants softmax
      grade lint --strict my-item.yaml
      grade lint --own --course attention-2026
    """
    from engine.authoring.lint import lint_bank

    context = find_context(course_path)
    bank = context.bank
    if course_only:
        items = (*items, *_course_items(bank, context.require_course().problems))
    # Ids first: an item's folder often has its name, and the id is meant.
    folders = [name for name in items if name not in bank and Path(name).is_dir()]
    names = [name for name in items if name not in folders and not name.endswith((".yaml", ".yml"))]
    files = [Path(name) for name in items if name.endswith((".yaml", ".yml"))]
    for folder in folders:
        files += _files_of(Path(folder))
    for name in names:
        bank.path(name)  # a mistyped id is found before the others are checked for minutes
    chosen = names if items or course_only else _all_items(bank, mutants)
    with ExitStack() as stack:
        more: dict[str, Any] = {"seeds": seeds, "strict": strict}
        if mutants:
            more["mutant_s"] = mutant_s
        if mutants and len(chosen) + len(files) == 1:  # a bar for its mutants says more than one for it
            more["watch"] = lambda total: stack.enter_context(progress_bar("generated mutants", total))
        else:
            advance = stack.enter_context(progress_bar("checking", len(chosen)))
            more["progress"] = lambda _report: advance()
        reports = lint_bank(bank, chosen, **more) if chosen else []
        more.pop("progress", None)
        reports += [_lint_file(path, bank, more) for path in files]
    if as_json:
        print_json([report.as_json() for report in reports])
    else:
        for report in reports if mutants else ():
            if "kill_matrix" in report.facts:
                click.echo("\n".join(matrix_lines(report.item, report.facts)) + "\n")
            if "generated_mutants" in report.facts:
                click.echo("\n".join(generated_lines(report.item, report.facts["generated_mutants"])) + "\n")
        _show(reports)
    return _exit_code(reports, strict)


def _course_items(bank: Bank, problems: Path) -> list[str]:
    items = [item for item in bank.ids() if bank.path(item).is_relative_to(problems)]
    if not items:
        raise UsageError(
            "the course has no items of its own",
            where=str(problems),
            next_step="grade new item ID --type TYPE writes one",
        )
    return items


def _files_of(folder: Path) -> list[Path]:
    from engine.items.bank import item_files

    files = list(item_files(folder))
    if not files:
        raise UsageError("there are no problem files in this folder", where=str(folder), expected="ID.yaml")
    return files


def _all_items(bank: Bank, code_only: bool) -> list[str]:
    # An item that can't be read counts as code: left out, its fault would go unreported.
    if not code_only:
        return bank.ids()
    others = {spec.id for spec in bank.readable()[0] if spec.kind != "code"}
    return [name for name in bank.ids() if name not in others]


def matrix_lines(item: str, facts: Mapping[str, Any]) -> list[str]:
    """Return the kill matrix of a code exercise: a row per mutant, a column per check.

    Columns are numbered, and the numbers explained below: the names of thirty checks don't fit side by side.
    """
    kills: Mapping[str, list[str]] = facts["kill_matrix"]
    columns = ["runs", *facts["checks"]]
    width = max([len(name) for name in kills], default=0)
    lines = [f"{item}: {count_noun(len(kills), 'mutant')}, {count_noun(len(columns), 'check')}"]
    lines.append(" " * width + " " + "".join(f"{number:>3}" for number in range(len(columns))))
    for mutant, killers in kills.items():
        marks = "".join(f"{'x' if name in killers else '.':>3}" for name in columns)
        lines.append(f"{mutant:<{width}} {marks}")
    legend = ", ".join(f"{number} {name}" for number, name in enumerate(columns))
    return [*lines, *textwrap.wrap(f"Checks: {legend}", 78)]


def generated_lines(item: str, generated: Mapping[str, Any]) -> list[str]:
    """Return how many generated mutants are killed, and what those that are declared right become."""
    killed, equal, survivors = generated["killed"], generated["equivalent"], generated["survivors"]
    total = killed + len(equal) + len(survivors)
    share = f", {killed / total:.0%}" if total else ""
    late = f", {generated['not_tried']} not tried" if generated["not_tried"] else ""
    lines = [
        f"{item}: {count_noun(total, 'generated mutant')}: {killed} killed{share}, "
        f"{len(equal)} declared equivalent, {len(survivors)} not{late}"
    ]
    reasons: dict[str, list[str]] = {}
    for entry in equal:
        reasons.setdefault(entry["because"], []).append(entry["becomes"])
    for because, programs in reasons.items():
        lines.append(f"  right, because: {because}")
        lines += [f"    {program}" for program in dict.fromkeys(programs)]
    return lines


def _lint_file(path: Path, bank: Bank, more: dict[str, Any]) -> LintReport:
    from engine.authoring.lint import lint_item
    from engine.items import load_spec

    return lint_item(load_spec(path, registry=bank.registry()), path, bank, **more)


def _exit_code(reports: Sequence[LintReport], strict: bool) -> int:
    errors = [finding for report in reports for finding in report.errors]
    # Unreadable beats wrong: such an item wasn't checked at all.
    if any(finding.rule == "spec" for finding in errors):
        return 2
    failed = errors or (strict and any(report.warnings for report in reports))
    return 1 if failed else 0


def _show(reports: Sequence[LintReport]) -> None:
    for report in reports:
        for finding in report.findings:
            click.echo(clean("\n".join(finding.lines()), 50_000))
    errors = sum(len(report.errors) for report in reports)
    warnings = sum(len(report.warnings) for report in reports)
    declared = [report.item for report in reports if report.facts.get("errata")]
    click.echo(
        f"{count_noun(len(reports), 'item')} checked: "
        f"{count_noun(errors, 'error')}, {count_noun(warnings, 'warning')}"
    )
    if declared:
        click.echo(f"errata of the sources, recomputed and declared: {', '.join(declared)}")
