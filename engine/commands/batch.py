"""``grade batch``: grade what a class handed in."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from engine.commands.options import (
    collected,
    course_option,
    device_option,
    json_option,
    layout_option,
    refuses_unlisted,
    store_option,
    tell_problems,
)
from engine.errors import UsageError
from engine.text.words import agree, count_noun

if TYPE_CHECKING:
    from engine.commands.context import CommandContext
    from engine.course import Roster
    from engine.hand_ins import IntakeProblem, IntakeResult
    from engine.marks.late_work import Untimed
    from engine.marks.results import ClassTable, StudentResults, StudentRow, TableCell
    from engine.pages import ReportFiles
    from engine.runner import SandboxOptions
    from engine.runs import BatchResult
    from engine.store import Store

__all__ = ["command"]

_DEVICE_WORKERS = 2  # each takes half a gigabyte of the GPU, and the next one waits beside it


@click.command("batch")
@click.argument("source", metavar="DIR|ARCHIVE|TABLE", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Folder for pages and tables.")
@click.option("--item", default=None, help="All code is for this item; files may be called after students.")
@click.option("--quiz", default=None, help="Tables of answers (CSV, Excel, YAML) are for this quiz.")
@layout_option
@click.option(
    "--workers", type=click.IntRange(1, 256), default=None, help="Sandbox slots (default: all cores)."
)
@click.option("--tier", type=click.Choice(["T1", "T2", "T3"]), default=None, help="Demand this sandbox tier.")
@click.option("--unsafe-local", is_flag=True, help="Allow marks at T3 and on a GPU: for trusted code only.")
@device_option
@click.option("--solutions", is_flag=True, help="Show worked solutions on the students' pages.")
@json_option
@course_option
@store_option
def command(
    source: Path,
    out: Path,
    item: str | None,
    quiz: str | None,
    layout: str,
    workers: int | None,
    tier: str | None,
    unsafe_local: bool,
    device: str,
    solutions: bool,
    as_json: bool,
    course_path: Path | None,
) -> int:
    """Grade what a class handed in: feedback pages, gradebook, summary.

    DIR or ARCHIVE is a download of a learning system, or holds one folder or file per student (`grade intake`
    shows what is in it). Tables with the answers of the whole class (CSV, Excel, YAML, exports of forms) may
    lie beside them, or a TABLE is all there is.

    Every result is stored as it arrives. Called again, only what is missing or ungraded is graded.

    Exit code 0: everything is graded; 1: some files can't be graded as they are (listed);
    3: something is ungraded for a cause of the machine, or set aside because it kills the grader;
    130: stopped.

    \b
    Examples:
      grade batch handed-in.zip --course attention-2026 --out results
      grade batch answers.csv --quiz week-1 --course attention-2026 --out results
    """
    from engine.commands.context import find_context
    from engine.runner import SandboxOptions

    context = find_context(course_path)
    _refuse_course_folder(context, source)
    options = SandboxOptions(tier, unsafe_local, device)
    context.check_tier(options)
    for name in context.missing_packages():
        click.echo(
            f"warning: the package {name} of course.yaml isn't installed; code that needs it isn't graded",
            err=True,
        )
    result, earlier, late, changed, files = _grade(
        context,
        source,
        out,
        item=item,
        quiz=quiz,
        layout=layout,
        workers=workers if device == "cpu" else workers or _DEVICE_WORKERS,
        sandbox=context.offered_sandbox(options),
        solutions=solutions,
    )
    if as_json:
        click.echo(json.dumps(_as_json(result, earlier, late, changed, files), ensure_ascii=False, indent=2))
    else:
        _tell(result, earlier, [*late.sentences(), *_regrade_notes(changed)], files)
    return result.exit_code


def _refuse_course_folder(context: CommandContext, source: Path) -> None:
    """Refuse a course where hand-ins are due: its folders aren't students, nor its quizzes answers."""
    from engine.course import Course

    if Course.is_folder(source):
        raise UsageError(
            "this is a course folder, and no folder of hand-ins",
            where=str(source),
            next_step="name what was handed in, and the course with --course"
            if context.course is None
            else "name what was handed in",
        )


def _open_store(context: CommandContext, out: Path) -> Store:
    from engine.store import open_store

    own = context.course or context.store
    return context.open_store() if own else open_store(out / "practice.db")


def _grade(
    context: CommandContext,
    source: Path,
    out: Path,
    *,
    item: str | None,
    quiz: str | None,
    layout: str,
    workers: int | None,
    sandbox: SandboxOptions,
    solutions: bool,
) -> tuple[BatchResult, tuple[IntakeProblem, ...], Untimed, Counter[str], ReportFiles]:
    from engine.commands.terminal import progress_bar
    from engine.course.policies import Policies
    from engine.marks.late_work import untimed
    from engine.model import Mode
    from engine.pages import write_reports
    from engine.quiz import release as clock
    from engine.runs import CodeExercises, grade_batch
    from engine.text.files import work_folder

    bank, course = context.bank, context.course
    roster = course.roster(tolerant=True) if course else None
    with ExitStack() as stack:
        workdir = stack.enter_context(work_folder())
        intake = collected(context, source, workdir, roster=roster, item=item, layout=layout)
        _make_folder(out)
        store = stack.enter_context(_open_store(context, out))
        tables = [table.name for table in intake.tables]
        intake = _with_answers(context, intake, store, roster, quiz)
        code = CodeExercises(bank, secret=context.secret(), mode=context.mode)
        result = grade_batch(
            intake,
            store=store,
            code=code,
            sandbox=sandbox,
            workers=workers,
            mode=context.mode,
            progress=lambda total: progress_bar("grading", total),
            notes=(context.private_folder() if course else out) / "being-graded.jsonl",
        )
        earlier = _still_open(context, out, store, intake, result, roster, tables)
        problems = (*result.problems, *earlier)
        late = untimed(
            intake,
            store,
            course.policies if course else Policies(),
            ungraded={(problem.student, problem.where) for problem in result.problems if not problem.partly},
            now=clock.now(),
        )
        changed = Counter[str]()
        results = context.results(store, roster=roster, intake=intake, problems=problems)
        students = _counting_changed(context, results, changed)
        files = write_reports(
            out,
            students,
            title=course.title if course else "Practice",
            problems=problems,
            ungraded_files=[(u.student, u.name, u.reason) for u in result.ungraded],
            ignored=intake.ignored,
            notes=lambda: [
                f"{message}. Next: {step}." for message, step in (*late.sentences(), *_regrade_notes(changed))
            ],
            sentence_of=context.sentence_of,
            solutions=solutions,
            practice=context.mode is Mode.PRACTICE,
        )
    return result, earlier, late, changed, files


def _still_open(
    context: CommandContext,
    out: Path,
    store: Store,
    intake: IntakeResult,
    result: BatchResult,
    roster: Roster | None,
    tables: Sequence[str],
) -> tuple[IntakeProblem, ...]:
    """Keep what this batch couldn't grade; return what earlier ones couldn't, and nobody has mended since."""
    from engine.text.escape import clean_line

    kept = context.open_problems(out)
    assert kept is not None
    # Faults of the course's own files are found anew by each batch.
    own = {*(context.course.rule_problems() if context.course else ())}
    own |= {*(roster.problems() if roster else ())}
    try:
        kept.update(
            intake,
            [problem for problem in result.problems if problem not in own],
            tables=[clean_line(name) for name in tables],
            ungraded=[(one.student, one.name) for one in result.ungraded],
            is_whole=not result.interrupted,
        )
    except OSError as error:
        click.echo(
            "warning: what wasn't graded can't be kept for the next batch "
            f"({error.strerror or error}); note it, or call this again",
            err=True,
        )
    return tuple(problem for problem in kept.still_open(store) if problem not in result.problems)


def _counting_changed(
    context: CommandContext, students: Iterator[StudentResults], changed: Counter[str]
) -> Iterator[StudentResults]:
    """Pass on the results, and count by item those that were marked before the item was changed."""
    known: dict[tuple[str, str], bool] = {}
    for results in students:
        for one in results.items if context.course else ():
            if one.report.score is not None:
                at = (one.report.item, one.report.item_version)
                if at not in known:
                    known[at] = context.has_changed(*at)
                changed[one.report.item] += known[at]
        yield results
    for item in [item for item, count in changed.items() if not count]:
        del changed[item]


_MOST_NAMED = 5  # of items that changed: an update of Softmark can change many


def _regrade_notes(changed: Counter[str]) -> list[tuple[str, str]]:
    """Return what to say of results that a regrade would mark with the items as they are now."""
    if not changed:
        return []
    named = sorted(changed) if len(changed) <= _MOST_NAMED else []
    what = ", ".join(named) or count_noun(len(changed), "item")
    count = sum(changed.values())
    stand = "it stands as it was marked" if count == 1 else "they stand as they were marked"
    message = f"{what} {agree(len(changed), 'have')} changed since {count_noun(count, 'result')} "
    message += f"{agree(count, 'were')} marked; {stand}"
    return [
        (message, f"{' '.join(['grade regrade', *named, '--dry-run'])} shows what marking again would change")
    ]


def _with_answers(
    context: CommandContext, intake: IntakeResult, store: Store, roster: Roster | None, quiz: str | None
) -> IntakeResult:
    """Return the collection with the rows of its tables as hand-ins."""
    from engine.intake.answer_tables import take_answers

    if not intake.tables and quiz is None:
        return intake
    return take_answers(
        intake,
        store,
        roster=roster,
        quiz=quiz,
        zone=context.course.settings.policies.zone if context.course else UTC,
        refuse_unlisted=refuses_unlisted(context),
    )


def _make_folder(out: Path) -> None:
    """Make the folder for results; a :class:`UsageError` says why it can't be made."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            "the folder for the results can't be made",
            where=str(out),
            got="a file of this name" if out.is_file() else error.strerror or str(error),
            next_step="choose a folder that you may write to: --out FOLDER",
        ) from error


def _as_json(
    result: BatchResult,
    earlier: Sequence[IntakeProblem],
    late: Untimed,
    changed: Counter[str],
    files: ReportFiles,
) -> dict[str, Any]:
    return {
        "graded": result.graded,
        "kept": result.graded_before,
        "refused": result.rejected,
        "left": result.remaining,
        "interrupted": result.interrupted,
        "seconds": round(result.seconds, 3),
        "ungraded": [
            {
                "student": u.student,
                "file": u.name,
                "item": u.item,
                "reason": u.reason,
                "again": u.again,
                "set_aside": u.set_aside,
            }
            for u in result.ungraded
        ],
        "problems": [problem.as_json() for problem in result.problems],
        "still_open": [problem.as_json() for problem in earlier],
        "without_time": dict(late.without_time),
        "only_marked_late": dict(late.marked_late),
        "changed_items": dict(changed),
        "index": str(files.index),
        "gradebook": str(files.gradebook),
    }


def _total(row: StudentRow, total: float, table: ClassTable) -> str:
    """Return a total, and what it is out of where that isn't the full points of the whole table."""
    from engine.text.words import plain_points

    most = row.maximum_so_far(table.columns)
    return (
        str(plain_points(total))
        if most == table.maximum
        else f"{plain_points(total)} of {plain_points(most)}"
    )


def _tell(
    result: BatchResult,
    earlier: Sequence[IntakeProblem],
    notes: Sequence[tuple[str, str]],
    files: ReportFiles,
) -> None:
    from engine.commands.render import show_table
    from engine.text.escape import clean_line
    from engine.text.words import plain_points

    table = files.table
    rows = []
    for row in table.rows:
        cells = [_cell(row.cells.get(column.id)) for column in table.columns]
        total = row.total()
        rows.append(
            [
                row.student,
                *cells,
                "ungraded" if row.is_waiting else "" if total is None else _total(row, total, table),
            ]
        )
    maximum = [str(plain_points(column.max_score)) for column in table.columns]
    show_table(
        ["student", *(c.id for c in table.columns), "total"],
        [["of", *maximum, str(plain_points(table.maximum))], *rows],
    )
    click.echo()
    not_graded = result.rejected + len(result.ungraded)
    more = f", {not_graded} not graded" if not_graded else ""
    click.echo(
        f"{count_noun(result.graded, 'file')} graded, {result.graded_before} kept from before{more}, "
        f"in {result.seconds:.1f} s"
    )
    for message, step in notes:
        click.echo(f"note: {message}\n  next: {step}")
    for row in table.rows:
        if not row.in_roster:
            click.echo(f"not in the roster, but in all tables: {clean_line(row.student)}")
    tell_problems(result.problems)
    if earlier:
        click.echo(
            f"still open from earlier batches: {count_noun(len(earlier), 'problem')}, listed in the summary"
        )
    for waiting in result.ungraded:
        what = "not tried again" if waiting.set_aside else "tried again on the next run"
        click.echo(f"ungraded ({what}): {waiting.student} {waiting.name}: {waiting.reason}")
    if result.interrupted:
        click.echo(f"stopped with {count_noun(result.remaining, 'file')} left; call it again to go on")
    click.echo(f"summary:   {files.index}")
    click.echo(f"gradebook: {files.gradebook}")
    click.echo(f"feedback:  {files.index.parent / 'students'}")


def _cell(cell: TableCell | None) -> str:
    from engine.text.words import plain_points

    if cell is None:
        return ""
    if cell.counted is not None:
        # In brackets: among the lowest, not in the total.
        return f"({plain_points(cell.counted)})" if cell.is_left_out else str(plain_points(cell.counted))
    if cell.mark is not None and cell.mark.excused:
        return "excused"
    return cell.outcome.word if cell.outcome is not None and cell.score is None else ""
