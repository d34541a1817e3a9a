"""A printed exam of a course, and scans of sheets that were filled in with given answers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

from benchmarks.scans.simulated_scans import MM, printed_pages
from engine.course import Course
from engine.model import Part, Quiz
from engine.paper.page_codes import PageCode
from engine.paper.print_record import (
    PRINTS_FOLDER,
    ExamCopy,
    ExamVersion,
    PrintedQuestion,
    PrintRecord,
    write_record,
)
from engine.paper.sheet_layout import SheetBubble, SheetFieldKind, SheetLayout, lay_out_sheet
from engine.paper.sheet_questions import sheet_question

PRINT = "K7QF2MXA"
BLUEPRINT = """title: Midterm
sections:
  - title: All
    items: [softmax-stability, high-weight-reading, who-introduced, scaled-dot-score, greedy-path,
      softmax-weights, context-vector, dot-scores]
"""
STUDENTS = ("ada", "bob", "007")

Sheet = npt.NDArray[np.uint8]


@dataclass
class PrintedClass:
    """A class whose exams are printed: their quizzes, and the layout of each one's answer sheet."""

    course: Course
    record: PrintRecord
    quizzes: Mapping[str, Quiz]
    layouts: Mapping[str, SheetLayout]

    def copy(self, student: str) -> ExamCopy:
        return next(copy for copy in self.record.copies if copy.student == student)

    def code(self, student: str, page: int = 0) -> PageCode:
        copy = self.copy(student)
        return PageCode(PRINT, copy.number, copy.sheet + page, copy.pages)


def print_class(  # type: ignore[no-untyped-def]
    grade,
    students: tuple[str, ...] = STUDENTS,
    *,
    blueprint: str = BLUEPRINT,
    items: Mapping[str, str] | None = None,
) -> PrintedClass:
    """Make a course ``dl`` with a quiz for each student, and the record of its print."""
    assert grade("init", "dl").code == 0
    Path("dl/roster.csv").write_text("id,name\n" + "".join(f"{s},Student {s}\n" for s in students))
    for name, text in (items or {}).items():
        Path("dl/problems").mkdir(exist_ok=True)
        Path(f"dl/problems/{name}.yaml").write_text(text)
    Path("dl/blueprints/mid.yaml").write_text(blueprint)
    assert grade("quiz", "new", "mid", "--course", "dl").code == 0
    course = Course.open(Path("dl"))
    with course.open_store() as store:
        quizzes = {quiz.student: quiz for quiz in store.quizzes("mid")}
    layouts, copies, versions = {}, [], []
    for number, student in enumerate(students, start=1):
        quiz = quizzes[student]
        parts = [(q.number, part) for q in quiz.questions for part in q.variant.parts]
        layouts[student] = lay_out_sheet([sheet_question(n, str(n), part) for n, part in parts])
        versions.append(
            ExamVersion(
                "",
                tuple(
                    PrintedQuestion(q.number, str(q.number), q.variant.item, q.variant.id, q.points, ())
                    for q in quiz.questions
                ),
            )
        )
        pages = 4 + len(layouts[student].pages)
        copies.append(ExamCopy(number, student, quiz.id, number - 1, number - 1, f"{number}.pdf", pages, 5))
    record = PrintRecord(
        PRINT,
        "mid",
        "Midterm",
        "Attention",
        "a4",
        False,
        tuple(versions),
        tuple(layouts[student].as_json() for student in students),
        tuple(copies),
    )
    folder = Path("dl") / PRINTS_FOLDER / PRINT
    folder.mkdir(parents=True)
    write_record(folder, record)
    return PrintedClass(course, record, quizzes, layouts)


def right_text(part: Part) -> str:
    """Return a right answer in the form that bubbles can say."""
    from engine.answers import kind_of

    return kind_of(part.type).right_responses(part)[0]


def bubbles_of(layout: SheetLayout, number: int, text: str) -> list[SheetBubble]:
    """Return the bubbles to fill for an answer to a question, written independently of how they are read."""
    index = next(i for i, q in enumerate(layout.questions) if q.number == number)
    question = layout.questions[index]
    wanted: set[tuple[int, int, str]] = set()
    if question.kind in (SheetFieldKind.SINGLE, SheetFieldKind.MULTIPLE):
        wanted = {(0, 0, letter) for letter in re.findall(r"[a-z]", text)}
    elif question.kind is SheetFieldKind.MATCHING:
        for row, letter in re.findall(r"(\d+)-([a-z])", text):
            wanted.add((question.rows.index(row), 0, letter))
    elif question.kind in (SheetFieldKind.NUMBERS, SheetFieldKind.STUDENT):
        assert question.digits is not None
        columns = question.digits.columns()
        sign = 1 if columns[0].role == "sign" else 0
        for entry, numeral in enumerate(re.findall(r"-?[0-9.]+", text)):
            whole, _, decimals = numeral.lstrip("-").partition(".")
            assert len(whole) <= question.digits.whole and len(decimals) <= question.digits.decimals
            if numeral.startswith("-"):
                wanted.add((entry, 0, "-"))
            first = sign + question.digits.whole - len(whole)
            for place, digit in enumerate(whole + decimals):
                wanted.add((entry, first + place, digit))
    found = [
        bubble
        for page in layout.pages
        for bubble in page.bubbles
        if bubble.question == index and (bubble.entry, bubble.column, bubble.value) in wanted
    ]
    assert len(found) == len(wanted)
    return found


def filled_pages(
    printed: PrintedClass,
    student: str,
    answers: Mapping[int, str],
    *,
    crossed: tuple[SheetBubble, ...] = (),
    written: tuple[int, ...] = (),
    ink: int = 80,
) -> list[Sheet]:
    """Return a student's sheet, filled in with a pencil and scanned straight at 150 dpi.

    ``crossed`` bubbles are filled and then crossed out; something stands in the boxes of ``written``, in this
    grey: 0 is black, and paper is 245.
    """
    layout = printed.layouts[student]
    codes = [printed.code(student, i) for i in range(len(layout.pages))]
    images = printed_pages(layout, codes)
    return filled_images(layout, images, answers, crossed=crossed, written=written, ink=ink)


def filled_images(
    layout: SheetLayout,
    images: Sequence[npt.NDArray[np.float32]],
    answers: Mapping[int, str],
    *,
    crossed: tuple[SheetBubble, ...] = (),
    written: tuple[int, ...] = (),
    ink: int = 80,
) -> list[Sheet]:
    """As :func:`filled_pages`, for pages as they left a printer: at 300 dpi, 0 black to 1 white."""
    filled = [bubble for number, text in answers.items() for bubble in bubbles_of(layout, number, text)]
    scans = []
    for page, image in zip(layout.pages, images, strict=True):
        paper = (image * 225 + 20).astype(np.uint8)
        for bubble in (*filled, *crossed):
            if bubble in page.bubbles:
                centre = (round(bubble.x * MM), round(bubble.y * MM))
                cv2.circle(paper, centre, round(layout.radius * MM), 90, -1, cv2.LINE_AA)
        for bubble in crossed:
            if bubble in page.bubbles:
                arm = layout.radius * 1.7
                for slope in (1, -1):
                    ends = [
                        (round((bubble.x + s * arm) * MM), round((bubble.y + s * slope * arm) * MM))
                        for s in (-1, 1)
                    ]
                    cv2.line(paper, ends[0], ends[1], 70, 8, cv2.LINE_AA)
        for box in page.boxes:
            if layout.questions[box.question].number in written and box.column == -1:
                place = (round((box.x + 8) * MM), round((box.y + 7) * MM))
                cv2.putText(paper, "A B B", place, cv2.FONT_HERSHEY_SCRIPT_SIMPLEX, 2.4, ink, 6, cv2.LINE_AA)
        scans.append(cv2.resize(paper, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA))
    return scans


def save(name: str, *pages: Sheet) -> Path:
    """Save scans as one file: PNG, JPEG or TIFF by its name."""
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    if len(pages) == 1:
        assert cv2.imwrite(str(path), pages[0])
    else:
        assert cv2.imwritemulti(str(path), list(pages))
    return path
