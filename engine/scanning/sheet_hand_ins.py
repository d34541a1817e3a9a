"""Answer sheets decided about and handed in: graded, credited and stored as answers that were typed.

``grade scan`` and the site do it here, so that a decision means the same wherever it is made.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from engine.course import Roster
from engine.errors import QuizError, UsageError
from engine.hand_ins import FilledQuiz
from engine.model import Mode, Part, Quiz, Variant
from engine.paper.exam_draws import assign_spare
from engine.paper.print_record import ExamCopy, PrintedExams
from engine.paper.sheet_questions import SheetQuestion
from engine.quiz.hand_in import hand_in
from engine.scanning.exam_scans import STUDENT_FIELD, CopyQuizzes, ExamScans, ScannedCopy
from engine.scanning.open_places import OpenPlace, PlaceToDecide, decision_of
from engine.store import ArrivalInfo, Store
from engine.store.scans import ScanDecision
from engine.text.words import plain_points


@dataclass(frozen=True, slots=True)
class HandedSheet:
    """What became of one copy: handed in now, before, or why not."""

    copy: ScannedCopy
    was_handed: bool = False
    is_new: bool = False
    reason: str | None = None
    score: str = ""

    def subject(self, exam: str) -> str:
        """Return what the course's log says of it."""
        return f"print {exam}, copy {self.copy.copy.number}"


def hand_in_sheet(
    store: Store,
    quizzes: CopyQuizzes,
    scanned: ScannedCopy,
    exam: str,
    *,
    mode: Mode,
    now: datetime,
    written: datetime | None,
) -> HandedSheet:
    """Grade and record a copy that is ready, unless it was handed in before: a second run changes nothing.

    Parameters
    ----------
    store : Store
    quizzes : CopyQuizzes
    scanned : ScannedCopy
    exam : str
        Id of its print.
    mode : Mode
    now : datetime
    written : datetime or None
        When the exam was written. Otherwise it counts as handed in now, and in time where the quiz has a
        deadline: paper is handed in in the room.
    """
    assert scanned.student is not None, "a copy of nobody isn't ready"
    quiz = quizzes.quiz(scanned.copy, scanned.student)
    if quiz is None:
        # The quiz of a spare copy is stored for its student once nothing but its fields is open.
        if scanned.copy.is_spare and scanned.waits:
            return HandedSheet(scanned)
        return HandedSheet(scanned, reason="its quiz isn't in the store: was another store used to print it?")
    if is_handed_in(store, quiz, mode):
        return HandedSheet(scanned, was_handed=True)
    if not scanned.is_ready:
        return HandedSheet(scanned, reason=None)
    answers = scanned.answers()
    known = {question.number: {part.id for part in question.variant.parts} for question in quiz.questions}
    odd = [number for number, parts in answers.items() if not set(parts) <= known.get(number, set())]
    if odd:
        return HandedSheet(scanned, reason=f"its quiz has no question {odd[0]} as it was printed")
    deadline = quiz.rules.deadline
    moment = written or (min(now, deadline) if deadline is not None else now)
    on_paper = scanned.on_paper(exam)
    filled = FilledQuiz(quiz.id, answers, {}, {}, frozenset(answers), on_paper)
    try:
        result = hand_in(
            store,
            quiz,
            filled,
            mode=mode,
            started=now,
            filename=f"copy {scanned.copy.number} on paper",
            arrival=ArrivalInfo(handed=moment),
        )
    except QuizError as error:
        return HandedSheet(scanned, reason=error.what)
    if not result.recorded:
        return HandedSheet(scanned, reason="an answer on it can't be read")
    scores = [report.score for report in result.reports]
    earned = [score for score in scores if score is not None]
    most = sum(report.max_score for report in result.reports)
    open_count = len(scores) - len(earned)
    score = f"{plain_points(sum(earned))} of {plain_points(most)}"
    return HandedSheet(
        scanned, is_new=True, score=f"{score}, {open_count} to be marked" if open_count else score
    )


def is_handed_in(store: Store, quiz: Quiz, mode: Mode) -> bool:
    """Return whether answers to a student's quiz are recorded."""
    attempts = store.attempts(student=quiz.student, quiz=quiz.id, mode=mode)
    return next(iter(attempts), None) is not None


class ScannedCourse:
    """What was scanned in a course: places are decided and copies handed in here, by commands and the site.

    Parameters
    ----------
    store : Store
    exams : PrintedExams
    roster : Roster
    mode : Mode
    """

    def __init__(self, store: Store, exams: PrintedExams, roster: Roster, mode: Mode) -> None:
        self.store, self.exams, self.roster, self.mode = store, exams, roster, mode
        self.quizzes = CopyQuizzes(store)

    def scanned_exams(self) -> list[str]:
        """Return the prints of this course of which something was scanned."""
        return [exam for exam in self.store.scans.exams() if exam in self.exams]

    def scans(self, exam: str) -> ExamScans:
        """Return all that was scanned of a print."""
        return ExamScans(exam, self.exams, self.store, self.quizzes, self.roster)

    def waiting(self, exam: str, about: int | None = None) -> ExamScans:
        """Return what was scanned of the copies that aren't handed in.

        Parameters
        ----------
        exam : str
        about : int, optional
            Only this copy, and those that may be of the same student.
        """
        record, owners = self.exams.record(exam), self.store.scans.owners(exam)
        answered = self.store.sittings.answered(self.mode)
        handed = {
            copy.number: student
            for copy in record.copies
            if (student := copy.student or owners.get(copy.number)) and (copy.quiz, student) in answered
        }
        numbers = set(owners) - set(handed)
        # A copy that wasn't scanned, and whose quiz was answered elsewhere, is no other sheet.
        handed = {number: student for number, student in handed.items() if number in owners}
        if about is None:
            return self._scans_of(exam, numbers, handed)
        # Whose a spare copy is stands on it: each of them may be of the same student.
        near = numbers & {about, *(copy.number for copy in record.copies if copy.is_spare)}
        students = {item.student for item in self._scans_of(exam, near, handed).copies} - {None}
        near |= numbers & {copy.number for copy in record.copies if copy.student in students}
        return self._scans_of(exam, near, handed)

    def _scans_of(self, exam: str, numbers: Collection[int], handed: Mapping[int, str]) -> ExamScans:
        return ExamScans(
            exam, self.exams, self.store, self.quizzes, self.roster, only=numbers, handed_in=handed
        )

    def question(self, scanned: ScannedCopy, question: SheetQuestion) -> tuple[Variant | None, Part | None]:
        """Return what a field of a copy asks; None where its quiz isn't in the store."""
        quiz = self.quizzes.quiz(scanned.copy, scanned.student)
        questions = () if quiz is None else quiz.questions
        variant = next((q.variant for q in questions if q.number == question.number), None)
        parts = () if variant is None else variant.parts
        return variant, next((part for part in parts if part.id == question.part), None)

    def newest_decision(self, exam: str, copy: int, field: str) -> ScanDecision | None:
        """Return the decision about a field that holds, whether its copy is handed in or not."""
        about = [d for d in self.store.scans.decisions(exam, copy) if d.field == field]
        return about[-1] if about and not about[-1].withdrawn else None

    def checked(
        self, place: OpenPlace, scans: ExamScans, *, by: str, at: datetime, where: str | None = None
    ) -> ScanDecision:
        """Return a decision as it is stored, if it can be made.

        Parameters
        ----------
        place : OpenPlace
            With what is decided.
        scans : ExamScans
            In which its copy is.
        by : str
            Who decides.
        at : datetime
        where : str, optional
            Where it was written, for messages.

        Raises
        ------
        UsageError
            The place isn't there, its copy is handed in, or its text can't be read as an answer.
        """
        copy = scans.record.copy(place.copy)
        parts = self.quizzes.parts(place.exam, copy) if copy is not None else {}
        if copy is not None:
            self._refuse_handed_in(copy, None, where)
        try:
            return decision_of(place, scans, parts, self.roster, by, at)
        except ValueError as error:
            raise UsageError(f"this can't be decided: {error}", where=where) from error

    def _refuse_handed_in(self, copy: ExamCopy, student: str | None, where: str | None) -> None:
        quiz = self.quizzes.quiz(copy, student)
        if quiz is not None and is_handed_in(self.store, quiz, self.mode):
            raise UsageError(
                f"copy {copy.number} is handed in already",
                where=where,
                next_step="correct its marks by hand: grade mark set",
            )

    def undone(
        self, place: PlaceToDecide, *, by: str, at: datetime, where: str | None = None
    ) -> ScanDecision:
        """Return what takes back the decision about a place of a copy that waits.

        Raises
        ------
        UsageError
            Nothing was decided about it, or its copy is handed in; or it says whose the copy is, and the
            copy's quiz is that student's by now.
        """
        copy, student = place.scanned.copy, place.scanned.student
        self._refuse_handed_in(copy, student, where)
        if place.decision is None:
            raise UsageError("nothing is decided about this place", where=where)
        if place.field == STUDENT_FIELD and student and self.quizzes.quiz(copy, student) is not None:
            raise UsageError(
                f"copy {copy.number} was given to its student with this decision, which can't be undone",
                where=where,
                next_step="if it is another student's, decide that it doesn't count, and mark it by hand",
            )
        return ScanDecision(place.exam, copy.number, copy.student, place.field, "", by, at, withdrawn=True)

    def with_spares(self, scans: ExamScans, about: int | None = None) -> ExamScans:
        """Give the quizzes of spare copies to the students whose numbers are on them, and read them again.

        Only then it is known what their fields ask, and so whether their answers can be read.
        """
        spares = [item for item in scans.copies if item.copy.is_spare and not item.waits and not item.is_void]
        for item in spares:
            assert item.student is not None, "a copy of nobody waits"
            with self.store.one_transaction():
                assign_spare(self.store, self.exams.folder(scans.exam), item.copy, item.student)
                self.store.scans.name_student(scans.exam, item.copy.number, item.student)
        if not spares:
            return scans
        self.quizzes = CopyQuizzes(self.store)
        return self.scans(scans.exam) if about is None else self.waiting(scans.exam, about)

    def hand_in(
        self, exam: str, scanned: ScannedCopy, now: datetime, written: datetime | None
    ) -> HandedSheet:
        """Grade and record a copy that is ready, in the caller's transaction: :func:`hand_in_sheet`."""
        quiz = self.quizzes.quiz(scanned.copy, scanned.student)
        if scanned.is_ready and quiz is not None and not is_handed_in(self.store, quiz, self.mode):
            # The command reads a whole class before it hands in: a marker may have undone something since.
            self.store.scans.hold(exam, scanned.copy.number)
            if len(self.store.scans.decisions(exam, scanned.copy.number)) != scanned.decisions:
                return HandedSheet(scanned, reason="somebody has decided about it just now: scan again")
        return hand_in_sheet(
            self.store, self.quizzes, scanned, exam, mode=self.mode, now=now, written=written
        )

    def hand_in_after(self, decision: ScanDecision, now: datetime) -> list[HandedSheet]:
        """Hand in what a decision was the last obstacle to, and return what became of the copies about it."""
        scans = self.waiting(decision.exam, decision.copy)
        scans = self.with_spares(scans, decision.copy)
        ready = [item for item in scans.copies if not item.is_void and item.student is not None]
        return [self.hand_in(decision.exam, item, now, None) for item in ready]
