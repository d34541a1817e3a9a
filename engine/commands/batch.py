"""``grade batch``: grade what a class handed in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from datetime import UTC
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from engine.commands.context import CommandContext, find_context, is_course_folder
from engine.commands.intake import collected, item_option, layout_option, refuses_unlisted, show_problems
from engine.commands.journal import log
from engine.commands.options import (
    cluster_option,
    course_option,
    json_option,
    sandbox_options,
    store_option,
    workers_option,
)
from engine.commands.terminal import number, print_json, progress_bar, show_table
from engine.errors import UsageError
from engine.text.files import work_folder, write_errors
from engine.text.words import agree, clean_line, count_noun, join_words

if TYPE_CHECKING:
    from engine.hand_ins import IntakeProblem, IntakeResult
    from engine.marks.class_table import ClassTable, StudentRow, TableCell
    from engine.marks.open_problems import ChangedItems, Untimed
    from engine.pages import ReportFiles
    from engine.runner import SandboxOptions
    from engine.runs import BatchResult, CodeExercises
    from engine.runs.batch import Progress, UngradedFile
    from engine.store import Store

_DEVICE_WORKERS = 2  # each takes half a gigabyte of the GPU; the second one computes while the first waits
# Files named where many are ungraded for one reason; the summary, its tables and --json have all.
_MOST_NAMED = 3


@dataclass(frozen=True)
class _Batch:
    """What one run did, what earlier ones left open, and the files that show it."""

    result: BatchResult
    earlier: tuple[IntakeProblem, ...]
    late: Untimed
    changed: ChangedItems
    files: ReportFiles

    def as_json(self) -> dict[str, Any]:
        result = self.result
        return {
            "graded": result.graded,
            "kept": result.graded_before,
            "refused": result.rejected,
            "left": result.remaining,
            "interrupted": result.interrupted,
            "to_mark": result.to_mark,
            "seconds": round(result.seconds, 3),
            "ungraded": [
                {
                    "student": file.student,
                    "file": file.name,
                    "item": file.item,
                    "reason": file.reason,
                    "again": file.again,
                    "set_aside": file.set_aside,
                }
                for file in result.ungraded
            ],
            "problems": [problem.as_json() for problem in result.problems],
            "still_open": [problem.as_json() for problem in self.earlier],
            "without_time": dict(self.late.without_time),
            "only_marked_late": dict(self.late.marked_late),
            "changed_items": dict(self.changed.counts),
            "index": str(self.files.index),
            "gradebook": str(self.files.gradebook),
        }


@click.command("batch")
@click.argument("source", metavar="DIR|ARCHIVE|TABLE", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Folder for pages and tables.")
@item_option
@click.option("--quiz", default=None, help="Tables of answers (CSV, Excel, YAML) are for this quiz.")
@layout_option
@workers_option
@sandbox_options()
@cluster_option
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
    sandbox: SandboxOptions,
    cluster: bool,
    solutions: bool,
    as_json: bool,
    course_path: Path | None,
) -> int:
    """Grade what a class handed in: feedback pages, gradebook, summary.

    DIR or ARCHIVE is a download of a learning system, or holds one folder or file per student (`grade intake`
    shows what is in it). Tables with the answers of the whole class (CSV, Excel, YAML, exports of forms) may
    lie beside them, or a TABLE is all there is.

    Every result is stored as it arrives. Run it again, and only what is missing or ungraded is graded.

    Answers in words wait for a person, who marks them with `grade mark answers`.

    Exit code 0: everything is graded; 1: some files can't be graded as they are (listed);
    3: something is ungraded because of the machine, or set aside because it kills the grader;
    130: stopped.

    \b
    Examples:
      grade batch handed-in.zip --course attention-2026 --out results
      grade batch answers.csv --quiz week-1 --course attention-2026 --out results
      grade batch handed-in.zip --course attention-2026 --out results --cluster
    """
    context = find_context(course_path)
    _check_source(context, source)
    # Before anything is unpacked: a class takes minutes to read.
    sandbox.check(context.mode)
    if cluster:
        from engine.commands.worker import check_cluster

        check_cluster(context, workers, sandbox)
    else:
        _warn_missing_packages(context)
    with ExitStack() as stack:
        workdir = stack.enter_context(work_folder())
        intake = collected(context, source, workdir, item=item, layout=layout)
        with write_errors(
            "the folder for the results can't be made",
            out,
            next_step="choose a folder that you may write to: --out FOLDER",
        ):
            out.mkdir(parents=True, exist_ok=True)
        store = stack.enter_context(_open_store(context, out))
        batch = _grade(context, store, intake, source, out, quiz, workers, sandbox, cluster, solutions)
    if as_json:
        print_json(batch.as_json())
    else:
        _show(batch)
    return batch.result.exit_code


def _check_source(context: CommandContext, source: Path) -> None:
    # The folders of a course aren't students, nor are its quizzes answers.
    if is_course_folder(source):
        raise UsageError(
            "this is a course folder, not a folder of hand-ins",
            where=str(source),
            next_step="name what was handed in"
            + (", and the course with --course" if context.course is None else ""),
        )


def _grade_on_cluster(
    context: CommandContext,
    intake: IntakeResult,
    store: Store,
    code: CodeExercises,
    sandbox: SandboxOptions,
    progress: Progress,
) -> BatchResult:
    from engine.cluster.class_on_cluster import grade_on_cluster
    from engine.commands.worker import course_queue, note_silence

    with closing(course_queue(context, sandbox)) as queue:
        return grade_on_cluster(
            intake,
            store=store,
            code=code,
            course_queue=queue,
            mode=context.mode,
            progress=progress,
            warn=note_silence,
        )


def _warn_missing_packages(context: CommandContext) -> None:
    from engine.sandbox.bwrap import missing_packages

    for name in missing_packages(context.course.settings.packages or ()) if context.course else ():
        click.echo(
            f"warning: the package {name} of course.yaml isn't installed; code that needs it isn't graded",
            err=True,
        )


def _open_store(context: CommandContext, out: Path) -> Store:
    from engine.store import open_store

    # Practice with a folder of files keeps its results beside its pages, not among this person's attempts.
    return context.open_store() if context.course or context.store else open_store(out / "practice.db")


def _grade(
    context: CommandContext,
    store: Store,
    intake: IntakeResult,
    source: Path,
    out: Path,
    quiz: str | None,
    workers: int | None,
    sandbox: SandboxOptions,
    cluster: bool,
    solutions: bool,
) -> _Batch:
    from engine.intake.row_hand_ins import take_answers
    from engine.marks.open_problems import ChangedItems, untimed
    from engine.pages import write_reports
    from engine.quiz.rules import now
    from engine.runs import CodeExercises, grade_batch

    bank, course = context.bank, context.course
    tables = [clean_line(table.name) for table in intake.tables]
    if tables or quiz is not None:
        # The rows of tables become hand-ins like files, so that all that follows treats them alike.
        intake = take_answers(
            intake,
            store,
            roster=context.roster,
            quiz=quiz,
            zone=course.settings.policies.zone if course else UTC,
            refuse_unlisted=refuses_unlisted(context),
        )
    code = CodeExercises(bank, secret=context.secret(), mode=context.mode)
    progress = partial(progress_bar, "grading")
    if cluster:
        result = _grade_on_cluster(context, intake, store, code, sandbox, progress)
    else:
        result = grade_batch(
            intake,
            store=store,
            code=code,
            sandbox=context.offered_sandbox(sandbox),
            workers=workers or (None if sandbox.device == "cpu" else _DEVICE_WORKERS),
            mode=context.mode,
            progress=progress,
            # With the course: a batch that is killed and called again may get another --out.
            notes=(context.private_folder() if course else out) / "being-graded.jsonl",
        )
    if result.graded:
        log(context, store, "batch.grade", source.name, files=result.graded)
    earlier = _keep_open(context, out, store, intake, result, tables)
    problems = (*result.problems, *earlier)
    late = untimed(
        intake,
        store,
        context.policies(store),
        ungraded={(problem.student, problem.where) for problem in result.problems if not problem.partly},
        now=now(),
    )
    changed = ChangedItems(bank)
    students = context.results(store, intake=intake, problems=problems)
    files = write_reports(
        out,
        # Practice has no marks that a regrade would change.
        changed.counting(students) if course else students,
        title=context.title,
        problems=problems,
        ungraded_files=[(file.student, file.name, file.reason) for file in result.ungraded],
        ignored=intake.ignored,
        # Asked for when all students have passed: changed items are counted on the way.
        notes=lambda: [f"{note}. Next: {step}." for note, step in (*late.sentences(), *changed.notes())],
        sentence_of=bank.feedback_on,
        solutions=solutions,
        practice=context.is_practice,
    )
    return _Batch(result, earlier, late, changed, files)


def _keep_open(
    context: CommandContext,
    out: Path,
    store: Store,
    intake: IntakeResult,
    result: BatchResult,
    tables: Sequence[str],
) -> tuple[IntakeProblem, ...]:
    """Keep what this batch couldn't grade; return what earlier ones couldn't and is still open."""
    open_problems = context.open_problems(out)
    assert open_problems is not None  # `out` is a folder to keep them in
    # Faults of the course's own files are found again by each batch.
    course_faults = {*(context.course.rule_problems() if context.course else ())}
    course_faults |= {*(context.roster.problems() if context.roster else ())}
    try:
        open_problems.update(
            intake,
            [problem for problem in result.problems if problem not in course_faults],
            tables=tables,
            ungraded=[(file.student, file.name) for file in result.ungraded],
            is_whole=not result.interrupted,
        )
    except OSError as error:
        click.echo(
            "warning: what wasn't graded can't be kept for the next batch "
            f"({error.strerror or error}); note it, or run this again",
            err=True,
        )
    return tuple(problem for problem in open_problems.still_open(store) if problem not in result.problems)


def _show(batch: _Batch) -> None:
    result, files = batch.result, batch.files
    _show_marks(files.table)
    not_graded = result.rejected + len(result.ungraded)
    more = f", {not_graded} not graded" if not_graded else ""
    graded = f"{count_noun(result.graded, 'file')} graded"
    click.echo(f"{graded}, {result.graded_before} kept from before{more}, in {result.seconds:.1f} s")
    for note, step in (*batch.late.sentences(), *batch.changed.notes()):
        click.echo(f"note: {note}\n  next: {step}")
    for row in files.table.rows:
        if not row.in_roster:
            click.echo(f"not in the roster, but in all tables: {clean_line(row.student)}")
    show_problems(result.problems)
    if batch.earlier:
        open_before = count_noun(len(batch.earlier), "problem")
        click.echo(f"still open from earlier batches: {open_before}, listed in the summary")
    _show_ungraded(result.ungraded)
    waiting = sum(
        cell.needs_person and cell.is_waiting for r in files.table.rows for cell in r.cells.values()
    )
    if waiting:
        answers = f"{count_noun(waiting, 'answer')} {agree(waiting, 'wait')} to be marked by a person"
        click.echo(f"note: {answers}\n  next: grade mark answers")
    if result.interrupted:
        click.echo(f"stopped with {count_noun(result.remaining, 'file')} left; run it again to continue")
    # Last, since the end of the output is what stays on the screen.
    click.echo(f"summary:   {files.index}")
    click.echo(f"gradebook: {files.gradebook}")
    click.echo(f"feedback:  {files.index.parent / 'students'}")


def _show_ungraded(ungraded: Iterable[UngradedFile]) -> None:
    """Say each reason once: a fault of an exercise or of all machines would otherwise fill the screen."""
    alike: dict[tuple[str, str], list[str]] = {}
    for file in sorted(ungraded, key=lambda file: (file.student, file.name)):  # they come as they end
        fate = "not tried again" if file.set_aside else "tried again on the next run"
        alike.setdefault((fate, file.reason), []).append(f"{file.student} {file.name}")
    for (fate, reason), names in alike.items():
        which = join_words(names, limit=_MOST_NAMED)
        if len(names) > _MOST_NAMED:
            which = f"{count_noun(len(names), 'file')}, all listed in the summary ({which})"
        click.echo(f"ungraded ({fate}): {which}: {reason}")


def _show_marks(table: ClassTable) -> None:
    columns = table.columns
    # Full points are in the first row: a mark says nothing without them.
    maximum = ["of", *(number(column.max_score) for column in columns), number(table.maximum)]
    rows = [
        [row.student, *(_cell(row.cells.get(column.id)) for column in columns), _total(row, table)]
        for row in table.rows
    ]
    show_table(["student", *(column.id for column in columns), "total"], [maximum, *rows])
    click.echo()


def _total(row: StudentRow, table: ClassTable) -> str:
    """Return a total, and what it is out of where that isn't the full points of the whole table."""
    total = row.total()
    if row.is_waiting or total is None:
        return row.waiting_word
    most = row.maximum_so_far(table.columns)
    return number(total) if most == table.maximum else f"{number(total)} of {number(most)}"


def _cell(cell: TableCell | None) -> str:
    if cell is None:
        return ""
    if cell.counted is not None:
        # In brackets: among the lowest, not in the total.
        return f"({number(cell.counted)})" if cell.is_left_out else number(cell.counted)
    if cell.mark is not None and cell.mark.excused:
        return "excused"
    return cell.word if cell.score is None else ""
