"""Reports, items and tables in the terminal; plain text when piped."""

from __future__ import annotations

import errno
import sys
import textwrap
from collections.abc import Iterable, Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text as RichText

from engine.model import Check, GradeReport, Mode, Outcome, Part, RenderedText, Variant, Verdict
from engine.text.escape import clean, clean_line
from engine.text.words import count_noun, plain_points, points_text

__all__ = [
    "check_table",
    "console",
    "explanation",
    "printed_text",
    "report_head",
    "show_part",
    "show_report",
    "show_table",
    "show_variant",
]

PIPED_WIDTH = 1000

_OUTCOME_STYLE = {
    Outcome.RIGHT: "bold green",
    Outcome.PARTIAL: "bold yellow",
    Outcome.WRONG: "bold red",
    Outcome.FORMAT_ERROR: "bold magenta",
    Outcome.UNGRADED: "bold magenta",
}
_VERDICT_STYLE = {Verdict.PASSED: "green", Verdict.SKIPPED: "dim", Verdict.ENGINE_ERROR: "magenta"}
_MARK = {Verdict.PASSED: "✓", Verdict.FAILED: "✗", Verdict.SKIPPED: "–"}


class _Console(Console):
    """A console that leaves it to the command line to deal with readers that have gone away."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError(errno.EPIPE, "nobody reads the output")


def console() -> Console:
    """Return a console on standard output: colour on a terminal only, no markup ever."""
    width = None if sys.stdout.isatty() else PIPED_WIDTH
    return _Console(width=width, markup=False, highlight=False, emoji=False)


def show_table(columns: Sequence[str], rows: Iterable[Sequence[str | RichText]], title: str = "") -> None:
    """Print a table; cells are plain text, cleaned here.

    Words are never broken, so that an id can be copied: a table that is too wide for that is printed row by
    row, each cell behind the name of its column.
    """
    cells = [[c if isinstance(c, RichText) else RichText(clean(c)) for c in row] for row in rows]
    out = console()
    least = [
        max(
            [cell_len(word) for text in (name, *(row[at].plain for row in cells)) for word in text.split()]
            or [0]
        )
        for at, name in enumerate(columns)
    ]
    if out.is_terminal and sum(least) + 2 * (len(least) - 1) > out.width:
        _print_rows(out, columns, cells, title)
        return
    table = Table(title=title or None, box=None, pad_edge=False, title_justify="left", header_style="bold")
    widest = [
        max(cell_len(line) for text in (name, *(row[at].plain for row in cells)) for line in text.split("\n"))
        for at, name in enumerate(columns)
    ]
    room = out.width - 2 * (len(least) - 1)
    for name, width in zip(columns, _widths(least, widest, room), strict=True):
        table.add_column(name, overflow="fold", width=width)
    for row in cells:
        table.add_row(*row)
    _print_table(out, table)


def _widths(least: Sequence[int], widest: Sequence[int], room: int) -> list[int]:
    """Return how wide columns are: as wide as their texts where there is room, never narrower than a word.

    rich isn't left to shrink them: it wraps the text of a column with a `min_width` at the width before this
    applies, and cuts off what stands beyond.
    """
    widths = list(least)
    for _ in range(room - sum(least)):
        growing = [at for at, width in enumerate(widths) if width < widest[at]]
        if not growing:
            break
        widths[min(growing, key=widths.__getitem__)] += 1
    return widths


def _print_rows(
    out: Console, columns: Sequence[str], cells: Sequence[Sequence[RichText]], title: str
) -> None:
    """Print a table one row below the other: the first cell, and below it the others with their names."""
    if title:
        out.print(RichText(title, style="italic"))
    for row in cells:
        out.print(row[0], soft_wrap=True, style="bold")
        for name, cell in zip(columns[1:], row[1:], strict=True):
            if cell.plain.strip():
                out.print(RichText(f"  {name}: " if name else "  ").append_text(cell))


def _print_table(out: Console, table: Table) -> None:
    if out.is_terminal:
        out.print(table)
        return
    # rich fills every cell with blanks; a script's lines shouldn't end in them.
    with out.capture() as capture:
        out.print(table)
    for line in capture.get().splitlines():
        out.print(RichText(line.rstrip()))


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
    if with_hints:
        _show_prose(out, "Hint", variant.hints)


def show_part(out: Console, part: Part, *, alone: bool) -> None:
    """Print one answer field: its prompt and options."""
    if part.prompt is not None or not alone:
        out.print()
        head = "" if alone else f"[{part.id}] ({points_text(part.points)}) "
        out.print(RichText(head + (part.prompt.plain if part.prompt else "")))
    _show_options(out, part)


def _show_options(out: Console, part: Part) -> None:
    """Print what can be chosen: prompts of a matching, then options with their letters."""
    if part.prompts:
        out.print()
        for prompt in part.prompts:
            out.print(RichText(f"  {prompt.id}. {prompt.text.plain}"))
    if part.options:
        out.print()
        for option in part.options:
            out.print(RichText(f"  ({option.id}) {option.text.plain}"))


def _show_prose(out: Console, head: str, texts: Sequence[RenderedText]) -> None:
    for index, text in enumerate(texts, start=1):
        out.print()
        out.print(RichText(f"{head} {index}: {text.plain}"))


def show_report(report: GradeReport, *, every_check: bool = False) -> None:
    """Print one graded attempt: score, checks, diagnosis, counterexample, notes.

    Checks of code that passed or were skipped are folded into a line each unless `every_check`.
    """
    out = console()
    out.print(report_head(report))
    for part in _folded(report) if _is_code(report) and not every_check else [check_table(report.checks)]:
        if isinstance(part, Table):
            _print_table(out, part)
        else:
            out.print(part)
    for line in explanation(report):
        out.print(line)
    if report.tier:
        out.print(RichText(_circumstances(report), style="dim"))


def _is_code(report: GradeReport) -> bool:
    """Tell whether these are the checks of a program: ``loads`` is always the first of them."""
    return bool(report.checks) and report.checks[0].id == "loads"


def _folded(report: GradeReport) -> list[RichText | Table]:
    """Return the checks that say something, and below them how many passed or were skipped."""
    passed = [check for check in report.checks if check.verdict is Verdict.PASSED]
    skipped = [check for check in report.checks if check.verdict is Verdict.SKIPPED]
    others = [check for check in report.checks if check not in passed and check not in skipped]
    told: list[RichText | Table] = [check_table(others)] if others else []
    if passed:
        earned = sum(check.points for check in passed)
        worth = f", {points_text(earned)}" if earned else ""
        told.append(
            RichText(
                f"✓ {len(passed)} of {count_noun(len(report.checks), 'check')} passed{worth}", style="green"
            )
        )
    if skipped:
        they = "it builds" if len(skipped) == 1 else "they build"
        told.append(
            RichText(
                f"– {len(skipped)} skipped, because {they} on a check that didn't pass: "
                + ", ".join(check.id for check in skipped),
                style="dim",
            )
        )
    return told


def _circumstances(report: GradeReport) -> str:
    """Return in words where the code ran, and whether it counts."""
    tier = str(report.tier)
    where = f"without a sandbox (tier {tier})" if tier.startswith("T3") else f"in the sandbox (tier {tier})"
    if report.mode is Mode.PRACTICE:
        return f"Practice: this counts for nothing. Your file ran {where}."
    return f"For marks. The file ran {where}, Softmark {report.engine_version}."


def explanation(report: GradeReport) -> list[RichText]:
    """Return what explains a report: known mistakes by name, counterexample, notes."""
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
    from engine.practice.session import printed_lines

    lines = printed_lines(printed)
    if not lines:
        return []
    return [RichText("Your file printed:", style="bold"), *(RichText(f"    {line}") for line in lines)]


def report_head(report: GradeReport) -> RichText:
    """Return the first line of a report: item, outcome, score."""
    score = (
        "no mark"
        if report.score is None
        else f"{plain_points(report.score)} of {points_text(report.max_score)}"
    )
    who = f" · {clean_line(report.student)}" if report.student else ""
    head = RichText(f"{report.item}{who}: ")
    head.append(report.outcome.word, style=_OUTCOME_STYLE[report.outcome])
    head.append(f" — {score}")
    return head


def check_table(checks: Iterable[Check]) -> Table:
    """Return a table of checks: verdict, id, points, sentence."""
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    for _ in range(4):
        table.add_column(overflow="fold")
    for check in checks:
        style = _VERDICT_STYLE.get(check.verdict, "red")
        mark = _MARK.get(check.verdict, "!")
        points = f"{plain_points(check.points)}/{plain_points(check.max_points)}" if check.max_points else ""
        table.add_row(
            RichText(f"{mark} {check.verdict}".replace("_", " "), style=style),
            RichText(check.id),
            RichText(points),
            RichText(clean(check.message or check.title)),
        )
    return table
