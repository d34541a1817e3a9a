"""Read a class's answers from YAML, and turn rows of answers into hand-ins for each student's own quiz.

A row is graded only if it is certain whose it is and which quiz it answers; a doubtful answer is a problem
to fix, never a zero.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from pathlib import Path, PurePath
from typing import Any

from engine.course import Roster
from engine.course.roster import student_of, suggest_student
from engine.errors import INTERNAL_FAULT_STEP, InputError, IntakeError, QuizError, internal_fault
from engine.hand_ins import (
    AnswerTable,
    FileKind,
    FilledQuiz,
    HandedFile,
    IntakeProblem,
    IntakeResult,
    StudentFiles,
)
from engine.intake.answer_rows import TABLES, AnswerRow, ClassAnswers, plain_table, read_table
from engine.intake.question_heads import Place, QuizQuestions, StoredQuizzes
from engine.intake.spreadsheet_cells import TimeColumn, damage
from engine.model import Quiz
from engine.quiz.quiz_file import typed
from engine.store import Store
from engine.text.words import agree, clean_line, count_noun
from engine.text.yaml import read_yaml
from engine.text.yaml_errors import Loc, YamlDocument

_YAML_STEP = "fix this entry, then grade again: what is graded is kept"


def read_class_yaml(path: Path, name: str) -> ClassAnswers:
    """Read the answers of a class.

    Either a mapping of students, each with a mapping of answers, or with a list of those where somebody
    handed in several times; ``quiz`` at the top names the quiz. Or a list of hand-ins, each a mapping that
    names the student (``student``, ``id``, ``email`` …) and perhaps ``quiz`` and ``handed``.

    Parameters
    ----------
    path : Path
    name : str
        Name as handed in, clean.

    Raises
    ------
    IntakeError
        It isn't YAML, or neither a list nor a mapping.
    """
    document = read_yaml(path, name, error=IntakeError, keep_going=True)
    reading = _YamlReading(document)
    if isinstance(document.data, dict):
        reading.mapping()
    elif isinstance(document.data, list):
        for at in range(len(document.data)):
            reading.take((at,), None)
    else:
        raise IntakeError.of_file(
            [document.diagnostic((), "expected a list of hand-ins, or one of students")]
        )
    return reading.result()


class _YamlReading:
    def __init__(self, document: YamlDocument) -> None:
        self._document = document
        self._rows: list[AnswerRow] = []
        self._heads: dict[str, int] = {}
        self._quiz = ""
        self._problems = [
            IntakeProblem(f"{fault.file}:{fault.line}", fault.message, _YAML_STEP)
            for fault in document.faults
        ]

    def result(self) -> ClassAnswers:
        rows = tuple(replace(row, quiz=row.quiz or self._quiz) for row in self._rows)
        return ClassAnswers(self._document.file, rows, self._heads, tuple(self._problems))

    def mapping(self) -> None:
        for key, value in self._document.data.items():
            if key == "quiz" and not isinstance(value, dict | list):
                self._quiz = self._document.written((key,))
            elif isinstance(value, list):
                for at in range(len(value)):
                    self.take((key, at), key)
            else:
                self.take((key,), key)

    def take(self, loc: Loc, student: str | None) -> None:
        """Take one hand-in; `student` is the key that it stands under, if it does."""
        line, _ = self._document.locate(loc, key=True)
        entry = self._document.value(loc)
        if not isinstance(entry, dict):
            self._refuse(line, "expected a mapping of answers, such as {1: b, softmax-weights: [0.3, 0.7]}")
            return
        cells = dict(self._cells(loc, entry))
        if student is not None:
            cells["id"] = student
        layout = plain_table(list(cells))
        if layout is None:
            self._refuse(line, "nothing in this entry says whose it is: it needs a line `student: ID`")
            return
        texts = list(cells.values())
        answers = {head: texts[at] for head, at in layout.questions.items()}
        self._heads |= {head: line for head in answers if head not in self._heads}
        self._rows.append(
            AnswerRow(
                line,
                {field: texts[at] for field, at in layout.who.items() if texts[at]},
                answers,
                quiz="" if layout.quiz is None else texts[layout.quiz],
                handed="" if layout.handed is None else texts[layout.handed],
            )
        )

    def _cells(self, loc: Loc, entry: dict[str, Any]) -> Iterator[tuple[str, str]]:
        for key, value in entry.items():
            if key == "answers" and isinstance(value, dict):
                yield from self._cells((*loc, key), value)
            else:
                yield key, typed(self._document, (*loc, key))

    def _refuse(self, line: int, message: str) -> None:
        self._problems.append(IntakeProblem(f"{self._document.file}:{line}", message, _YAML_STEP))


# One row against one student's quiz: which answer belongs to which question, and what isn't an answer.


@dataclass(frozen=True, slots=True)
class AnsweredQuiz:
    """What a row says to a quiz.

    Parameters
    ----------
    filled : FilledQuiz
        What can be marked.
    problems : tuple of (str, str)
        What can't, with the next step.
    strange : mapping of str to (str, str)
        Heads that aren't fields of this quiz, with what is wrong and the next step; whether anything is
        answered there or not.
    """

    filled: FilledQuiz
    problems: tuple[tuple[str, str], ...]
    strange: Mapping[str, tuple[str, str]]

    @property
    def is_blank(self) -> bool:
        """Whether nothing is answered."""
        return not any(text for parts in self.filled.answers.values() for text in parts.values())


def answer_quiz(quiz: Quiz, answers: Mapping[str, str]) -> AnsweredQuiz:
    """Return what a row says to a student's quiz.

    A question without a column isn't asked here; one with a damaged or doubtful answer isn't either, so
    that nobody gets 0 for what a spreadsheet did.

    Parameters
    ----------
    quiz : Quiz
        As stored.
    answers : mapping of str to str
        Head → text.
    """
    questions = QuizQuestions(quiz)
    answers_by_number: dict[int, dict[str, str]] = {}
    heads: dict[Place, str] = {}
    doubtful: set[int] = set()
    problems: list[tuple[str, str]] = []
    strange: dict[str, tuple[str, str]] = {}
    for head, text in answers.items():
        try:
            number, part = questions.find(head)
        except QuizError as error:
            # The error itself would keep the quiz in memory, by its traceback.
            strange[head] = error.what, error.next_step or ""
            continue
        parts = answers_by_number.setdefault(number, {})
        fault = damage(text) if text else None
        if fault is not None:
            doubtful.add(number)
            problems.append((f"question {number}: {fault}", "write what was typed into the cell, as text"))
        elif text and parts.get(part, text) not in (text, ""):
            doubtful.add(number)
            other = clean_line(heads[number, part], 60)
            label = clean_line(head, 60)
            problems.append((f"question {number} is answered twice, at {other!r} and {label!r}", "keep one"))
        if text or part not in parts:
            parts[part], heads[number, part] = text, head
    marked = {number: parts for number, parts in answers_by_number.items() if number not in doubtful}
    filled = FilledQuiz(quiz.id, marked, {}, questions=frozenset(marked))
    return AnsweredQuiz(filled, tuple(problems), strange)


_STEP = "fix it, then grade again: what is graded is kept"


def take_answers(
    intake: IntakeResult,
    store: Store,
    *,
    roster: Roster | None = None,
    quiz: str | None = None,
    zone: tzinfo = UTC,
    refuse_unlisted: bool = False,
) -> IntakeResult:
    """Make hand-ins of the tables of a collection.

    Parameters
    ----------
    intake : IntakeResult
    store : Store
        Holds everybody's quiz.
    roster : Roster, optional
        With it, rows are joined by id, login, email address or name.
    quiz : str, optional
        Name of the quiz that the tables answer, where their rows don't say it.
    zone : tzinfo
        Of times that name none.
    refuse_unlisted : bool
        Whether people who aren't in the roster are refused.

    Returns
    -------
    IntakeResult
        Without tables; every row of them is a hand-in, a problem, or ignored.

    Raises
    ------
    UsageError
        There is no quiz of the name asked for.
    """
    quizzes = StoredQuizzes(store, quiz)
    files = {student.student: list(student.files) for student in intake.students}
    labels = {student.student: student.label for student in intake.students}
    problems, ignored = list(intake.problems), list(intake.ignored)
    for table in intake.tables:
        taking = _Taking(table, quizzes, roster or Roster(), zone, refuse_unlisted)
        taking.run()
        for student, handed in taking.files.items():
            files.setdefault(student, []).extend(handed)
        problems += taking.problems
        ignored += taking.ignored
    students = tuple(StudentFiles(s, tuple(handed), labels.get(s, s)) for s, handed in sorted(files.items()))
    return replace(intake, students=students, problems=tuple(problems), ignored=tuple(ignored), tables=())


class _Taking:
    def __init__(
        self, table: AnswerTable, quizzes: StoredQuizzes, roster: Roster, zone: tzinfo, refuse_unlisted: bool
    ) -> None:
        self._table = table
        self._file = clean_line(table.name)
        self._quizzes = quizzes
        self._roster = roster
        self._zone = zone
        self._refuse_unlisted = refuse_unlisted
        self._answered: list[tuple[AnswerRow, str, AnsweredQuiz]] = []
        self.files: dict[str, list[HandedFile]] = {}
        self.problems: list[IntakeProblem] = []
        self.ignored: list[str] = []

    def run(self) -> None:
        try:
            read = read_table if self._table.path.suffix.lower() in TABLES else read_class_yaml
            answers = read(self._table.path, self._file)
        except InputError as error:
            self.problems += _unread(error, self._file)
            return
        except Exception as error:  # no reader may do that: one table never stops the others
            self.problems.append(
                IntakeProblem(self._file, f"not read: {internal_fault(error)}", INTERNAL_FAULT_STEP)
            )
            return
        self.problems += answers.problems
        self.ignored += answers.ignored
        usual = self._quizzes.usual(PurePath(self._table.name).stem)
        if answers.rows and usual is None and not any(row.quiz for row in answers.rows):
            message = "nothing says which quiz this answers: no row of it is graded"
            self.problems.append(IntakeProblem(self._file, message, self._quizzes.step))
            return
        for row in answers.rows:
            self._find(row, usual)
        self._hand_in([row.handed for row in answers.rows if row.handed])
        self._tell_strange(answers)

    def _find(self, row: AnswerRow, usual: str | None) -> None:
        student: str | None = None
        try:
            student = student_of(row.who, self._roster, refuse_unlisted=self._refuse_unlisted)
            quiz = self._quizzes.of(student, row.quiz, usual)
        except InputError as error:
            step = error.next_step
            if student is not None and step is None:  # no quiz: perhaps the id isn't right
                step = _step_without_quiz(student, self._roster)
            is_known = student in self._roster.by_id or not self._roster.students
            self._refuse(row, error.what, step or "", student if is_known else None)
            return
        try:
            answered = answer_quiz(quiz, row.answers)
        except Exception as error:  # one row never stops the others
            self._refuse(row, f"not graded: {internal_fault(error)}", INTERNAL_FAULT_STEP, student)
            return
        for message, step in answered.problems:
            self._refuse(row, message, step, student)
        self._answered.append((row, student, answered))

    def _hand_in(self, times: list[str]) -> None:
        # In the order of their times: which attempt counts goes by it.
        moments = TimeColumn(times, self._zone)
        timeless: list[AnswerRow] = []
        for row, student, answered in self._answered:
            if answered.is_blank:
                self._tell_blank(row, student, answered)
                continue
            handed = moments.read(row.handed) if row.handed else None
            if row.handed and handed is None:
                timeless.append(row)
            self.files.setdefault(student, []).append(self._file_of(row, answered, handed))
        for student, files in self.files.items():
            files.sort(key=lambda file: file.handed or datetime.max.replace(tzinfo=UTC))
            self.files[student] = [replace(file, sequence=at) for at, file in enumerate(files)]
        self._tell_timeless(timeless)

    def _file_of(self, row: AnswerRow, answered: AnsweredQuiz, handed: datetime | None) -> HandedFile:
        canonical = json.dumps([answered.filled.quiz, answered.filled.answers], sort_keys=True)
        return HandedFile(
            self._table.path,
            f"{self._file}:{row.line}",
            FileKind.QUIZ,
            None,
            hashlib.sha256(canonical.encode("ascii")).hexdigest(),
            handed=handed,
            filled=answered.filled,
            known_as=(f"quiz {answered.filled.quiz}",),
        )

    def _tell_blank(self, row: AnswerRow, student: str, answered: AnsweredQuiz) -> None:
        # A student who was absent has a row without answers in many tables.
        if answered.problems:
            return
        if any(row.answers.values()):
            self._refuse(
                row,
                "nothing in this row answers a question of the quiz",
                "check the column headings",
                student,
            )
        else:
            self.ignored.append(f"{self._file}:{row.line}: no answer in this row")

    def _tell_strange(self, answers: ClassAnswers) -> None:
        # Once for each head, not for each student; somebody else's question is reported for each row.
        known = {
            head
            for row, _, answered in self._answered
            for head in row.answers
            if head not in answered.strange
        }
        lost: Counter[tuple[str, str, str]] = Counter()
        for row, student, answered in self._answered:
            for head, (fault, step) in answered.strange.items():
                if head not in known:
                    lost[head, fault, step] += bool(row.answers[head])
                elif row.answers[head]:
                    message = f"{clean_line(head, 60)!r}: {fault} of this student"
                    self._refuse(row, message, "find out whose answers these are", student)
        for (head, fault, step), count in lost.items():
            marked = f"{count_noun(count, 'answer')} {agree(count, 'are')}n't"
            where = f"{self._file}:{answers.heads[head]}"
            message = f"{clean_line(head, 60)!r}: {fault}; {marked} marked"
            self.problems.append(IntakeProblem(where, message, step))

    def _tell_timeless(self, rows: list[AnswerRow]) -> None:
        if not rows:
            return
        first = rows[0]
        which = "this row was" if len(rows) == 1 else f"this row and {len(rows) - 1} more were"
        message = f"when {which} handed in can't be read ({clean_line(first.handed, 40)!r})"
        step = (
            "graded without a time, so that no rule about late work applies; write 2026-03-01 14:30 next time"
        )
        self.problems.append(IntakeProblem(f"{self._file}:{first.line}", message, step))

    def _refuse(self, row: AnswerRow, message: str, step: str, student: str | None) -> None:
        self.problems.append(IntakeProblem(f"{self._file}:{row.line}", message, step, student))


def _unread(error: InputError, file: str) -> list[IntakeProblem]:
    if error.diagnostics:
        return [IntakeProblem(f"{d.file}:{d.line}", d.message, _STEP) for d in error.diagnostics]
    expected = f"expected {error.expected}" if error.expected else ""
    return [IntakeProblem(error.where or file, error.what, error.next_step or expected)]


def _step_without_quiz(student: str, roster: Roster) -> str:
    if roster.students and student not in roster.by_id:
        return f"nobody in the roster has this id: {suggest_student(student, roster)}"
    return "draw it for this student: grade quiz new"
