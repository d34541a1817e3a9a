"""What was printed: whose copy has which questions in which order, and where its answers are bubbled.

A print is a folder ``prints/<id>/`` of the course with a file ``print.json``, written before the first exam
and again when all exams are there. :mod:`engine.scanning` reads it: a page's code says which copy it is, and
the record says everything else. Only the instructor may read the folder: spare copies have their keys in it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from engine.errors import PaperError
from engine.paper.sheet_layout import SheetLayout
from engine.text.files import read_bounded, replace_text
from engine.text.watch import FileStamp, file_stamp
from engine.text.words import clean_line, count_noun, near_words

PRINTS_FOLDER = "prints"
RECORD_FILE = "print.json"
# A class of 5,000 with variants of their own has about 20 MB.
_MOST_BYTES = 200 * 2**20
_FORMAT = 1


@dataclass(frozen=True, slots=True)
class PrintedPart:
    """One answer field as it was printed.

    Parameters
    ----------
    id : str
        Of the part of the variant.
    label : str
        What the question and the answer sheet call it: ``"3"``, or ``"3b"`` for a step.
    type : str
        Of the answer.
    options : tuple of str
        Option ids in the order printed: the first one has the letter a.
    prompts : tuple of str
        Ids of a matching's left side, in the order printed.
    on_sheet : bool
        Whether it is answered on the sheet, and not beside the question.
    """

    id: str
    label: str
    type: str
    options: tuple[str, ...] = ()
    prompts: tuple[str, ...] = ()
    on_sheet: bool = True


@dataclass(frozen=True, slots=True)
class PrintedQuestion:
    """One question as it was printed: ``number`` as in the stored quiz, ``label`` as on paper."""

    number: int
    label: str
    item: str
    variant: str
    points: float
    parts: tuple[PrintedPart, ...]


@dataclass(frozen=True, slots=True)
class ExamVersion:
    """What is the same in all copies of one version.

    Parameters
    ----------
    label : str
        A, B, C … where several copies share a version, empty where each copy has its own.
    questions : tuple of PrintedQuestion
        In the order printed.
    """

    label: str
    questions: tuple[PrintedQuestion, ...]


@dataclass(frozen=True, slots=True)
class ExamCopy:
    """One exam on paper.

    Parameters
    ----------
    number : int
        From 1; part of its pages' codes.
    student : str or None
        None for a spare copy: whoever writes it bubbles a student number.
    quiz : str
        Id of the stored quiz; that of a spare is stored when it is known whose it is.
    version : int
        Which of the record's versions it has.
    layout : int
        Which of the record's layouts its answer sheet has: that of a spare asks for the student's number too.
    file : str
        Name of its PDF in the folder ``exams``.
    pages : int
        How many it has in all, 0 until it is made.
    sheet : int
        The first page of its answer sheet, 0 until it is made.
    """

    number: int
    student: str | None
    quiz: str
    version: int
    layout: int
    file: str
    pages: int = 0
    sheet: int = 0

    @property
    def is_spare(self) -> bool:
        """Whether it has no name on it."""
        return self.student is None


@dataclass(frozen=True, slots=True)
class PrintRecord:
    """A print: everything that its pages' codes leave out.

    Parameters
    ----------
    id : str
        As the codes say it.
    quiz : str
        Name of the quiz.
    title, course : str
        As printed.
    paper : str
        ``"a4"`` or ``"letter"``.
    large : bool
        Whether it is in large print.
    versions : tuple of ExamVersion
    layouts : tuple of mapping
        Positions on answer sheets, as :meth:`engine.paper.sheet_layout.SheetLayout.as_json` gives them.
    copies : tuple of ExamCopy
        By number.
    """

    id: str
    quiz: str
    title: str
    course: str
    paper: str
    large: bool
    versions: tuple[ExamVersion, ...]
    layouts: tuple[Mapping[str, Any], ...]
    copies: tuple[ExamCopy, ...]
    format: int = _FORMAT

    @property
    def is_complete(self) -> bool:
        """Whether every exam was made; a print that was stopped goes on when it is asked for again."""
        return all(copy.pages for copy in self.copies)

    def copy(self, number: int) -> ExamCopy | None:
        """Return a copy by its number, None if there is none."""
        return self.copies[number - 1] if 0 < number <= len(self.copies) else None

    def version(self, copy: ExamCopy) -> ExamVersion:
        """Return the version that a copy has."""
        return self.versions[copy.version]

    def layout(self, copy: ExamCopy) -> Mapping[str, Any]:
        """Return the positions on a copy's answer sheet."""
        return self.layouts[copy.layout]

    def with_copies(self, copies: tuple[ExamCopy, ...]) -> PrintRecord:
        """Return the record with the copies as they were made."""
        return replace(self, copies=copies)


def write_record(folder: Path, record: PrintRecord) -> None:
    """Write a record into its print's folder, in one step and for its owner alone."""
    from pydantic import TypeAdapter

    plain = TypeAdapter(PrintRecord).dump_python(record, mode="json")
    # One line for each copy and version would be nicer to read and is ten times as slow to write.
    text = json.dumps(plain, ensure_ascii=True, separators=(",", ":"))
    replace_text(folder / RECORD_FILE, text + "\n", private=True, durable=True)


def read_record(folder: Path) -> PrintRecord:
    """Return the record in a print's folder.

    Raises
    ------
    PaperError
        There is none, or it isn't one.
    """
    from pydantic import TypeAdapter, ValidationError

    path = folder / RECORD_FILE
    try:
        data = read_bounded(path, _MOST_BYTES)
    except (OSError, ValueError) as error:
        raise PaperError(
            "the record of this print can't be read",
            where=str(path),
            got=getattr(error, "strerror", None) or str(error),
            next_step="without it scanned sheets can't be read: put it back from a backup of the course",
        ) from error
    try:
        record: PrintRecord = TypeAdapter(PrintRecord).validate_python(json.loads(data))
    except (ValidationError, ValueError, RecursionError) as error:
        raise _damaged(path, clean_line(str(error).splitlines()[0])) from error
    # Positions of another format would be read from the wrong places, and sheets be marked wrongly.
    if record.format != _FORMAT:
        raise _damaged(path, f"format {record.format}")
    _check_places(path, record)
    return record


def _damaged(path: Path, got: str) -> PaperError:
    return PaperError(
        "this isn't the record of a print",
        where=str(path),
        expected=f"what grade print wrote, format {_FORMAT}",
        got=got,
        next_step="put it back from a backup of the course",
    )


def _check_places(path: Path, record: PrintRecord) -> None:
    # Numbers lead to other numbers here; one that leads nowhere would give a student another one's sheet.
    for place, copy in enumerate(record.copies, start=1):
        is_known = 0 <= copy.version < len(record.versions) and 0 <= copy.layout < len(record.layouts)
        if copy.number != place or not is_known:
            raise _damaged(path, f"copy {copy.number}: version {copy.version}, layout {copy.layout}")


def print_ids(course: Path) -> list[str]:
    """Return the ids of a course's prints, in order."""
    # A folder without a record is a print that was stopped before its first exam: there is nothing to scan.
    folder = course / PRINTS_FOLDER
    try:
        return sorted(path.parent.name for path in folder.glob(f"*/{RECORD_FILE}"))
    except OSError:
        return []


def find_print(course: Path, name: str) -> Path:
    """Return the folder of a print by its id.

    Raises
    ------
    PaperError
        There is none of this id.
    """
    ids = print_ids(course)
    if name in ids:
        return course / PRINTS_FOLDER / name
    matches = near_words(name, ids)
    raise PaperError(
        f"no print {clean_line(name, 40)!r} was made in this course",
        expected=f"one of {', '.join(ids[:20])}" if ids else None,
        got=count_noun(len(ids), "print"),
        next_step=f"did you mean {matches[0]}?" if matches else "grade print QUIZ makes one",
    )


@lru_cache(maxsize=2)
def _record_as_it_is(folder: Path, stamp: FileStamp) -> PrintRecord:
    # That of a large class takes a second to read, and the site reads it for each page that it shows.
    return read_record(folder)


class PrintedExams:
    """The prints of a course, each with its layouts, read when they are asked for first.

    Parameters
    ----------
    course : Path
        The course's folder.

    Raises
    ------
    PaperError
        When a record can't be read.
    """

    def __init__(self, course: Path) -> None:
        self._course = course
        self._ids = frozenset(print_ids(course))
        self._records: dict[str, PrintRecord] = {}
        self._layouts: dict[tuple[str, int], SheetLayout] = {}

    def __contains__(self, exam: str) -> bool:
        return exam in self._ids

    @property
    def ids(self) -> list[str]:
        """Ids of all prints, in order."""
        return sorted(self._ids)

    def record(self, exam: str) -> PrintRecord:
        """Return the record of a print."""
        if exam not in self._records:
            folder = find_print(self._course, exam)
            self._records[exam] = _record_as_it_is(folder, file_stamp(folder / RECORD_FILE))
        return self._records[exam]

    def folder(self, exam: str) -> Path:
        """Return the folder of a print."""
        return find_print(self._course, exam)

    def layout(self, exam: str, copy: ExamCopy) -> SheetLayout:
        """Return the positions on a copy's answer sheet.

        Raises
        ------
        PaperError
            They were written by another version.
        """
        key = (exam, copy.layout)
        if key not in self._layouts:
            try:
                self._layouts[key] = SheetLayout.from_json(self.record(exam).layout(copy))
            except ValueError as error:
                raise PaperError(
                    f"where the bubbles of copy {copy.number} are isn't known: {error}",
                    where=str(self.folder(exam)),
                    next_step="read these sheets with the version of Softmark that printed them",
                ) from error
        return self._layouts[key]
