"""Grade one file of a class: read it, mark it, store it. A file that fails never stops the others.

A fault of the student's file becomes a problem with a next step; a fault of ours leaves the file ungraded, so
that the next run tries it again. Neither ever becomes a 0.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from engine.errors import (
    EngineError,
    InputError,
    ProgramSetAsideError,
    StoreError,
    SubmissionError,
    UnstorableError,
    internal_fault,
)
from engine.hand_ins import FileKind, FilledQuiz, HandedFile, IntakeProblem
from engine.intake import read_code_file
from engine.model import CodeSubmission, GradeReport, Mode, Outcome, Quiz, QuizQuestion, Response
from engine.runner import Runner
from engine.runs.code_exercises import CodeExercises
from engine.store import (
    ArrivalInfo,
    Attempt,
    Store,
    SubmissionKey,
    quiz_responses,
    response_sha256,
)
from engine.text.files import read_hand_in
from engine.text.words import agree


@dataclass(frozen=True, slots=True)
class FileResult:
    """The result of grading one file; with neither reason nor problem it was graded now.

    Parameters
    ----------
    student : str
    file : HandedFile
    was_graded : bool
        An earlier run had graded it.
    reason : str or None
        Why it is ungraded now.
    problem : IntakeProblem or None
        Why it can't be graded as it is.
    again : bool
        It was ungraded before, too.
    set_aside : bool
        It isn't tried any more.
    to_mark : int
        Answers in it that a person must mark; the machine has done its part.
    """

    student: str
    file: HandedFile
    was_graded: bool = False
    reason: str | None = None
    problem: IntakeProblem | None = None
    again: bool = False
    set_aside: bool = False
    to_mark: int = 0


_AGAIN = "ungraded before, too; look at the file, its own code may be the cause"
_MEND = "fix the file and hand it in again; this cost no attempt"
_SET_ASIDE = (
    "the grader was killed each time that it graded this file (perhaps by the kernel when memory ran out), "
    "so it is set aside; look at it, and mark it by hand: grade mark set"
)
_TRY_AGAIN = (
    "if it was a person who killed the grader, delete the file being-graded.jsonl: then it is tried again"
)
_BEHIND = (
    "a quiz file that was handed in before this one is set aside, and what an answer earns depends on those "
    "before it; take that file out, or mark this one by hand: grade mark set"
)


@dataclass(frozen=True, slots=True)
class JudgedProgram:
    """A program with its report, wherever that was made.

    Parameters
    ----------
    student : str
    submission : CodeSubmission
    report : GradeReport
    reason : str or None
        Why it has no score or can't be read.
    started : datetime
        When grading began.
    arrival : ArrivalInfo
    """

    student: str
    submission: CodeSubmission
    report: GradeReport
    reason: str | None
    started: datetime
    arrival: ArrivalInfo

    @classmethod
    def of_file(
        cls,
        student: str,
        file: HandedFile,
        submission: CodeSubmission,
        report: GradeReport,
        started: datetime,
    ) -> JudgedProgram:
        """Return the program in a file with its report."""
        return cls(student, submission, report, why_no_score(report), started, _arrival(file))

    @property
    def key(self) -> SubmissionKey:
        """By which the store knows it."""
        return self.student, self.report.item, self.submission.sha256


def why_no_score(report: GradeReport) -> str | None:
    """Return why a program has no score or can't be read; None where it has a score."""
    if report.outcome is Outcome.UNGRADED:
        return "; ".join(report.notes) or "no reason was given"
    if report.outcome is Outcome.FORMAT_ERROR:
        return next((check.message for check in report.checks if check.message), "it can't be read")
    return None


@dataclass(frozen=True, slots=True)
class FileGrader:
    """Everything that grading one file needs; shared by all threads."""

    store: Store
    code: CodeExercises
    mode: Mode

    def grade(self, student: str, file: HandedFile, runner: Runner | None) -> FileResult:
        """Grade one file and store the result.

        Raises
        ------
        StoreError
            The result can't be stored, so there is no sense in going on.
        """
        try:
            if file.kind is FileKind.QUIZ:
                return self._grade_quiz(student, file)
            if file.kind is FileKind.ANSWERS:
                return self._grade_answers(student, file)
            assert file.item is not None and runner is not None
            return self._grade_code(student, file, file.item, runner)
        except UnstorableError as error:  # this one attempt doesn't fit; the store itself works
            return FileResult(student, file, reason=internal_fault(error))
        except StoreError:
            raise
        except Exception as error:  # the last net: one file never stops the others
            return FileResult(student, file, reason=internal_fault(error))

    def set_aside(self, student: str, file: HandedFile) -> FileResult:
        """Record that a file isn't tried any more because it kills the grader: a person has to look."""
        if file.kind is FileKind.CODE and file.item is not None:
            is_recorded = any(
                attempt.submission == file.sha256 and attempt.reason == _SET_ASIDE
                for attempt in self.store.attempts(student=student, item=file.item, mode=self.mode)
            )
            if not is_recorded:
                now = datetime.now(UTC)
                self._record_unread(student, file, file.item, Outcome.UNGRADED, _SET_ASIDE, now)
        return FileResult(student, file, reason=f"{_SET_ASIDE}; {_TRY_AGAIN}", again=True, set_aside=True)

    def wait_behind(self, student: str, file: HandedFile) -> FileResult:
        """Return that a quiz file can't be graded because an earlier one is set aside; nothing is stored."""
        return FileResult(student, file, reason=_BEHIND)

    def graded_among(self, files: Iterable[tuple[str, HandedFile]]) -> set[SubmissionKey]:
        """Return what is graded already of some students' code files; answers have to be read to know."""
        code = (
            (student, file.item or "", file.sha256) for student, file in files if file.kind is FileKind.CODE
        )
        return self.store.graded_among(code, self.mode)

    def _grade_code(self, student: str, file: HandedFile, item: str, runner: Runner) -> FileResult:
        started = datetime.now(UTC)
        submission = self.read_program(student, file, item, started)
        if isinstance(submission, FileResult):
            return submission
        report = self._judge(student, item, submission, runner)
        judged = JudgedProgram.of_file(student, file, submission, report, started)
        return self._stored_files([(file, judged)])[0]

    def read_program(
        self, student: str, file: HandedFile, item: str, started: datetime
    ) -> CodeSubmission | FileResult:
        """Return the program in a file; where it can't be read, that is stored, and returned as the result.

        Raises
        ------
        StoreError
            The result can't be stored.
        """
        try:
            return read_code_file(file.path, file.name, dict(file.beside), exercise=item)
        except InputError as error:
            message = error.in_one_line()
            self._record_unread(student, file, item, Outcome.FORMAT_ERROR, message, started)
            return FileResult(student, file, problem=_problem(student, file, error))
        except Exception as error:  # no reader may raise anything else: our fault, tried again next time
            before = self.store.ungraded_among([(student, item, file.sha256)], self.mode)
            message = _mention_earlier(internal_fault(error), bool(before))
            self._record_unread(student, file, item, Outcome.UNGRADED, message, started)
            return FileResult(student, file, reason=message, again=_AGAIN in message)

    def store_reports(self, judged: Sequence[tuple[HandedFile, JudgedProgram]]) -> list[FileResult]:
        """Store the reports of programs, wherever they were made, and return the results in their order.

        All are stored by a few statements in one transaction. What can't be stored of one of them is its
        result, and the others are stored.

        Raises
        ------
        StoreError
            The store fails; those before the failure may be stored.
        """
        try:
            return self._stored_files(judged)
        except UnstorableError as error:  # one attempt doesn't fit; the store itself works
            failure: Exception = error
        except StoreError:
            raise
        except Exception as error:  # the last net: one program never stops the others
            failure = error
        if len(judged) == 1:
            ((file, program),) = judged
            return [FileResult(program.student, file, reason=internal_fault(failure))]
        # By halves: among hundreds the one is found with a dozen transactions.
        half = len(judged) // 2
        return self.store_reports(judged[:half]) + self.store_reports(judged[half:])

    def _stored_files(self, judged: Sequence[tuple[HandedFile, JudgedProgram]]) -> list[FileResult]:
        results = []
        stored = self._store([program for _, program in judged])
        for (file, program), (attempt, reason) in zip(judged, stored, strict=True):
            problem = None
            if attempt.report.outcome is Outcome.FORMAT_ERROR:
                problem = IntakeProblem(file.name, reason or "", _MEND, program.student)
                reason = None
            again = bool(reason and _AGAIN in reason)
            open_reason = None if attempt.settled else reason
            results.append(
                FileResult(program.student, file, reason=open_reason, problem=problem, again=again)
            )
        return results

    def without_report(
        self, student: str, file: HandedFile, submission: CodeSubmission, reason: str, started: datetime
    ) -> JudgedProgram:
        """Return a program that no machine could grade, as it is stored."""
        report = self._without_score(file.item or "", student, Outcome.UNGRADED, reason, None)
        return JudgedProgram.of_file(student, file, submission, report, started)

    def grade_submission(
        self, student: str, item: str, submission: CodeSubmission, runner: Runner, arrival: ArrivalInfo
    ) -> Attempt:
        """Grade one program that was read before, and return the attempt as it is stored then.

        What was graded before isn't graded again.

        Raises
        ------
        StoreError
            The result can't be stored.
        ProgramSetAsideError
            No machine may try it again: see :meth:`set_aside_submission`.
        """
        started = datetime.now(UTC)
        report = self._judge(student, item, submission, runner)
        judged = JudgedProgram(student, submission, report, why_no_score(report), started, arrival)
        return self._store([judged])[0][0]

    def set_aside_submission(
        self, student: str, item: str, submission: CodeSubmission, arrival: ArrivalInfo
    ) -> str:
        """Record that a program isn't tried any more because it kills the grader, and return the reason."""
        started = datetime.now(UTC)
        report = self._without_score(item, student, Outcome.UNGRADED, _SET_ASIDE, None)
        self.store.record(
            Attempt.of_code(student, submission, report, started=started, reason=_SET_ASIDE, arrival=arrival)
        )
        return _SET_ASIDE

    def _judge(self, student: str, item: str, submission: CodeSubmission, runner: Runner) -> GradeReport:
        try:
            return self.code.grade(item, submission, runner, student)
        except (StoreError, ProgramSetAsideError):
            raise
        except Exception as error:  # whatever fails here is ours: never the student's 0
            reason = internal_fault(error)
            return self._without_score(item, student, Outcome.UNGRADED, reason, runner.tier)

    def _store(self, judged: Sequence[JudgedProgram]) -> list[tuple[Attempt, str | None]]:
        """Return the stored attempts, and why each has no score or can't be read."""
        open_ = [program.key for program in judged if program.report.outcome is Outcome.UNGRADED]
        before = self.store.ungraded_among(open_, self.mode) if open_ else ()
        attempts = []
        reasons = []
        for program in judged:
            report, reason = program.report, program.reason
            if (report.student, report.mode) != (program.student, self.mode):
                report = replace(report, student=program.student, mode=self.mode)
            if report.outcome is Outcome.UNGRADED:
                reason = _mention_earlier(reason or "", program.key in before)
            # Even an ungraded attempt is stored: a later try counts as old as this one.
            attempts.append(
                Attempt.of_code(
                    program.student,
                    program.submission,
                    report,
                    started=program.started,
                    reason=reason,
                    arrival=program.arrival,
                )
            )
            reasons.append(reason)
        return [*zip(self.store.record_all(attempts), reasons, strict=True)]

    def _record_unread(
        self, student: str, file: HandedFile, item: str, outcome: Outcome, reason: str, started: datetime
    ) -> None:
        report = self._without_score(item, student, outcome, reason, None)
        self.store.record(
            Attempt(
                student=student,
                submission=file.sha256,
                report=report,
                started=started,
                finished=datetime.now(UTC),
                filename=file.name,
                reason=reason,
            ).arrived(_arrival(file))
        )

    def _without_score(
        self, item: str, student: str, outcome: Outcome, reason: str, tier: str | None
    ) -> GradeReport:
        try:
            version, points = self.code.blank(item)
        except (InputError, EngineError):
            version, points = "unknown", 0.0
        return GradeReport.blank(
            item, version, outcome, points, student=student, mode=self.mode, notes=(reason,), tier=tier
        )

    def _grade_answers(self, student: str, file: HandedFile) -> FileResult:
        """Grade the answers to one item in an assignment's notebook."""
        from engine.grading import grade_answers
        from engine.intake.code_files import assignment_of
        from engine.intake.notebook_answers import texts_of

        started = datetime.now(UTC)
        try:
            notebook = assignment_of(file.path, file.name)
            assigned = notebook.find(file.item or "") if notebook is not None else None
            if notebook is None or assigned is None:  # it changed while the batch ran
                raise SubmissionError("the notebook isn't what it was", where=file.name)
            written = notebook.answers(assigned.item)
            variant = self.code.question(assigned)
            response = Response(texts_of(written, variant))
        except InputError as error:
            return FileResult(student, file, problem=_problem(student, file, error))
        sha256 = response_sha256(variant.id, response)
        if self.store.graded(student, variant.item, sha256, self.mode) is not None:
            return FileResult(student, file, was_graded=True)
        report = grade_answers(variant, response, mode=self.mode, student=student, can_change=True)
        report = replace(report, notes=(*report.notes, *written.notes))
        question = QuizQuestion(1, variant, variant.points)
        attempt = Attempt.of_answer(
            student, question, response, report, quiz=None, started=started, filename=file.name
        )
        self.store.record(attempt.arrived(_arrival(file)))
        if report.outcome is Outcome.FORMAT_ERROR:
            message = f"the answer to {variant.item} can't be read"
            step = "ask for a corrected answer: it cost no attempt, and the page says what is wrong"
            return FileResult(student, file, problem=IntakeProblem(file.name, message, step, student))
        return FileResult(student, file, to_mark=int(report.needs_person))

    def _grade_quiz(self, student: str, file: HandedFile) -> FileResult:
        from engine.quiz import as_answered, hand_in, read_filled
        from engine.quiz.rules import why_nothing

        started = datetime.now(UTC)
        problem: IntakeProblem | None
        try:
            filled = file.filled or read_filled(read_hand_in(file.path), file.name)
            quiz = self.store.load_quiz(filled.quiz)
            problem = self._quiz_problem(student, file, quiz)
            if problem is not None or quiz is None:
                return FileResult(student, file, problem=problem)
            questions = as_answered(self.store, quiz, filled.retries, filled.questions)
            if self._all_graded(questions, filled.answers):
                problem = _missing(student, file, questions, filled)
                return FileResult(student, file, was_graded=True, problem=problem)
            handed = hand_in(
                self.store,
                quiz,
                filled,
                mode=self.mode,
                started=started,
                filename=file.name,
                keep_unreadable=True,
                arrival=_arrival(file),
            )
        except InputError as error:
            return FileResult(student, file, problem=_problem(student, file, error))
        except StoreError:
            raise
        except Exception as error:  # our fault again: nothing is stored, so the next run tries again
            return FileResult(student, file, reason=internal_fault(error))
        reports = handed.reports
        unread = [
            question.number
            for question, report in zip(handed.quiz.questions, reports, strict=True)
            if report.outcome is Outcome.FORMAT_ERROR
        ]
        if unread:
            message = (
                f"{_numbered('the answer to question', 'the answers to questions', unread)} can't be read"
            )
            step = "ask for a corrected answer: it cost no attempt, and the page says what is wrong"
            rest = "; the rest was graded" if len(reports) > len(unread) else ""
            problem = IntakeProblem(file.name, f"{message}{rest}", step, student, partly=bool(rest))
        else:
            problem = _missing(student, file, handed.quiz, filled)
        useless = [
            question.number
            for question, report in zip(handed.quiz.questions, reports, strict=True)
            if why_nothing(report) is not None
        ]
        if useless:
            problem = _with_useless(problem, student, file, useless)
        to_mark = sum(report.needs_person for report in reports)
        if problem is not None:
            return FileResult(student, file, problem=problem, to_mark=to_mark)
        # One reason is enough: the machine failed for all of them alike.
        failed = [r for r in reports if r.outcome is Outcome.UNGRADED and not r.needs_person]
        return FileResult(
            student, file, reason="; ".join(failed[0].notes) if failed else None, to_mark=to_mark
        )

    def _quiz_problem(self, student: str, file: HandedFile, quiz: Quiz | None) -> IntakeProblem | None:
        if quiz is None:
            step = "grade it with the course that made it, and check that `quiz:` in the file wasn't changed"
            return IntakeProblem(file.name, "this quiz isn't in the store", step, student)
        if quiz.student != student:
            step = "find out whose file it is; its quiz id says for whom it was drawn"
            return IntakeProblem(file.name, "this quiz was made for another student", step, student)
        return None

    def _all_graded(self, quiz: Quiz, answers: Mapping[int, Mapping[str, str]]) -> bool:
        responses = quiz_responses(quiz, answers)
        submissions = {
            (quiz.student, question.variant.item, response_sha256(question.variant.id, response, quiz.id))
            for question, response in zip(quiz.questions, responses, strict=True)
        }
        return self.store.graded_among(submissions, self.mode) == submissions


def _missing(student: str, file: HandedFile, quiz: Quiz, filled: FilledQuiz) -> IntakeProblem | None:
    """Return the problem of a file that lacks questions, which its student may not know."""
    missing = [question.number for question in quiz.questions if question.number not in filled.answers]
    if not missing:
        return None
    message = (
        f"{_numbered('question', 'questions', missing)} {agree(len(missing), 'are')} missing in the file"
    )
    message += f" and {agree(len(missing), 'count')} as left blank"
    step = "check that the file is complete: an upload can be cut short"
    return IntakeProblem(file.name, message, step, student, partly=True)


def _with_useless(
    problem: IntakeProblem | None, student: str, file: HandedFile, numbers: Sequence[int]
) -> IntakeProblem:
    """Return the problem, with the answers that earn nothing by the quiz's rules added to it."""
    answers = _numbered("the answer to question", "the answers to questions", numbers)
    earn = agree(len(numbers), "earn")
    message = f"{answers} {earn} nothing by the rules of the quiz: an earlier answer counts"
    if problem is not None:
        return replace(problem, message=f"{problem.message}; {message}")
    step = "the student's page says why; to let it count all the same: grade mark set"
    return IntakeProblem(file.name, message, step, student, noted=True)


def _numbered(singular: str, several: str, numbers: Sequence[int]) -> str:
    return f"{singular if len(numbers) == 1 else several} {', '.join(map(str, numbers))}"


def _mention_earlier(reason: str, is_again: bool) -> str:
    """Return the reason, with a remark where an earlier run left this very file ungraded too."""
    # The machine may be to blame twice, but so may what the file does: a person should look.
    return f"{reason} ({_AGAIN})" if is_again else reason


def _arrival(file: HandedFile) -> ArrivalInfo:
    return ArrivalInfo(file.handed, file.marked_late, file.sequence)


def _problem(student: str, file: HandedFile, error: InputError) -> IntakeProblem:
    # A problem is always shown after the file's name, so only line and column of the place are added.
    place = re.search(r":([0-9]+)(?::([0-9]+))?$", error.where or "")
    prefix = "" if place is None else f"line {place[1]}" + (f", column {place[2]}" if place[2] else "") + ": "
    return IntakeProblem(file.name, prefix + error.what, error.next_step or _MEND, student)
