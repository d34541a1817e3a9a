"""``grade feedback``: write feedback pages from the store, pack them for upload, and verify receipts."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from engine.commands.context import CommandContext, find_context
from engine.commands.journal import log
from engine.commands.options import CommandGroup, RegistryChoice, course_option, json_option, store_option
from engine.commands.terminal import number, print_json, progress_bar, show_table
from engine.errors import UsageError
from engine.text.files import read_bytes
from engine.text.words import clean_line, count_noun

if TYPE_CHECKING:
    from engine.pages.class_pages import WrittenPages
    from engine.pages.feedback import PageReceipt
    from engine.store import Attempt, Store


@click.group("feedback", cls=CommandGroup, invoke_without_command=True)
@click.option("--out", type=click.Path(path_type=Path), default=None, help="Folder for the pages.")
@click.option(
    "--student", "students", multiple=True, help="Only this student's page (several times: theirs)."
)
@click.option(
    "--solutions", is_flag=True, help="Show worked solutions and keys, whatever a quiz's rules say."
)
@click.option(
    "--zip",
    "layout",
    type=RegistryChoice("engine.pages.zip", "LAYOUTS"),
    default=None,
    help="Pack the pages to be uploaded there.",
)
@click.option(
    "--assignment",
    default=None,
    help="For --zip: take the names from the hand-ins of this quiz or code item (default: the newest).",
)
@json_option
@course_option
@store_option
@click.pass_context
def command(
    context: click.Context,
    out: Path | None,
    students: tuple[str, ...],
    solutions: bool,
    layout: str | None,
    assignment: str | None,
    as_json: bool,
    course_path: Path | None,
) -> int:
    """Write every student's feedback page from the store; nothing is graded.

    Quizzes show as much as their rules and the course's allow now. With --zip the pages are packed as the
    learning system takes them back: in Moodle under “Upload multiple feedback files in a zip”, in Canvas
    under “Upload Submissions”. plain makes one folder per student id.

    Exit code 0: done; 1: some pages can't be packed (listed); 2: bad usage or input.

    \b
    Examples:
      grade feedback --out results --course attention-2026
      grade feedback --out results --course attention-2026 --zip moodle
      grade feedback verify results/students/ada.html softmax.py --course attention-2026
    """
    # `grade feedback verify` comes through here as well.
    if context.invoked_subcommand is not None:
        return 0
    if out is None:
        raise UsageError("say where to write the pages", expected="--out FOLDER")
    if assignment is not None and layout is None:
        raise UsageError("--assignment is for --zip", next_step="add --zip, or leave --assignment out")
    written = _write_pages(
        _context_with_store(course_path),
        out,
        students=students,
        solutions=solutions,
        layout=layout,
        assignment=assignment,
    )
    if as_json:
        print_json(written.as_json())
    else:
        _show_written(written)
    return 1 if written.left_out else 0


def _context_with_store(course_path: Path | None) -> CommandContext:
    context = find_context(course_path)
    # This person's practice store holds one person's attempts: no class to write pages for.
    if context.course is None and context.store is None:
        raise UsageError(
            "there is no course here", next_step="name one with --course FOLDER, or a store with --store FILE"
        )
    return context


def _write_pages(
    context: CommandContext,
    out: Path,
    *,
    students: Sequence[str],
    solutions: bool,
    layout: str | None,
    assignment: str | None,
) -> WrittenPages:
    from engine.pages.class_pages import check_assignment, write_class_pages
    from engine.pages.render import report_errors

    if context.course:
        context.course.require_rules()  # they say what may be shown
    with context.open_marks() as store, report_errors(out):
        known = _known_students(store, context)
        _check_students(students, known)
        if assignment is not None:
            check_assignment(assignment, {*store.quiz_names(), *context.bank.code_ids()})
        only = students[0] if len(students) == 1 else None
        title = f"Feedback pages for {layout}" if layout else "Feedback pages"
        log(context, store, "export.pages", title, student=only, solutions=solutions or None)
        with progress_bar("writing pages", len(students or known)) as advance:
            return write_class_pages(
                out,
                context.results(store, only=students or None),
                title=context.title,
                solutions=solutions,
                layout=layout,
                assignment=assignment,
                progress=advance,
            )


def _known_students(store: Store, context: CommandContext) -> set[str]:
    # Whoever handed in nothing but a file that can't be read has a page too: it says so.
    open_problems = context.open_problems()
    problems = open_problems.still_open(store) if open_problems else ()
    known = set(store.students(context.mode)) | set(context.roster.by_id if context.roster else ())
    return known | {problem.student for problem in problems if problem.student}


def _check_students(students: Sequence[str], known: Collection[str]) -> None:
    for student in students:
        if student not in known:
            raise UsageError(
                "no student with this id is in the roster or in the store",
                got=repr(student[:100]),
                next_step="use the id of the first column of the gradebook",
            )


_MOST_NAMED = 5  # of those who aren't packed for the same reason: often it is the whole class


def _show_written(written: WrittenPages) -> None:
    click.echo(f"{count_noun(len(written.pages), 'page')}: {written.folder}")
    if written.archive is not None:
        click.echo(f"{count_noun(written.members, 'page')}, {_size_text(written.size)}: {written.archive}")
    elif written.left_out:
        click.echo("no archive was written: no page can be packed")
    # By reason: without a known name nobody's page is packed, which takes one line and not three hundred.
    by_reason: dict[str, list[str]] = {}
    for page in written.left_out:
        by_reason.setdefault(page.reason, []).append(clean_line(page.student))
    for reason, students in by_reason.items():
        if len(students) <= _MOST_NAMED:
            for student in students:
                click.echo(f"not packed: {student}: {reason}")
        else:
            more = len(students) - _MOST_NAMED
            click.echo(f"not packed: {', '.join(students[:_MOST_NAMED])} and {more} more: {reason}")
    if written.archive is None and written.left_out:
        click.echo("  next: grade the download of the learning system as it is, or take --zip plain")


def _size_text(size: int) -> str:
    return f"{size / 2**20:.1f} MiB" if size >= 2**20 else f"{max(size / 2**10, 1):.0f} KiB"


# Verifying: is this the file that a page is about, and does the store know it?

# A page with every answer of a long course takes a few MiB; anybody may name any file here.
_MAX_PAGE_BYTES = 32 * 2**20


@dataclass(frozen=True)
class _Verified:
    """A receipt, the file that it is about if one was given, and what the store has.

    `looked_up` says whether there was a store to look in.
    """

    receipt: PageReceipt
    file: str | None
    attempt: Attempt | None
    looked_up: bool

    @property
    def fails(self) -> bool:
        return self.file is not None and self.looked_up and self.attempt is None

    def as_json(self) -> dict[str, Any]:
        return {
            "student": self.receipt.student,
            "item": self.receipt.item,
            "sha256": self.receipt.sha256,
            "file": self.file,
            "in_store": self.attempt is not None if self.looked_up else None,
            "score": self.attempt.report.score if self.attempt else None,
        }

    def store_text(self) -> str:
        if not self.looked_up:
            return "not asked: there is no course here"
        if self.attempt is None:
            return "not in the store"
        report = self.attempt.report
        score = (
            f"{number(report.score)} of {number(report.max_score)}" if report.score is not None else "no mark"
        )
        changed = "" if report.item_version == self.receipt.version else "; marked again since"
        return f"graded, {score}{changed}"


@command.command("verify")
@click.argument("page", type=click.Path(path_type=Path))
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path))
@json_option
@course_option
@store_option
def verify(page: Path, files: tuple[Path, ...], as_json: bool, course_path: Path | None) -> int:
    """Check that FILE is what was graded on PAGE, by its SHA-256, and that the store has that result.

    FILE is a .py or .ipynb file (with the files that it imports beside it), or a filled-in quiz. A page
    alone proves nothing, for anybody can write one: only the course's store does.

    Exit code 0: every FILE is what the page is about, and the store has it; 1: not so; 2: bad usage or input.

    \b
    Example:
      grade feedback verify results/students/ada.html softmax.py --course attention-2026
    """
    from engine.pages.feedback import read_receipts, unmatched_files

    context = find_context(course_path)
    receipts = read_receipts(read_bytes(page, _MAX_PAGE_BYTES, UsageError).decode("utf-8", "replace"))
    if not receipts:
        raise UsageError(
            "this page holds no receipt", where=str(page), expected="a feedback page with at least one result"
        )
    hashes = {str(path): _hashes(context, path) for path in files}
    verified = _verified(context, receipts, hashes)
    others = unmatched_files(receipts, hashes)
    if as_json:
        unmatched = [{"file": name, "item": item} for name, item in others]
        print_json({"receipts": [entry.as_json() for entry in verified], "others": unmatched})
    else:
        rows = [
            [
                entry.receipt.student,
                entry.receipt.item,
                entry.file or "no file given for it",
                entry.store_text(),
            ]
            for entry in verified
        ]
        show_table(["student", "item", "the same file", "store"], rows)
        for name, item in others:
            fault = "not what this page is about" if item is None else f"another answer to {item} was graded"
            click.echo(f"{clean_line(name)}: {fault}")
    # A receipt without a file isn't asked about, so it fails nothing.
    return 1 if others or any(entry.fails for entry in verified) else 0


def _hashes(context: CommandContext, path: Path) -> Mapping[str | None, str]:
    """Return the hashes of a file by item: of code, which may be for any item, under None."""
    from engine.intake import read_code_file

    if path.suffix.lower() not in {".yaml", ".yml"}:
        return {None: read_code_file(path).sha256}
    from engine.quiz import as_answered
    from engine.store import quiz_responses, response_sha256

    filled, home, quiz = context.stored_quiz(path)
    with home.open_store() as store:
        quiz = as_answered(store, quiz, filled.retries)
    return {
        question.variant.item: response_sha256(question.variant.id, response, quiz.id)
        for question, response in zip(quiz.questions, quiz_responses(quiz, filled.answers), strict=True)
    }


def _verified(
    context: CommandContext, receipts: Sequence[PageReceipt], hashes: Mapping[str, Mapping[str | None, str]]
) -> list[_Verified]:
    # By hash alone: what the files are called now proves nothing.
    files = {sha256: name for name, by_item in hashes.items() for sha256 in by_item.values()}
    if context.course is None and context.store is None:
        return [_Verified(receipt, files.get(receipt.sha256), None, False) for receipt in receipts]
    verified = []
    with context.open_store() as store:
        for receipt in receipts:
            attempts = store.attempts(student=receipt.student, item=receipt.item)
            attempt = next((a for a in attempts if a.submission == receipt.sha256), None)
            verified.append(_Verified(receipt, files.get(receipt.sha256), attempt, True))
    return verified
