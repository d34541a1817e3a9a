"""Graded attempts and items in the terminal, in rich text; plain text when piped."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.text import Text as RichText

from engine.commands.terminal import console, number, print_table
from engine.model import Check, GradeReport, Mode, Outcome, Part, Variant, Verdict
from engine.text.words import clean, clean_line, count_noun, points_text

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_OUTCOME_STYLE = {
    Outcome.RIGHT: "bold green",
    Outcome.PARTIAL: "bold yellow",
    Outcome.WRONG: "bold red",
    Outcome.FORMAT_ERROR: "bold magenta",
    Outcome.UNGRADED: "bold magenta",
}
_VERDICT_STYLE = {
    Verdict.PASSED: "green",
    Verdict.SKIPPED: "dim",
    Verdict.ENGINE_ERROR: "magenta",
    Verdict.WAITING: "magenta",
}
# Signs as well as colours: red and green look alike to one man in twelve, and to every pipe.
_VERDICT_SIGN = {Verdict.PASSED: "✓", Verdict.FAILED: "✗", Verdict.SKIPPED: "–", Verdict.WAITING: "…"}

# A function that prints is called a hundred times: its first calls show all that there is to see.
_MOST_LINES = 10
_LONGEST_LINE = 200
# Of output that is looked at at all: a program in a loop prints megabytes.
_MOST_CHARACTERS = 20_000
# A warning of Python's, such as numpy's of an overflow, with the line of code below it: the checks say more.
_WARNING = re.compile(r"^\S[^\n]*:\d+: \w*Warning: [^\n]*\n(?:[ \t]+[^\n]*\n?)?", re.MULTILINE)


def show_variant(variant: Variant, *, with_hints: bool = False) -> None:
    """Print an item as a student sees it: stem, notes, parts and options; never its key."""
    out = console()
    out.print(RichText(clean_line(variant.title), style="bold"))
    out.print(RichText(f"{variant.item} · variant {variant.id} · {points_text(variant.points)}", style="dim"))
    out.print()
    out.print(RichText(variant.stem.plain))
    for note in variant.notes:
        out.print()
        out.print(RichText("Note: " + note.plain, style="yellow"))
    for part in variant.parts:
        show_part(out, part, alone=len(variant.parts) == 1)
    for index, hint in enumerate(variant.hints if with_hints else (), start=1):
        out.print()
        out.print(RichText(f"Hint {index}: {hint.plain}"))


def show_part(out: Console, part: Part, *, alone: bool) -> None:
    """Print one answer field: its prompt, then what can be chosen."""
    if part.prompt is not None or not alone:
        out.print()
        head = "" if alone else f"[{part.id}] ({points_text(part.points)}) "
        out.print(RichText(head + (part.prompt.plain if part.prompt else "")))
    for form, choices in (("  {}. ", part.prompts), ("  ({}) ", part.options)):
        if choices:
            out.print()
        for choice in choices:
            out.print(RichText(form.format(choice.id) + choice.text.plain))


def show_report(report: GradeReport, *, every_check: bool = False) -> None:
    """Print one graded attempt: score, checks, diagnosis, counterexample, notes.

    Checks of code that passed or were skipped are folded into a line each unless `every_check`: what
    failed would be lost among thirty lines.
    """
    out = console()
    out.print(report_head(report))
    # ``loads`` is always the first check of a program.
    is_code = bool(report.checks) and report.checks[0].id == "loads"
    for block in _folded_checks(report) if is_code and not every_check else [check_table(report.checks)]:
        if isinstance(block, RichText):
            out.print(block)
        else:
            print_table(out, block)
    for line in explanation(report):
        out.print(line)
    if report.tier:
        out.print(RichText(_circumstances(report), style="dim"))


def _folded_checks(report: GradeReport) -> list[RichText | Table]:
    """Return the checks that say something, and below them how many passed or were skipped."""
    passed = [check for check in report.checks if check.verdict is Verdict.PASSED]
    skipped = [check for check in report.checks if check.verdict is Verdict.SKIPPED]
    others = [check for check in report.checks if check not in passed and check not in skipped]
    blocks: list[RichText | Table] = [check_table(others)] if others else []
    if passed:
        earned = sum(check.points for check in passed)
        worth = f", {points_text(earned)}" if earned else ""
        line = f"✓ {len(passed)} of {count_noun(len(report.checks), 'check')} passed{worth}"
        blocks.append(RichText(line, style="green"))
    if skipped:
        they = "it builds" if len(skipped) == 1 else "they build"
        line = f"– {len(skipped)} skipped, because {they} on a check that didn't pass: "
        blocks.append(RichText(line + ", ".join(check.id for check in skipped), style="dim"))
    return blocks


def _circumstances(report: GradeReport) -> str:
    tier = str(report.tier)
    where = f"without a sandbox (tier {tier})" if tier.startswith("T3") else f"in the sandbox (tier {tier})"
    if report.mode is Mode.PRACTICE:
        return f"Practice: this doesn't count. Your file ran {where}."
    return f"For marks. The file ran {where}, Softmark {report.engine_version}."


def explanation(report: GradeReport) -> list[RichText]:
    """Return what explains a report: known mistakes by name, counterexample, notes."""
    # From the general to the particular: the mistake, an input that shows it, what else is to be known.
    lines = []
    for diagnosis in report.diagnosis:
        line = RichText(f"→ {diagnosis.misconception}: ", style="bold cyan")
        lines.append(line.append(clean(diagnosis.message), style="not bold default"))
    if report.counterexample is not None:
        lines.append(RichText("Smallest input found that shows it:", style="bold"))
        lines.append(RichText(textwrap.indent(clean(report.counterexample.code), "    ")))
        lines.append(RichText(f"  yours:    {clean(report.counterexample.got)}"))
        if report.counterexample.expected is not None:
            lines.append(RichText(f"  expected: {clean(report.counterexample.expected)}"))
    return lines + [RichText("Note: " + clean(note), style="yellow") for note in report.notes]


def printed_text(printed: str) -> list[RichText]:
    """Return what a file printed while it was graded, as lines below a heading; nothing if it didn't."""
    if not printed:
        return []
    lines = printed_lines(printed)
    head = [RichText("Your file printed:", style="bold")] if lines else []
    return head + [RichText(f"    {line}") for line in lines]


def printed_lines(printed: str) -> list[str]:
    """Return the first lines that a file printed, without blank ones; a last line says if there is more."""
    text = _WARNING.sub("", clean(printed, _MOST_CHARACTERS))
    lines = [line.rstrip() for line in text.split("\n") if line.strip()]
    first = [
        line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]}…" for line in lines[:_MOST_LINES]
    ]
    return first + (["… (more was printed)"] if len(lines) > _MOST_LINES else [])


def report_head(report: GradeReport) -> RichText:
    """Return the first line of a report: item, outcome, score."""
    student = f" · {clean_line(report.student)}" if report.student else ""
    head = RichText(f"{report.item}{student}: ")
    head.append(report.word, style=_OUTCOME_STYLE[report.outcome])
    score = (
        "no mark" if report.score is None else f"{number(report.score)} of {points_text(report.max_score)}"
    )
    return head.append(f" — {score}")


def check_table(checks: Iterable[Check]) -> Table:
    """Return a table of checks: verdict, id, points, sentence."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    for _ in range(4):
        table.add_column(overflow="fold")
    for check in checks:
        sign = _VERDICT_SIGN.get(check.verdict, "!")
        verdict = f"{sign} {check.verdict}".replace("_", " ")
        earned = f"{number(check.points)}/{number(check.max_points)}" if check.max_points else ""
        table.add_row(
            RichText(verdict, style=_VERDICT_STYLE.get(check.verdict, "red")),
            RichText(check.id),
            RichText(earned),
            RichText(clean(check.message or check.title)),
        )
    return table
