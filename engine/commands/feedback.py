"""Writes feedback pages from the store, and the archive of them."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from engine.commands.options import CommandGroup, course_option, json_option, store_option
from engine.errors import UsageError
from engine.text.words import count_noun

if TYPE_CHECKING:
    from engine.commands.context import CommandContext
    from engine.course import Roster
    from engine.pages.feedback import PageReceipt
    from engine.pages.zip import LeftOut, PageArchive
    from engine.store import Attempt, Store

__all__ = ["WrittenPages", "command", "tell", "verify", "write_feedback", "written_as_json"]


@dataclass(frozen=True)
class WrittenPages:
    """What was written: the pages by student, and the archive with who isn't in it."""

    folder: Path
    pages: dict[str, Path]
    archive: Path | None = None
    members: int = 0
    size: int = 0
    left_out: Sequence[LeftOut] = ()


def _stored_place(course_path: Path | None) -> CommandContext:
    """Return the context whose store is asked.

    Raises
    ------
    UsageError
        There is no course here, and no store was named.
    """
    from engine.commands.context import find_context

    context = find_context(course_path)
    if context.course is None and context.store is None:
        raise UsageError(
            "there is no course here", next_step="name one with --course FOLDER, or a store with --store FILE"
        )
    return context


def write_feedback(
    course_path: Path | None,
    out: Path,
    *,
    students: Sequence[str],
    solutions: bool,
    layout: str | None,
    assignment: str | None,
) -> WrittenPages:
    """Write the pages of these students (of everybody by default), and the archive if one is asked for."""
    from engine.commands.terminal import progress_bar
    from engine.pages.feedback import told_faults, write_page
    from engine.pages.zip import PageArchive

    context = _stored_place(course_path)
    course = context.course
    if course:
        course.require_rules()  # they say what may be shown
    roster = course.roster(tolerant=True) if course else None
    pack = PageArchive(layout, assignment) if layout else None
    folder, pages = out / "students", dict[str, Path]()
    with context.open_marks() as store, told_faults(out):
        known = _known(store, roster, context, students)
        if assignment is not None:
            _check_assignment(assignment, {*store.quiz_names(), *context.bank.code_ids()})
        folder.mkdir(parents=True, exist_ok=True)
        with progress_bar("writing pages", len(students or known)) as advance:
            for results in context.results(store, roster=roster, only=students or None):
                title = course.title if course else "Practice"
                page = write_page(folder, results, title=title, solutions=solutions)
                pages[results.student] = page
                if pack is not None:
                    pack.add(results, page)
                advance()
        return WrittenPages(folder, pages) if pack is None else _packed(out, folder, pages, pack)


def _known(store: Store, roster: Roster | None, context: CommandContext, students: Sequence[str]) -> set[str]:
    known = set(store.students(context.mode)) | set(roster.by_id if roster else ())
    kept = context.open_problems()
    known |= {one.student for one in (kept.still_open(store) if kept else ()) if one.student}
    for student in students:
        if student not in known:
            raise UsageError(
                "nobody of this id is in the roster or in the store",
                got=repr(student[:100]),
                next_step="use the id of the first column of the gradebook",
            )
    return known


def _check_assignment(assignment: str, known: Collection[str]) -> None:
    from engine.text.words import suggestion

    if assignment in known:
        return
    raise UsageError(
        "there is no quiz or code exercise of this name",
        got=repr(assignment[:100]),
        next_step=suggestion(assignment, known) or "take a name from the gradebook's columns",
    )


_MOST_NAMED = 5  # of those who aren't packed for the same reason


def _packed(out: Path, folder: Path, pages: dict[str, Path], pack: PageArchive) -> WrittenPages:
    from engine.pages.zip import write_zip

    archive, members = out / f"feedback-{pack.layout}.zip", pack.members
    if not members:
        # An old archive under this name would be taken for the new one.
        archive.unlink(missing_ok=True)
        return WrittenPages(folder, pages, None, 0, 0, pack.left_out)
    return WrittenPages(folder, pages, archive, len(members), write_zip(archive, members), pack.left_out)


def written_as_json(written: WrittenPages) -> dict[str, Any]:
    """Return what ``--json`` prints."""
    return {
        "pages": {student: str(path) for student, path in written.pages.items()},
        "zip": None if written.archive is None else str(written.archive),
        "packed": written.members,
        "bytes": written.size,
        "left_out": [{"student": one.student, "reason": one.reason} for one in written.left_out],
    }


def tell(written: WrittenPages) -> None:
    """Print where the pages are, and who isn't in the archive."""
    from engine.text.escape import clean_line

    count = len(written.pages)
    click.echo(f"{count_noun(count, 'page')}: {written.folder}")
    if written.archive is not None:
        pages = f"{count_noun(written.members, 'page')}"
        click.echo(f"{pages}, {_size(written.size)}: {written.archive}")
    elif written.left_out:
        click.echo("no archive was written: no page can be packed")
    by_reason: dict[str, list[str]] = {}
    for one in written.left_out:
        by_reason.setdefault(one.reason, []).append(clean_line(one.student))
    for reason, students in by_reason.items():
        if len(students) <= _MOST_NAMED:
            for student in students:
                click.echo(f"not packed: {student}: {reason}")
        else:
            more = len(students) - _MOST_NAMED
            click.echo(f"not packed: {', '.join(students[:_MOST_NAMED])} and {more} more: {reason}")
    if written.archive is None and written.left_out:
        click.echo("  next: grade the download of the learning system as it is, or take --zip plain")


def _size(size: int) -> str:
    return f"{size / 2**20:.1f} MiB" if size >= 2**20 else f"{max(size / 2**10, 1):.0f} KiB"


# ----------------------------------------------------------------------------------------------------
# ``grade feedback verify``: is this the file that a page is about, and does the store know it?

_PAGE_LIMIT = 32 * 2**20


@dataclass(frozen=True)
class _Checked:
    """A receipt, the file that it is about if one was given, and what the store has; None: not asked."""

    receipt: PageReceipt
    file: str | None
    attempt: Attempt | None
    asked: bool

    @property
    def fails(self) -> bool:
        return self.file is not None and self.asked and self.attempt is None


@click.command("verify")
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
    from engine.commands.context import find_context

    context = find_context(course_path)
    receipts = _receipts(page)
    hashes = {str(path): _hashes(context, path) for path in files}
    checked = _checked(context, receipts, hashes)
    strangers = _strangers(receipts, hashes)
    if as_json:
        click.echo(json.dumps(_json(checked, strangers), ensure_ascii=False, indent=2))
    else:
        _tell(checked, strangers)
    return 1 if strangers or any(one.fails for one in checked) else 0


def _receipts(page: Path) -> list[PageReceipt]:
    from engine.pages.feedback import read_receipts
    from engine.text.files import read_bytes

    found = read_receipts(read_bytes(page, _PAGE_LIMIT, UsageError).decode("utf-8", "replace"))
    if not found:
        raise UsageError(
            "this page holds no receipt", where=str(page), expected="a feedback page with at least one result"
        )
    return found


def _hashes(context: CommandContext, path: Path) -> Mapping[str | None, str]:
    """Return the hashes of a file by item: of code, which may be for any item, under None."""
    from engine.intake import read_code_file

    if path.suffix.lower() not in {".yaml", ".yml"}:
        return {None: read_code_file(path).sha256}
    return _answer_hashes(context, path)


def _answer_hashes(context: CommandContext, path: Path) -> Mapping[str | None, str]:
    from engine.quiz import as_answered, read_filled
    from engine.store import quiz_responses, response_sha256
    from engine.text.files import read_hand_in

    filled = read_filled(read_hand_in(path), path.name)
    place, quiz = context.of_quiz(filled, path)
    with place.open_store() as store:
        quiz = as_answered(store, quiz, filled.retries)
    return {
        question.variant.item: response_sha256(question.variant.id, response, quiz.id)
        for question, response in zip(quiz.questions, quiz_responses(quiz, filled.answers), strict=True)
    }


def _checked(
    context: CommandContext, receipts: Sequence[PageReceipt], hashes: Mapping[str, Mapping[str | None, str]]
) -> list[_Checked]:
    owners = {sha256: name for name, found in hashes.items() for sha256 in found.values()}
    asked = context.course is not None or context.store is not None
    if not asked:
        return [_Checked(receipt, owners.get(receipt.sha256), None, False) for receipt in receipts]
    with context.open_store() as store:
        return [
            _Checked(
                receipt,
                owners.get(receipt.sha256),
                next(
                    (
                        attempt
                        for attempt in store.attempts(student=receipt.student, item=receipt.item)
                        if attempt.submission == receipt.sha256
                    ),
                    None,
                ),
                True,
            )
            for receipt in receipts
        ]


def _strangers(
    receipts: Sequence[PageReceipt], hashes: Mapping[str, Mapping[str | None, str]]
) -> list[tuple[str, str | None]]:
    """Return the files, and of quizzes the items, that the page isn't about."""
    known = {receipt.sha256 for receipt in receipts}
    answered = {receipt.item for receipt in receipts if receipt.is_answer}
    found: list[tuple[str, str | None]] = []
    for name, own in hashes.items():
        wrong = [item for item, sha256 in own.items() if sha256 not in known]
        # A question that the page doesn't show is no contradiction, if another one is there.
        told = [item for item in wrong if item is None or item in answered]
        found += [(name, item) for item in told]
        if len(wrong) == len(own) and not told:
            found.append((name, None))
    return found


def _json(checked: Sequence[_Checked], strangers: Sequence[tuple[str, str | None]]) -> dict[str, Any]:
    return {
        "receipts": [
            {
                "student": one.receipt.student,
                "item": one.receipt.item,
                "sha256": one.receipt.sha256,
                "file": one.file,
                "in_store": one.attempt is not None if one.asked else None,
                "score": one.attempt.report.score if one.attempt else None,
            }
            for one in checked
        ],
        "others": [{"file": name, "item": item} for name, item in strangers],
    }


def _tell(checked: Sequence[_Checked], strangers: Sequence[tuple[str, str | None]]) -> None:
    from engine.commands.render import show_table
    from engine.text.escape import clean_line

    rows = [
        [one.receipt.student, one.receipt.item, one.file or "no file given for it", _stored(one)]
        for one in checked
    ]
    show_table(["student", "item", "the same file", "store"], rows)
    for name, item in strangers:
        about = "not what this page is about" if item is None else f"another answer to {item} was graded"
        click.echo(f"{clean_line(name)}: {about}")


def _stored(one: _Checked) -> str:
    from engine.text.words import plain_points

    if not one.asked:
        return "not asked: there is no course here"
    if one.attempt is None:
        return "not in the store"
    report = one.attempt.report
    score = (
        "no mark"
        if report.score is None
        else f"{plain_points(report.score)} of {plain_points(report.max_score)}"
    )
    changed = "" if report.item_version == one.receipt.version else "; marked again since"
    return f"graded, {score}{changed}"


# ----------------------------------------------------------------------------------------------------
# ``grade feedback``: write feedback pages from the store, pack them for upload, check receipts.

_LAYOUTS = ("canvas", "moodle", "plain")


@click.group("feedback", cls=CommandGroup, invoke_without_command=True)
@click.option("--out", type=click.Path(path_type=Path), default=None, help="Folder for the pages.")
@click.option(
    "--student", "students", multiple=True, help="Only this student's page (several times: theirs)."
)
@click.option(
    "--solutions", is_flag=True, help="Show worked solutions and keys, whatever a quiz's rules say."
)
@click.option(
    "--zip", "layout", type=click.Choice(_LAYOUTS), default=None, help="Pack the pages to be uploaded there."
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
    Example:
      grade feedback --out results --course attention-2026
      grade feedback --out results --course attention-2026 --zip moodle
      grade feedback verify results/students/ada.html softmax.py --course attention-2026
    """
    if context.invoked_subcommand is not None:
        return 0
    if out is None:
        raise UsageError("it isn't said where to write", expected="--out FOLDER")
    if assignment is not None and layout is None:
        raise UsageError("--assignment is for --zip", next_step="add --zip, or leave --assignment out")

    written = write_feedback(
        course_path, out, students=students, solutions=solutions, layout=layout, assignment=assignment
    )
    if as_json:
        click.echo(json.dumps(written_as_json(written), ensure_ascii=False, indent=2))
    else:
        tell(written)
    return 1 if written.left_out else 0


command.add_command(verify)
