"""A print of a quiz: planned, recorded, typeset exam by exam, and merged for the printer.

The record is in the print's folder before the first exam, and each exam gets there in one step. So a print
that was stopped, whenever that was, goes on with what is missing when it is asked for again: what is asked
decides about its id, and the id about its folder.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from engine.errors import EngineError
from engine.model import Quiz, QuizQuestion
from engine.paper.exam_draws import CopyDraw, write_spares
from engine.paper.exam_text import ExamCover, exam_body
from engine.paper.key_text import key_body
from engine.paper.page_codes import CODE_SIGNS, LONGEST_EXAM
from engine.paper.print_record import (
    PRINTS_FOLDER,
    RECORD_FILE,
    ExamCopy,
    ExamVersion,
    PrintRecord,
    read_record,
    write_record,
)
from engine.paper.printed_order import printed_order, printed_questions, sheet_fields
from engine.paper.sheet_layout import PaperName, SheetLayout, SheetQuestion, lay_out_sheet
from engine.paper.sheet_questions import student_number_question
from engine.paper.typeset import ExamJob, MadeExam, make_exams, merge_exams, page_count
from engine.quiz.answer_key import KeyQuestion
from engine.text.files import replace_text
from engine.text.words import clean_line, join_words

EXAMS_FOLDER = "exams"
KEYS_FOLDER = "keys"
MERGED_FILE = "exams.pdf"
# What changes how exams look is counted here: an old print isn't finished in a new look.
_LOOK = 3
_SHEET_RULES = (
    "Fill bubbles in completely: dark, up to the edge. Erase a wrong one cleanly, or cross it out: then a "
    "person looks at it. Write numbers into the boxes, too."
)


@dataclass(frozen=True, slots=True)
class PrintOptions:
    """How exams are printed.

    Parameters
    ----------
    paper : str
        ``a4`` or ``letter``.
    large : bool
        In large print.
    shuffled : bool
        Whether questions change places within their section.
    minutes : float or None
        Time that the cover names.
    notes : tuple of str
        Further rules on the cover.
    """

    paper: PaperName = "a4"
    large: bool = False
    shuffled: bool = True
    minutes: float | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class PlannedPrint:
    """Everything about a print before it is typeset.

    Parameters
    ----------
    folder : Path
        Of the print.
    record : PrintRecord
    draws : tuple of CopyDraw
        One for each copy.
    orders : tuple of tuple of QuizQuestion
        The questions of each copy in the order printed.
    options : PrintOptions
    names : mapping of str to str
        Names by student id.
    """

    folder: Path
    record: PrintRecord
    draws: tuple[CopyDraw, ...]
    orders: tuple[tuple[QuizQuestion, ...], ...]
    options: PrintOptions
    names: Mapping[str, str] = field(default_factory=dict)

    def exam_path(self, copy: ExamCopy) -> Path:
        """Return where a copy's PDF is."""
        return self.folder / EXAMS_FOLDER / copy.file

    def key_path(self, copy: ExamCopy) -> Path:
        """Return where the key booklet of a copy's version is."""
        version = self.record.version(copy)
        name = f"version-{version.label}.pdf" if version.label else f"copy-{copy.file}"
        return self.folder / KEYS_FOLDER / name

    @property
    def first_copies(self) -> list[ExamCopy]:
        """The first copy of each version."""
        firsts: dict[int, ExamCopy] = {}
        for copy in self.record.copies:
            firsts.setdefault(copy.version, copy)
        return list(firsts.values())


def plan_print(
    course_folder: Path,
    course: str,
    draws: Sequence[CopyDraw],
    names: Mapping[str, str],
    options: PrintOptions,
    secret: bytes,
    *,
    number_digits: int,
) -> PlannedPrint:
    """Return what is to be printed; nothing is written.

    Parameters
    ----------
    course_folder : Path
    course : str
        Title of the course.
    draws : sequence of CopyDraw
        At least one, in the order of the copies.
    names : mapping of str to str
        Names by student id.
    options : PrintOptions
    secret : bytes
        The course's.
    number_digits : int
        Digits of a student number on the sheets of spare copies.
    """
    # Copies that ask for the same fields share a layout: hundreds of equal ones would be most of the record.
    layouts: dict[tuple[SheetQuestion, ...], int] = {}
    versions: dict[tuple[str, ...], int] = {}
    version_rows: list[ExamVersion] = []
    layout_rows: list[SheetLayout] = []
    copies: list[ExamCopy] = []
    orders: list[tuple[QuizQuestion, ...]] = []
    width = max(3, len(str(len(draws))))
    for number, draw in enumerate(draws, start=1):
        ordered = printed_order(draw.quiz, secret, shuffled=options.shuffled)
        # Copies of their own are versions of their own, even where a small family gives two the same numbers.
        drawn = (draw.version or str(number), *(question.variant.id for question in ordered))
        if drawn not in versions:
            versions[drawn] = len(version_rows)
            version_rows.append(ExamVersion(draw.version, printed_questions(ordered)))
        fields = sheet_fields(ordered)
        if draw.student is None:
            fields = (student_number_question(number_digits), *fields)
        if fields not in layouts:
            layouts[fields] = len(layout_rows)
            layout_rows.append(lay_out_sheet(fields, paper=options.paper, large=options.large))
        file = f"{number:0{width}d}-{_file_word(draw.student or 'spare')}.pdf"
        copies.append(ExamCopy(number, draw.student, draw.quiz.id, versions[drawn], layouts[fields], file))
        orders.append(ordered)
    quiz = draws[0].quiz
    # Without an id at first: it is made of everything else.
    record = PrintRecord(
        "",
        quiz.name,
        quiz.title,
        course,
        options.paper,
        options.large,
        tuple(version_rows),
        tuple(layout.as_json() for layout in layout_rows),
        tuple(copies),
    )
    record = replace(record, id=_print_id(secret, record, names, options))
    folder = course_folder / PRINTS_FOLDER / record.id
    return PlannedPrint(folder, record, tuple(draws), tuple(orders), options, names)


def _file_word(text: str) -> str:
    return "".join(c if c.isascii() and (c.isalnum() or c in "-_") else "_" for c in text)[:60]


def _print_id(secret: bytes, record: PrintRecord, names: Mapping[str, str], options: PrintOptions) -> str:
    """Return the short name of a print: the same for the same exams, and nobody can guess another one's."""
    from pydantic import TypeAdapter

    printed_names = [names.get(copy.student or "", "") for copy in record.copies]
    content = [
        _LOOK,
        TypeAdapter(PrintRecord).dump_python(record, mode="json"),
        printed_names,
        [options.shuffled, options.minutes, list(options.notes)],
    ]
    digest = hmac.new(secret, json.dumps(content, sort_keys=True).encode(), hashlib.sha256).digest()
    return "".join(CODE_SIGNS[byte & 31] for byte in digest[:LONGEST_EXAM])


def make_print(
    plan: PlannedPrint,
    keys_of: Callable[[Quiz], Mapping[int, KeyQuestion]],
    progress: Callable[[], None] = lambda: None,
) -> PrintRecord:
    """Write what of a print isn't there yet, and return its record.

    Parameters
    ----------
    plan : PlannedPrint
    keys_of : callable
        Returns a quiz's keys by question number.
    progress : callable
        Called once for each exam and each key booklet.

    Raises
    ------
    EngineError
        An exam can't be typeset.
    OSError
        Something can't be written.
    """
    for folder in (plan.folder.parent, plan.folder, plan.folder / EXAMS_FOLDER, plan.folder / KEYS_FOLDER):
        _make_private(folder)
    ignored = plan.folder.parent / ".gitignore"
    if not ignored.exists():  # names and keys aren't for a repository, and courses lie in some
        replace_text(ignored, "*\n")
    record = _begun(plan)
    record = record.with_copies(tuple(_as_made(plan, copy) for copy in record.copies))
    copies = list(record.copies)
    open_copies = [copy for copy in copies if not copy.pages]
    # The source of all exams is written here: it takes milliseconds, while processes take tens to typeset it.
    jobs = [_exam_job(plan, copy) for copy in open_copies]
    keys = [copy for copy in plan.first_copies if not plan.key_path(copy).is_file()]
    jobs += [_key_job(plan, copy, keys_of) for copy in keys]

    def note(index: int, made: MadeExam) -> None:
        if index < len(open_copies):
            copy = open_copies[index]
            copies[copy.number - 1] = replace(copy, pages=made.pages, sheet=made.sheet)
        progress()

    try:
        make_exams(jobs, note)
    finally:
        # Also when it is stopped: what is made already needn't be made again.
        if record.copies != plan.record.copies or open_copies:
            record = record.with_copies(tuple(copies))
            write_record(plan.folder, record)
    # Last, so that a merged file that is there has every exam in it.
    merged = plan.folder / MERGED_FILE
    if open_copies or not merged.is_file():
        merge_exams([plan.exam_path(copy) for copy in record.copies], merged)
    return record


def _as_made(plan: PlannedPrint, copy: ExamCopy) -> ExamCopy:
    """Return a copy with its pages if its exam is there, without them if not, whatever was recorded."""
    # The file decides and not the record: a process that was killed had no time to write what it had made.
    made = page_count(plan.exam_path(copy))
    if not made:
        return replace(copy, pages=0, sheet=0)
    return replace(copy, pages=made, sheet=made - len(plan.record.layout(copy)["pages"]) + 1)


def _make_private(folder: Path) -> None:
    # The course's folder may be shared by its staff; keys and names are for whoever prints.
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)


def _begun(plan: PlannedPrint) -> PrintRecord:
    """Return the record of a print that was begun before, or write it."""
    if (plan.folder / RECORD_FILE).is_file():
        record = read_record(plan.folder)
        # Numbers of pages are known only once an exam is made; everything else must be as it was.
        unmade = replace(record, copies=tuple(replace(c, pages=0, sheet=0) for c in record.copies))
        if unmade != plan.record:
            raise EngineError(
                "another print is recorded under this id",
                where=str(plan.folder / RECORD_FILE),
                next_step="move this folder away, and print again",
            )
        return record
    spares = {
        copy.number: draw.quiz
        for copy, draw in zip(plan.record.copies, plan.draws, strict=True)
        if copy.is_spare
    }
    if spares:
        # Before the record: a spare that is recorded can always be marked.
        write_spares(plan.folder, spares)
    write_record(plan.folder, plan.record)
    return plan.record


def _exam_job(plan: PlannedPrint, copy: ExamCopy) -> ExamJob:
    record, options = plan.record, plan.options
    version = record.version(copy)
    cover = ExamCover(
        record.course,
        record.title,
        plan.names.get(copy.student or "", ""),
        copy.student or "",
        version.label,
        copy.number,
        options.minutes,
        options.notes,
        len(record.versions) > 1,
    )
    body = exam_body(cover, plan.orders[copy.number - 1], version.questions, large=record.large)
    letter = f" · version {version.label}" if version.label else ""
    # The number of a spare copy is in the line above.
    whose = f"{cover.owner}{letter}" if cover.student else version.label and f"Version {version.label}"
    return ExamJob(
        str(plan.exam_path(copy)),
        clean_line(record.title, 200),
        clean_line(f"{record.course} · {record.title}", 90),
        f"{cover.owner}{letter}",
        body,
        record.paper,
        record.large,
        record.id,
        copy.number,
        SheetLayout.from_json(record.layout(copy)),
        clean_line(f"Answer sheet · {record.title}", 60),
        ". ".join([*([whose] if whose else []), _SHEET_RULES]),
    )


def _key_job(
    plan: PlannedPrint, copy: ExamCopy, keys_of: Callable[[Quiz], Mapping[int, KeyQuestion]]
) -> ExamJob:
    record = plan.record
    version = record.version(copy)
    numbers = [c.number for c in record.copies if c.version == copy.version]
    which = f"Copy {numbers[0]}" if len(numbers) == 1 else f"Copies {join_words(map(str, numbers), limit=40)}"
    label = f"Version {version.label}: {which.lower()}" if version.label else which
    body = key_body(
        record.course, record.title, f"{label}.", keys_of(plan.draws[copy.number - 1].quiz), version.questions
    )
    return ExamJob(
        str(plan.key_path(copy)),
        clean_line(f"Key: {record.title}", 200),
        clean_line(f"Key · {record.title}", 90),
        clean_line(label, 60),
        body,
        record.paper,
        large=False,
    )


def record_json(plan: PlannedPrint, record: PrintRecord) -> dict[str, Any]:
    """Return what ``grade print --json`` prints."""
    return {
        "print": record.id,
        "quiz": record.quiz,
        "folder": str(plan.folder),
        "merged": str(plan.folder / MERGED_FILE),
        "versions": len(record.versions),
        "copies": [
            {
                "copy": copy.number,
                "student": copy.student,
                "quiz": copy.quiz,
                "version": record.version(copy).label,
                "pages": copy.pages,
                "sheet": copy.sheet,
                "file": str(plan.exam_path(copy)),
            }
            for copy in record.copies
        ],
    }
