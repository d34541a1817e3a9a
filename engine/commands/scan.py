"""``grade scan``: scanned answer sheets become responses; what is unclear is shown to a person."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from engine.commands.context import CommandContext, find_context
from engine.commands.journal import LogLine, log_lines
from engine.commands.options import by_option, course_option, json_option, store_option
from engine.commands.terminal import print_json, progress_bar, show_table
from engine.errors import UsageError
from engine.text.words import clean_line, count_noun, join_words

if TYPE_CHECKING:
    from engine.scanning.exam_scans import ExamScans, ScannedCopy
    from engine.scanning.open_places import OpenPlace
    from engine.scanning.page_files import ScanProblem
    from engine.scanning.sheet_hand_ins import ScannedCourse
    from engine.store.scans import ScanDecision

# The terminal shows the beginning of a long list; the page and --json have all of it.
_MOST_ROWS = 20
_MOST_NAMES = 6


@dataclass
class _Pages:
    """What became of the pages of this run."""

    new: int = 0
    known: int = 0
    ignored: Counter[str] = field(default_factory=Counter)
    problems: list[ScanProblem] = field(default_factory=list)


@dataclass
class _ExamResult:
    """What became of one print."""

    scans: ExamScans
    handed: list[tuple[ScannedCopy, str]] = field(default_factory=list)
    before: int = 0
    void: int = 0
    waiting: list[tuple[ScannedCopy, list[str]]] = field(default_factory=list)
    differing: list[ScannedCopy] = field(default_factory=list)
    page: Path | None = None

    def as_json(self) -> dict[str, Any]:
        return {
            "print": self.scans.exam,
            "handed_in": [
                {"copy": item.copy.number, "student": item.student, "score": score}
                for item, score in self.handed
            ],
            "handed_in_before": self.before,
            "void": self.void,
            "waiting": [
                {
                    "copy": item.copy.number,
                    "student": item.student,
                    "reasons": reasons,
                    "fields": [
                        {"field": open_field.name, "read_as": open_field.text, "reason": open_field.reason}
                        for open_field in item.open_fields
                    ],
                }
                for item, reasons in self.waiting
            ],
            "differing_after_hand_in": [
                {"copy": item.copy.number, "fields": [open_field.name for open_field in item.open_fields]}
                for item in self.differing
            ],
            "not_scanned": [{"copy": copy.number, "student": copy.student} for copy in self.scans.unseen],
            "page": None if self.page is None else str(self.page),
        }


@click.command("scan")
@click.argument("files", metavar="[FILE…]", nargs=-1, type=click.Path(path_type=Path, exists=True))
@click.option(
    "--decide",
    "decided",
    multiple=True,
    metavar="PLACE=ANSWER",
    help="Decide a place: PRINT/COPY/FIELD=ANSWER, as the page of scans shows it; - means left empty.",
)
@click.option(
    "--decisions",
    "table",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Decide what is written into this table, which lies beside the page of scans.",
)
@click.option(
    "--undo",
    "taken_back",
    multiple=True,
    metavar="PLACE",
    help="Take back what was decided about a place, so that it is open again; until its exam is handed in.",
)
@click.option(
    "--written",
    type=click.DateTime(["%Y-%m-%d", "%Y-%m-%d %H:%M"]),
    default=None,
    help="When the exam was written, by the course's clocks (default: now, and never after its deadline).",
)
@by_option
@json_option
@course_option
@store_option
def command(
    files: tuple[Path, ...],
    decided: tuple[str, ...],
    table: Path | None,
    taken_back: tuple[str, ...],
    written: datetime | None,
    by: str,
    as_json: bool,
    course_path: Path | None,
) -> int:
    """Read scanned answer sheets and hand in what is certain.

    Each FILE is a PDF, PNG, JPEG or TIFF, or a folder of them, with pages in any order and any way round.
    Each page says which copy it is. A bubble that isn't clearly empty or filled, a crossed-out one, two marks
    where one counts: all that is shown on a page for a person to decide, and an exam is handed in only when
    nothing about it is unclear or missing. Run it again with more files or decisions at any time: what was
    read, decided and handed in is kept, and counts once.

    Exit code 0: everything is handed in; 1: something waits, or a page can't be read (listed).

    \b
    Examples:
      grade scan monday.pdf tuesday/ --course attention-2026
      grade scan --decide K7QF2MXA/12/3/answer=b --by "Prof. Weber"
      grade scan --decisions prints/K7QF2MXA/decisions.csv
    """
    if not files and not decided and table is None and not taken_back:
        raise UsageError(
            "nothing to read and nothing to decide",
            expected="files, --decide, --decisions or --undo",
            next_step="what waits is on the page prints/ID/scans.html of the course",
        )
    context = find_context(course_path)
    course = context.require_course()
    try:
        import cv2  # noqa: F401
        import pypdfium2  # noqa: F401
        import zxingcpp  # noqa: F401
    except ImportError as error:
        raise UsageError(
            f"scans are read by a package that isn't installed: {error.name}",
            next_step="pip install 'softmark[paper]'",
        ) from error
    from engine.paper.print_record import PrintedExams
    from engine.scanning.sheet_hand_ins import ScannedCourse

    exams = PrintedExams(course.folder)
    if not exams.ids:
        raise UsageError(
            "this course has printed nothing, so no sheet can be one of its own",
            where=str(course.folder),
            next_step="name the course that printed the exam: --course FOLDER",
        )
    moment = None if written is None else written.replace(tzinfo=course.settings.policies.zone)
    with context.open_store() as store:
        scanned = ScannedCourse(store, exams, course.roster(tolerant=True), context.mode)
        pages = _read(scanned, files)
        decisions = _undo(context, scanned, taken_back, by)
        decisions += _decide(context, scanned, _places(decided, table), by)
        results = [
            _hand_in(context, scanned, exam, pages.problems, moment, by) for exam in scanned.scanned_exams()
        ]
    if as_json:
        print_json(_json(pages, results))
    else:
        if files:
            _show_pages(pages)
        _show_decisions(decisions)
        for result in results:
            _show_exam(context.names, result)
    return 1 if pages.problems or any(result.waiting for result in results) else 0


def _read(course: ScannedCourse, files: Sequence[Path]) -> _Pages:
    from engine.quiz.rules import now
    from engine.scanning.page_files import ScanProblem, count_pages, pages_of, scan_files
    from engine.scanning.page_reader import IgnoredPage, read_scan

    pages = _Pages()
    chosen = scan_files(files)
    if files and not chosen:
        raise UsageError("no PDF, PNG, JPEG or TIFF file is in there", where=str(files[0]))
    total = sum(count_pages(path) for path in chosen)
    with progress_bar("reading", total) as advance:
        for path in chosen:
            for scan in pages_of(path, path.name):
                outcome = (
                    scan
                    if isinstance(scan, ScanProblem)
                    else read_scan(scan, course.exams, course.quizzes.parts, now())
                )
                if isinstance(outcome, ScanProblem):
                    pages.problems.append(outcome)
                elif isinstance(outcome, IgnoredPage):
                    pages.ignored[outcome.reason] += 1
                elif course.store.scans.add_page(outcome):
                    # Kept page by page: a run that is stopped goes on from here.
                    pages.new += 1
                else:
                    pages.known += 1
                advance()
    return pages


def _places(decided: Sequence[str], table: Path | None) -> Iterator[tuple[str, OpenPlace]]:
    """Yield the decisions with where they stand, for messages."""
    from engine.scanning.open_places import parse_place
    from engine.scanning.scan_review import read_decisions

    for value in decided:
        try:
            yield "--decide", parse_place(value)
        except ValueError as error:
            raise UsageError(f"a decision can't be read: {error}") from error
    if table is not None:
        for line, place in read_decisions(table):
            yield f"{table}:{line}", place


def _decide(
    context: CommandContext, course: ScannedCourse, places: Iterator[tuple[str, OpenPlace]], by: str
) -> list[str]:
    """Store decisions and return them in words, with the numbers of questions on paper."""
    from engine.quiz.rules import now
    from engine.scanning.open_places import decided_place

    scans: dict[str, ExamScans] = {}
    decisions, words = [], []
    for where, place in places:
        if place.exam not in course.exams:
            raise UsageError(f"there is no print {clean_line(place.exam, 40)!r}", where=where)
        if place.exam not in scans:
            scans[place.exam] = course.scans(place.exam)
        decision = course.checked(place, scans[place.exam], by=by, at=now(), where=where)
        decisions.append(decision)
        what = decided_place(scans[place.exam], decision)
        words.append(f"decided: {what} ({place.field}): {clean_line(decision.text, 60) or 'left empty'}")
    lines = [LogLine("scan.decide", d.subject, d.student, {"text": d.text[:200]}) for d in decisions]
    # All or nothing: half a table would be filled in twice.
    with course.store.one_transaction():
        course.store.scans.decide(*decisions)
        log_lines(context, course.store, lines, by=by)
    return words


def _undo(context: CommandContext, course: ScannedCourse, places: Sequence[str], by: str) -> list[str]:
    """Store that decisions are taken back, and return that in words."""
    from engine.quiz.rules import now
    from engine.scanning.open_places import decided_place, parse_place, places_of

    undone: list[ScanDecision] = []
    words = []
    for value in places:
        try:
            named = parse_place(f"{value}=")
        except ValueError as error:
            raise UsageError(f"a place can't be read: {error}", where="--undo") from error
        nothing = UsageError(f"nothing is decided about {clean_line(value, 60)!r}", where="--undo")
        if named.exam not in course.exams:
            raise nothing
        scans = course.scans(named.exam)
        of_copy = [p for item in scans.copies for p in places_of(scans, item) if p.copy == named.copy]
        place = next((p for p in of_copy if p.field == named.field), None)
        if place is None:
            raise nothing
        undone.append(course.undone(place, by=by, at=now(), where="--undo"))
        words.append(f"open again: {decided_place(scans, undone[-1])} ({named.field})")
    with course.store.one_transaction():
        course.store.scans.decide(*undone)
        log_lines(context, course.store, [LogLine("scan.undo", d.subject, d.student) for d in undone], by=by)
    return words


def _hand_in(
    context: CommandContext,
    course: ScannedCourse,
    exam: str,
    problems: Sequence[ScanProblem],
    written: datetime | None,
    by: str,
) -> _ExamResult:
    from engine.quiz.rules import now
    from engine.scanning.scan_review import write_review

    scans = course.with_spares(course.scans(exam))
    result = _ExamResult(scans)
    for item in scans.copies:
        if item.is_void:
            result.void += 1
            continue
        if item.student is None:
            result.waiting.append((item, list(item.waits)))
            continue
        with course.store.one_transaction():
            sheet = course.hand_in(exam, item, now(), written)
            line = LogLine("scan.hand_in", sheet.subject(exam), item.student)
            log_lines(context, course.store, [line] if sheet.is_new else [], by=by)
        if sheet.is_new:
            result.handed.append((item, sheet.score))
        elif sheet.was_handed:
            result.before += 1
            # It had no open field when it was handed in: these came with a later scan.
            if item.open_fields:
                result.differing.append(item)
        else:
            result.waiting.append((item, [*item.waits, *filter(None, [sheet.reason])]))
    result.page, _ = write_review(
        course.exams.folder(exam),
        scans,
        handed=result.before + len(result.handed),
        problems=problems,
        names=context.names,
        waiting=result.waiting,
        decisions=course.store.scans.decisions(exam),
        zone=context.require_course().settings.policies.zone,
    )
    return result


def _json(pages: _Pages, results: Sequence[_ExamResult]) -> dict[str, Any]:
    return {
        "pages": {"new": pages.new, "known": pages.known, **dict(pages.ignored)},
        "problems": [
            {"file": problem.source.file, "page": problem.source.page, "reason": problem.reason}
            for problem in pages.problems
        ],
        "prints": [result.as_json() for result in results],
    }


def _show_pages(pages: _Pages) -> None:
    words = [f"{count_noun(pages.new, 'page')} read"]
    words += [f"{pages.known} read before"] if pages.known else []
    words += [f"{count} passed over ({reason})" for reason, count in sorted(pages.ignored.items())]
    click.echo(", ".join(words))
    for problem in pages.problems[:_MOST_ROWS]:
        click.echo(f"not read: {problem.source.words()}: {problem.reason}")
    if len(pages.problems) > _MOST_ROWS:
        click.echo(f"  {len(pages.problems) - _MOST_ROWS} more, on the page of scans and with --json")


def _show_decisions(decisions: Sequence[str]) -> None:
    # With the paper's number of the question: who decided about another one sees it at once.
    for words in decisions:
        click.echo(words)


def _show_exam(names: Mapping[str, str], result: _ExamResult) -> None:
    record = result.scans.record
    counts = [
        f"{len(result.handed)} handed in now",
        *([f"{result.before} before"] if result.before else []),
        f"{len(result.waiting)} waiting",
        *([f"{result.void} void"] if result.void else []),
        f"{len(result.scans.unseen)} not scanned",
    ]
    click.echo(f"print {record.id} ({clean_line(record.title)}): {', '.join(counts)}")
    rows = [
        row for item, reasons in result.waiting for row in _waiting_rows(names, result.scans, item, reasons)
    ]
    if rows:
        show_table(["copy", "student", "waits because", "place"], rows[:_MOST_ROWS])
        if len(rows) > _MOST_ROWS:
            click.echo(f"  {len(rows) - _MOST_ROWS} more on the page")
    for item in result.differing[:_MOST_ROWS]:
        number = item.copy.number
        what = join_words([result.scans.place_words(number, f.name) for f in item.open_fields], "and", 6)
        click.echo(
            f"copy {number} was handed in before, and its scans say something else now: {what}. "
            "Look at the paper; marks are corrected by hand (grade mark set)"
        )
    if unseen := result.scans.unseen:
        who = [f"copy {copy.number} ({clean_line(_name_of(names, copy.student), 60)})" for copy in unseen]
        more = f" and {len(who) - _MOST_NAMES} more" if len(who) > _MOST_NAMES else ""
        click.echo(f"not scanned: {', '.join(who[:_MOST_NAMES])}{more}")
    if rows:
        click.echo(f"page of scans: {result.page}")


def _waiting_rows(
    names: Mapping[str, str], scans: ExamScans, item: ScannedCopy, reasons: Sequence[str]
) -> Iterator[list[str]]:
    """Yield why a copy waits, each reason with the place that ``--decide`` takes, if it has one."""
    from engine.scanning.open_places import places_of

    open_places = [place for place in places_of(scans, item) if place.reason is not None]
    settled_by = [(why, "") for why in reasons if why not in item.asks.values()]
    settled_by += [(place.reason_words, f"{scans.exam}/{place.id}") for place in open_places]
    start = [str(item.copy.number), clean_line(_name_of(names, item.student))]
    for why, name in settled_by:
        yield [*start, clean_line(why, 300), name]


def _name_of(names: Mapping[str, str], student: str | None) -> str:
    return names.get(student or "", student or "")
