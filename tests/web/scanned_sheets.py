"""Scanned sheets of the small class, as ``grade scan`` stores them: what was read, and pictures of it."""

from __future__ import annotations

import base64
import hashlib
import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from engine.answers import kind_of
from engine.model import Quiz
from engine.paper.exam_draws import write_spares
from engine.paper.print_record import (
    PRINTS_FOLDER,
    ExamCopy,
    ExamVersion,
    PrintRecord,
    write_record,
)
from engine.paper.printed_order import printed_questions, sheet_fields
from engine.paper.sheet_layout import SheetLayout, lay_out_sheet
from engine.paper.sheet_questions import student_number_question
from engine.quiz import compose, read_blueprint
from engine.quiz.rules import now
from engine.store.scans import ScannedPage
from engine.web.site import Site
from tests.live.printed_exam import bubbles_of
from tests.web.browsing import draw

EXAM = "K7QF2MXA"
SPARE = ""
SINGLE, MULTIPLE, MATCHING, NUMBER, TOKEN = 1, 2, 3, 4, 5
BLUEPRINT = """title: Midterm
sections:
  - items: [softmax-stability, high-weight-reading, who-introduced, scaled-dot-score, greedy-path]
"""


def png(width: int = 400, height: int = 60, grey: int = 215) -> bytes:
    """Return a picture with a dark bar."""
    row = b"\0" + bytes(60 if 20 < x < 60 else grey for x in range(width))

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    pixels = chunk(b"IDAT", zlib.compress(row * height))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + pixels + chunk(b"IEND", b"")


@dataclass
class ScannedClass:
    """A print of a quiz, and what was scanned of it."""

    site: Site
    record: PrintRecord
    quizzes: Mapping[str, Quiz]

    def copy(self, student: str) -> ExamCopy:
        return next(copy for copy in self.record.copies if copy.student == (student or None))

    def layout(self, student: str) -> SheetLayout:
        return SheetLayout.from_json(self.record.layout(self.copy(student)))

    def right(self, student: str) -> dict[int, str]:
        """Return right answers to all questions but those that are written in a box."""
        return {
            q.number: kind_of(part.type).right_responses(part)[0]
            for q in self.quizzes[student].questions
            for part in q.variant.parts[:1]
            if part.type not in ("token", "free_text")
        }

    def scan(
        self,
        student: str,
        answers: Mapping[int, str],
        *,
        unsure: Mapping[int, str] | None = None,
        written: Sequence[int] = (),
        name: str = "batch.pdf",
    ) -> None:
        """Store a sheet as it was read, with `unsure` bubbles and boxes in which something is written."""
        copy, layout = self.copy(student), self.layout(student)
        filled = [b for number, text in answers.items() for b in bubbles_of(layout, number, text)]
        open_ones = [b for number, text in (unsure or {}).items() for b in bubbles_of(layout, number, text)]
        for index, page in enumerate(layout.pages):
            shows = [
                tuple((b.question, b.entry, b.column, b.value) for b in chosen if b in page.bubbles)
                for chosen in (filled, open_ones)
            ]
            boxes = tuple(
                (box.question, box.entry, box.column)
                for box in page.boxes
                if box.column == -1 and layout.questions[box.question].number in written
            )
            fields = {b.question for b in open_ones if b in page.bubbles} | {box[0] for box in boxes}
            pictures = {str(field): base64.b64encode(png()).decode() for field in fields}
            content = hashlib.sha256(repr((shows, boxes)).encode()).hexdigest()
            self.site.store.scans.add_page(
                ScannedPage(
                    EXAM,
                    copy.number,
                    copy.sheet + index,
                    student or None,
                    content,
                    f"{name}, page {index + 1}",
                    shows[0],
                    shows[1],
                    boxes,
                    pictures,
                    now(),
                )
            )


def print_exam(
    site: Site, blueprint: str = BLUEPRINT, name: str = "midterm", *, spare: bool = False
) -> ScannedClass:
    """Draw a quiz for ada and bob, and write the record of its print; a spare copy is called ``SPARE``."""
    quizzes = {quiz.student: quiz for quiz in draw(site, blueprint, name, is_published=False)}
    fields = [sheet_fields(quiz.questions) for quiz in quizzes.values()]
    if spare:
        plan = read_blueprint(site.folder / "blueprints" / f"{name}.yaml")
        nobody = ["\x1fspare 1"]
        (drawn,) = compose(plan, site.bank, nobody, secret=site.course.secret(), name=name)
        quizzes[SPARE] = replace(drawn, student="")
        fields.append((student_number_question(3), *sheet_fields(drawn.questions)))
    layouts = [lay_out_sheet(of_copy) for of_copy in fields]
    copies = [
        ExamCopy(n, student or None, quiz.id, n - 1, n - 1, f"{n}.pdf", 4 + len(layout.pages), 5)
        for n, ((student, quiz), layout) in enumerate(zip(quizzes.items(), layouts, strict=True), start=1)
    ]
    record = PrintRecord(
        EXAM,
        name,
        "Midterm",
        "Attention",
        "a4",
        False,
        tuple(ExamVersion("", printed_questions(quiz.questions)) for quiz in quizzes.values()),
        tuple(layout.as_json() for layout in layouts),
        tuple(copies),
    )
    folder = site.folder / PRINTS_FOLDER / EXAM
    folder.mkdir(parents=True)
    if spare:
        write_spares(folder, {len(copies): quizzes[SPARE]})
    write_record(folder, record)
    return ScannedClass(site, record, quizzes)
