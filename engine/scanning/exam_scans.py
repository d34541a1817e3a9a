"""Scanned pages of a print put together: what each copy says, what is missing, and what a person must decide.

A copy is handed in only when every field of it is certain or decided, none of its pages is missing, and its
student is known and has no other copy. Everything else waits, with its reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from engine.answers import kind_of
from engine.course import Roster
from engine.errors import PaperError
from engine.model import Part, Quiz
from engine.paper.print_record import ExamCopy, PrintedExams, PrintRecord
from engine.paper.sheet_layout import SheetLayout, SheetQuestion
from engine.paper.sheet_questions import SheetFieldKind
from engine.scanning.field_texts import FieldText, field_text, is_read_on_paper, marks_in_field
from engine.store import Store
from engine.store.scans import ScanDecision, ScannedPage
from engine.text.words import count_noun, join_words

STUDENT_FIELD = "student"
"""The field of a decision that says whose a spare copy is."""
COPY_FIELD = "copy"
"""The field of a decision that says that a copy doesn't count: its text is :data:`VOID`."""
VOID = "void"


@dataclass(frozen=True, slots=True)
class SheetField:
    """One field of a scanned copy.

    Parameters
    ----------
    name : str
        As decisions name it: ``"3/answer"``, or ``"student"``.
    question : SheetQuestion
    text : str
        What counts, or the best guess where a person must look.
    reason : str or None
        Why a person must look; None where it is certain or decided.
    pages : tuple of int
        Where it stands.
    pictures : tuple of str
        PNG files in base64.
    decision : ScanDecision or None
        The one that holds.
    on_paper : bool
        Whether its marker reads it on the sheet; ``text`` then says where.
    doubtful : frozenset of int
        In which of its rows or numbers bubbles are unsure.
    """

    name: str
    question: SheetQuestion
    text: str
    reason: str | None
    pages: tuple[int, ...]
    pictures: tuple[str, ...] = ()
    decision: ScanDecision | None = None
    on_paper: bool = False
    doubtful: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class ScannedCopy:
    """A copy of which something was scanned.

    Parameters
    ----------
    copy : ExamCopy
    student : str or None
        None where a spare copy's student isn't known.
    fields : tuple of SheetField
    waits : tuple of str
        Why it isn't handed in, but for its fields: missing pages, another copy of its student.
    is_void : bool
        Somebody decided that it doesn't count.
    notes : tuple of str
        What was settled by itself: a page that was scanned twice with the same content.
    asks : mapping of str to str
        Those of `waits` that a decision about the whole copy ends, by the field that it names:
        :data:`STUDENT_FIELD` or :data:`COPY_FIELD`.
    decisions : int
        How many decisions about it had been made when it was put together, undone ones and undoings counted.
    """

    copy: ExamCopy
    student: str | None
    fields: tuple[SheetField, ...]
    waits: tuple[str, ...] = ()
    is_void: bool = False
    notes: tuple[str, ...] = ()
    asks: Mapping[str, str] = field(default_factory=dict)
    decisions: int = 0

    @property
    def open_fields(self) -> list[SheetField]:
        """The fields that a person must look at."""
        return [item for item in self.fields if item.reason is not None]

    @property
    def is_ready(self) -> bool:
        """Whether it can be handed in."""
        return not self.is_void and not self.waits and not self.open_fields and self.student is not None

    def answers(self) -> dict[int, dict[str, str]]:
        """Return the answers by question and part."""
        answers: dict[int, dict[str, str]] = {}
        for item in self.fields:
            if item.question.kind is not SheetFieldKind.STUDENT:
                answers.setdefault(item.question.number, {})[item.question.part] = item.text
        return answers

    def on_paper(self, exam: str) -> dict[int, dict[str, str]]:
        """Return the places of answers that their markers read on the sheet, by question and part."""
        places: dict[int, dict[str, str]] = {}
        for item in self.fields:
            if item.on_paper:
                place = f"{exam}/{self.copy.number}/{item.name}"
                places.setdefault(item.question.number, {})[item.question.part] = place
        return places


def place_words(questions: Iterable[SheetQuestion], name: str) -> str:
    """Return what the paper calls a field that decisions name: its questions may have changed places."""
    if name == STUDENT_FIELD:
        return "student number"
    question = next((question for question in questions if field_name(question) == name), None)
    return "the whole copy" if question is None else f"question {question.label}"


def field_name(question: SheetQuestion) -> str:
    """Return what decisions call a field."""
    if question.kind is SheetFieldKind.STUDENT:
        return STUDENT_FIELD
    return f"{question.number}/{question.part}"


@dataclass
class CopyQuizzes:
    """The quizzes of a print's copies, read from the store when they are needed."""

    store: Store
    _parts: dict[str, Mapping[tuple[int, str], Part]] = field(default_factory=dict)

    def quiz(self, copy: ExamCopy, student: str | None = None) -> Quiz | None:
        """Return the stored quiz of a copy, None for a spare whose quiz isn't stored."""
        return self.store.load_quiz(copy.quiz, student or copy.student)

    def parts(self, exam: str, copy: ExamCopy) -> Mapping[tuple[int, str], Part]:
        """Return the parts that a copy's fields ask, by question and part; empty where they aren't known."""
        key = f"{exam}/{copy.number}"
        if key not in self._parts:
            # A class's quizzes don't fit into memory for nothing: pages mostly come copy by copy.
            if len(self._parts) > 64:
                self._parts.clear()
            quiz = self.quiz(copy)
            questions = () if quiz is None else quiz.questions
            self._parts[key] = {(q.number, part.id): part for q in questions for part in q.variant.parts}
        return self._parts[key]


class ExamScans:
    """What was scanned of one print, and what was decided about it.

    Parameters
    ----------
    exam : str
    exams : PrintedExams
    store : Store
    quizzes : CopyQuizzes
    roster : Roster
    only : collection of int, optional
        The copies to read; all of them by default.
    handed_in : mapping of int to str, optional
        Students of copies that aren't read because they are handed in: another sheet of theirs waits.
    """

    def __init__(
        self,
        exam: str,
        exams: PrintedExams,
        store: Store,
        quizzes: CopyQuizzes,
        roster: Roster,
        *,
        only: Collection[int] | None = None,
        handed_in: Mapping[int, str] | None = None,
    ) -> None:
        self.exam = exam
        self.record: PrintRecord = exams.record(exam)
        self._exams, self._quizzes, self._roster = exams, quizzes, roster
        self._handed_in = handed_in or {}
        self._pages: dict[int, dict[int, list[ScannedPage]]] = {}
        for page in store.scans.pages(exam, only):
            self._pages.setdefault(page.copy, {}).setdefault(page.page, []).append(page)
        self._decisions: dict[tuple[int, str], ScanDecision] = {}
        self._count: Counter[int] = Counter()
        for decision in store.scans.decisions(exam):
            self._count[decision.copy] += 1
            # Oldest first: what was undone is open again until somebody decides anew.
            self._decisions.pop((decision.copy, decision.field), None)
            if not decision.withdrawn:
                self._decisions[decision.copy, decision.field] = decision

    @property
    def decided(self) -> list[tuple[int, str]]:
        """Copy and field of every decision that holds."""
        return list(self._decisions)

    def decision(self, copy: int, name: str) -> ScanDecision | None:
        """Return the decision about a field that holds."""
        return self._decisions.get((copy, name))

    def place_words(self, copy: int, name: str) -> str:
        """Return what the paper calls a field of a copy, whether it was scanned or not."""
        printed = self.record.copy(copy)
        questions = () if printed is None else self._exams.layout(self.exam, printed).questions
        return place_words(questions, name)

    def item_of(self, copy: int, name: str) -> str:
        """Return the item that a field of a copy asks; empty where it is about the copy itself."""
        number, _, _ = name.partition("/")
        printed = self.record.copy(copy)
        questions = () if printed is None else self.record.version(printed).questions
        return next((question.item for question in questions if str(question.number) == number), "")

    @cached_property
    def copies(self) -> tuple[ScannedCopy, ...]:
        """Every copy of which a page was scanned, by number."""
        scanned = [self._scanned(copy) for copy in self.record.copies if copy.number in self._pages]
        return tuple(self._with_rivals(scanned, self._handed_in))

    @property
    def unseen(self) -> list[ExamCopy]:
        """The copies of students of whom no page was scanned: absent, or still in a pile."""
        # Who was given a spare copy instead isn't looked for.
        seen = {item.student for item in self.copies if not item.is_void} | set(self._handed_in.values())
        return [
            c
            for c in self.record.copies
            if not c.is_spare and c.number not in self._pages and c.student not in seen
        ]

    def _scanned(self, copy: ExamCopy) -> ScannedCopy:
        layout = self._exams.layout(self.exam, copy)
        pages = self._pages[copy.number]
        fields = tuple(self._fields(copy, layout, pages))
        missing = [copy.sheet + i for i in range(len(layout.pages)) if copy.sheet + i not in pages]
        waits = []
        if missing:
            waits.append(f"page {join_words(map(str, missing))} of {copy.pages} is missing")
        notes = [
            f"page {number} was scanned {count_noun(len(scans), 'time')} with different marks"
            for number, scans in sorted(pages.items())
            if len(scans) > 1
        ]
        student, why = self._student(copy, fields)
        waits += [why] if why else []
        # Where bubbles of the number are unclear, the field itself is asked for.
        is_open = any(item.name == STUDENT_FIELD and item.reason for item in fields)
        asks = {STUDENT_FIELD: why} if why and not is_open else {}
        void = self._decisions.get((copy.number, COPY_FIELD))
        is_void = void is not None and void.text == VOID
        decisions = self._count[copy.number]
        return ScannedCopy(copy, student, fields, tuple(waits), is_void, tuple(notes), asks, decisions)

    def _student(self, copy: ExamCopy, fields: Iterable[SheetField]) -> tuple[str | None, str | None]:
        if copy.student is not None:
            return copy.student, None
        text = next((item.text for item in fields if item.name == STUDENT_FIELD and not item.reason), "")
        if not text:
            return None, "whose it is isn't known"
        students = [text] if text in self._roster.by_id else list(self._roster.match_cell(text))
        if not students:
            return None, f"nobody in the roster has the student number {text}"
        if len(students) > 1:
            return None, f"{count_noun(len(students), 'student')} of the roster may have the number {text}"
        return students[0], None

    def _fields(
        self, copy: ExamCopy, layout: SheetLayout, pages: Mapping[int, Sequence[ScannedPage]]
    ) -> Iterator[SheetField]:
        parts = self._quizzes.parts(self.exam, copy)
        for index, question in enumerate(layout.questions):
            places = [
                copy.sheet + i
                for i, page in enumerate(layout.pages)
                if any(b.question == index for b in page.bubbles)
                or any(b.question == index for b in page.boxes)
            ]
            scans = [pages[place] for place in places if place in pages]
            name = field_name(question)
            decision = self.decision(copy.number, name)
            pictures = tuple(
                scan.pictures[str(index)]
                for of_page in scans
                for scan in of_page
                if str(index) in scan.pictures
            )
            if decision is not None:
                yield SheetField(name, question, decision.text, None, tuple(places), pictures, decision)
                continue
            if len(scans) < len(places):
                # The copy waits for its page anyway; half a vector says nothing.
                yield SheetField(name, question, "", None, tuple(places), pictures)
                continue
            read = self._read(index, question, scans, parts)
            if read.reason is not None and not parts and self._waits_for_marker(copy, question):
                # Of a spare copy of nobody only the print says what it asks; its marker will see the sheet.
                read = FieldText("", on_paper=True)
            text = read.text
            if read.on_paper:
                text = f"on paper: copy {copy.number}, page {join_words(map(str, places))}"
            yield SheetField(
                name,
                question,
                text,
                read.reason,
                tuple(places),
                pictures,
                on_paper=read.on_paper,
                doubtful=read.doubtful,
            )

    def _waits_for_marker(self, copy: ExamCopy, question: SheetQuestion) -> bool:
        """Return whether the print says that people mark a field by what is written on the sheet."""
        parts = [
            part
            for printed in self.record.version(copy).questions
            if printed.number == question.number
            for part in printed.parts
            if part.id == question.part
        ]
        return any(kind_of(part.type).needs_person for part in parts)

    @staticmethod
    def _read(
        index: int,
        question: SheetQuestion,
        scans: Sequence[Sequence[ScannedPage]],
        parts: Mapping[tuple[int, str], Part],
    ) -> FieldText:
        part = parts.get((question.number, question.part))
        scans = [_clear_scans(of_page) for of_page in scans]
        for of_page in scans:
            if len({marks_in_field(index, s.filled, s.unsure, s.written) for s in of_page}) > 1:
                if is_read_on_paper(part):  # its marker sees both
                    return FieldText("", on_paper=True)
                sources = join_words([scan.source for scan in of_page], "and", 3)
                return FieldText("", f"scans of its page differ here: {sources}")
        newest = [of_page[-1] for of_page in scans]
        marks = marks_in_field(
            index,
            tuple(bubble for scan in newest for bubble in scan.filled),
            tuple(bubble for scan in newest for bubble in scan.unsure),
            tuple(box for scan in newest for box in scan.written),
        )
        marks = replace(marks, is_faint=any(scan.is_faint for scan in newest))
        return field_text(question, marks, part)

    @staticmethod
    def _with_rivals(copies: Sequence[ScannedCopy], handed_in: Mapping[int, str]) -> Iterator[ScannedCopy]:
        """Yield the copies, those of one student with why they wait."""
        of_student: dict[str, list[int]] = {}
        for number, student in sorted(handed_in.items()):
            of_student.setdefault(student, []).append(number)
        for item in copies:
            if item.student is not None and not item.is_void:
                of_student.setdefault(item.student, []).append(item.copy.number)
        for item in copies:
            rivals = [n for n in of_student.get(item.student or "", []) if n != item.copy.number]
            if not rivals or item.is_void:
                yield item
                continue
            why = f"its student handed in copy {join_words(map(str, rivals))} too"
            yield replace(item, waits=(*item.waits, why), asks={**item.asks, COPY_FIELD: why})


def place_pictures(place: str, exams: PrintedExams, store: Store) -> list[str]:
    """Return the pictures of an answer on paper, as PNG files in base64; none where they aren't there.

    Parameters
    ----------
    place : str
        ``PRINT/COPY/FIELD``, as :attr:`engine.model.Response.on_paper` names it.
    exams : PrintedExams
    store : Store
    """
    exam, _, rest = place.partition("/")
    number, _, name = rest.partition("/")
    if exam not in exams or not number.isdecimal():
        return []
    try:
        copy = exams.record(exam).copy(int(number))
        questions = () if copy is None else exams.layout(exam, copy).questions
    except PaperError:
        # A damaged record must not keep anybody from marking with the paper in hand.
        return []
    fields = {str(i) for i, question in enumerate(questions) if field_name(question) == name}
    pages = sorted(store.scans.pages(exam, [int(number)]), key=lambda page: page.page)
    return [picture for page in pages for field, picture in page.pictures.items() if field in fields]


def _clear_scans(scans: Sequence[ScannedPage]) -> Sequence[ScannedPage]:
    """Return scans of a page without those that lose light marks, where another one shows all of theirs."""
    clear = [scan for scan in scans if not scan.is_faint]
    if not clear:
        return scans
    certain = {bubble for scan in clear for bubble in (*scan.filled, *scan.unsure)}
    return [scan for scan in scans if not scan.is_faint or not certain.issuperset(scan.filled)]
