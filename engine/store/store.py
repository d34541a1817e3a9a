"""The store itself: quizzes and attempts in, the same values out.

Recording an attempt is one transaction, in which also the earlier attempts at the question are looked up:
what an attempt earns may depend on them, and two programs may record at the same moment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import sqlalchemy as sa

from engine.crash_points import reached
from engine.errors import StoreError
from engine.model import GradeReport, Mode, Outcome, Quiz
from engine.store.activity import StoreActivity
from engine.store.allowances import AllowanceStore
from engine.store.attempt import (
    SETTLED,
    ArrivalInfo,
    Attempt,
    BestScore,
    attempt_of,
    attempt_row,
    quiz_responses,
)
from engine.store.audit import AuditLog
from engine.store.database import Database, open_database
from engine.store.drafts import DraftStore
from engine.store.lti import LtiStore
from engine.store.lti_outbox import LtiOutbox
from engine.store.marker_comments import CodeComments, SavedComments
from engine.store.marks import HandMarks, RegradeHistory
from engine.store.person_data import PersonRecords
from engine.store.published import PublishedQuizzes
from engine.store.scans import ScanStore
from engine.store.sessions import SessionStore, SignInSecrets
from engine.store.sittings import SittingStore
from engine.store.sql_tables import attempts, decode, encode, quizzes, storable
from engine.store.student_requests import StudentRequests
from engine.store.timed import TimedSittings
from engine.store.upkeep import StoreUpkeep
from engine.store.waiting import WaitingHandIns

# Fewer quizzes are turned into rows sooner than processes are started.
_MANY_QUIZZES = 100


# Put together once: a class whose time is over at the same second is recorded in thousands of queries.
_AT_ITEM = (
    attempts.c.student == sa.bindparam("of_student"),
    attempts.c.item == sa.bindparam("of_item"),
    attempts.c.mode == sa.bindparam("of_mode"),
)
_EARLIER = (
    sa.select(attempts)
    .join(quizzes, (quizzes.c.id == attempts.c.quiz_id) & (quizzes.c.student == attempts.c.student))
    .where(*_AT_ITEM, quizzes.c.name == sa.bindparam("of_name"))
    .order_by(attempts.c.id)
)
_EARLIER_IN_ONE = _EARLIER.where(quizzes.c.id == sa.bindparam("of_quiz"))
_NEWEST_START = sa.select(sa.func.max(attempts.c.started)).where(*_AT_ITEM)
_SAME = (
    sa.select(attempts)
    .where(*_AT_ITEM, attempts.c.submission == sa.bindparam("of_submission"))
    .with_for_update()
)


def _at_item(attempt: Attempt, **more: str | None) -> dict[str, str | None]:
    mode = str(attempt.report.mode)
    return {"of_student": attempt.student, "of_item": attempt.item, "of_mode": mode, **more}


def _locked_name(connection: sa.Connection, quiz: str, student: str) -> str | None:
    """Return the name of a student's quiz, of which nobody else can record an attempt meanwhile."""
    mine = (quizzes.c.id == quiz) & (quizzes.c.student == student)
    name: str | None = connection.execute(sa.select(quizzes.c.name).where(mine)).scalar()
    # On a server the rows of all draws serve as the lock, always taken in one order, so that no two programs
    # wait for each other; SQLite lets in one writer at a time anyway.
    alike = (quizzes.c.name == name) & (quizzes.c.student == student)
    connection.execute(sa.select(quizzes.c.id).where(alike).order_by(quizzes.c.id).with_for_update())
    return name


def _earlier_rows(connection: sa.Connection, attempt: Attempt, name: str | None) -> Sequence[sa.RowMapping]:
    """Return the rows of a student's submissions so far for the same item of the same quiz, oldest first.

    For marks, quizzes of one name are one quiz, drawn several times; in practice each is on its own.
    Attempts without a quiz have no earlier ones.
    """
    if attempt.quiz is None:
        return ()
    if attempt.report.mode is Mode.PRACTICE:
        values = _at_item(attempt, of_name=name, of_quiz=attempt.quiz)
        return connection.execute(_EARLIER_IN_ONE, values).mappings().all()
    return connection.execute(_EARLIER, _at_item(attempt, of_name=name)).mappings().all()


def _newest_start(connection: sa.Connection, attempt: Attempt) -> datetime | None:
    newest: datetime | None = connection.execute(_NEWEST_START, _at_item(attempt)).scalar()
    return newest


def _not_before(attempt: Attempt, earlier: datetime | None) -> Attempt:
    """Return `attempt`, started no sooner than `earlier`, even if the clock was set back in between."""
    if earlier is None or attempt.started >= earlier:
        return attempt
    return replace(attempt, started=earlier, finished=max(attempt.finished, earlier))


# A new attempt and the earlier ones at the same question → the attempt as it counts.
Settle = Callable[[Attempt, Sequence[Attempt]], Attempt]

_PAGE = 200  # rows of attempts in memory at a time; each can hold a source of many kilobytes


def open_store(url_or_path: str | Path, *, busy_timeout_s: float = 30.0) -> Store:
    """Open a store, made and migrated as needed.

    Parameters
    ----------
    url_or_path : str or Path
        An SQLite file's path, or ``postgresql://…``.
    busy_timeout_s : float
        How long to wait for another program that writes.

    Raises
    ------
    StoreError
        It is locked, read-only, damaged, or newer than this program, or the disk is full; with the next step.
    """
    return Store(open_database(url_or_path, busy_timeout_s=busy_timeout_s))


class Store:
    """Quizzes and attempts of one course; every method may be called from several threads."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.sittings = SittingStore(database)
        self.hand_marks = HandMarks(database)
        self.regrades = RegradeHistory(database)
        self.people = PersonRecords(database)
        self.upkeep = StoreUpkeep(database)
        self.sessions = SessionStore(database)
        self.sign_in_secrets = SignInSecrets(database)
        self.audit = AuditLog(database)
        self.lti = LtiStore(database)
        self.lti_outbox = LtiOutbox(database)
        self.waiting = WaitingHandIns(database)
        self.activity = StoreActivity(database)
        self.allowances = AllowanceStore(database)
        self.published = PublishedQuizzes(database)
        self.requests = StudentRequests(database)
        self.drafts = DraftStore(database)
        self.timed = TimedSittings(database)
        self.code_comments = CodeComments(database)
        self.saved_comments = SavedComments(database)
        self.scans = ScanStore(database)

    @property
    def where(self) -> str:
        """Path or address, without a password."""
        return self._database.where

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give back all connections."""
        self._database.close()

    def bulk(self) -> AbstractContextManager[None]:
        """Return a block for many records in a row that could be made again.

        Commits inside it don't wait for the disk: a killed program loses nothing, a power cut may undo the
        last records. At its end all are on the disk.
        """
        return self._database.bulk()

    def limit_answers(self, seconds: float) -> None:
        """Give up a database server that says nothing for so long: somebody waits for a page.

        Commands leave it at no limit: what they ask for may take its time.
        """
        self._database.limit_answers(seconds)

    def one_transaction(self) -> AbstractContextManager[None]:
        """Make all that this thread does with the store inside the block one transaction.

        A decision and its line in the log belong together: a killed program leaves both or neither.
        """
        return self._database.one_transaction()

    def save_quiz(self, quiz: Quiz) -> None:
        """Store one student's quiz with its keys; storing the same quiz again changes nothing.

        Raises
        ------
        StoreError
            Another quiz of that id and student is there: what was handed out never changes.
        """
        self.save_quizzes([quiz])

    def save_quizzes(self, quizzes: Sequence[Quiz]) -> None:
        """Store the quizzes of a class in one transaction: all of them or none."""
        # Everybody stores in the same order: two who draw the same class on a server never block each other.
        ordered = sorted(quizzes, key=lambda quiz: (quiz.id, quiz.student))
        made: Mapping[int, dict[str, Any]] = {}
        if len(ordered) >= _MANY_QUIZZES:
            from engine.parallel import on_all_cores

            made = on_all_cores(lambda n: _quiz_row(ordered[n]), range(len(ordered)), least=_MANY_QUIZZES)
        rows = [made.get(n) or _quiz_row(quiz) for n, quiz in enumerate(ordered)]

        def insert_all(connection: sa.Connection) -> None:
            for row in rows:
                self._insert_quiz(connection, row)

        self._database.change(insert_all)

    def _insert_quiz(self, connection: sa.Connection, row: Mapping[str, Any]) -> None:
        same = (quizzes.c.id == row["id"]) & (quizzes.c.student == row["student"])
        stored = connection.execute(sa.select(quizzes.c.quiz).where(same)).scalar()
        if stored is None:
            connection.execute(sa.insert(quizzes), row)
        # By value: an older version wrote no key for what it didn't know.
        elif stored != row["quiz"] and decode(Quiz, stored, self.where) != decode(
            Quiz, row["quiz"], self.where
        ):
            raise StoreError(
                f"another quiz {row['id']} of {row['student']} is stored already",
                where=self.where,
                next_step="give the new quiz another name; what was handed out stays as it is",
            )

    def load_quiz(self, quiz_id: str, student: str | None = None) -> Quiz | None:
        """Return the quiz of that id (and student), or None where there is none.

        Without `student` the id must belong to one student only.
        """
        query = sa.select(quizzes.c.quiz).where(quizzes.c.id == quiz_id)
        if student is not None:
            query = query.where(quizzes.c.student == student)
        with self._database.read() as connection:
            # Two are enough to know that the id isn't one student's alone.
            texts = connection.execute(query.limit(2)).scalars().all()
        return decode(Quiz, texts[0], self.where) if len(texts) == 1 else None

    def quizzes(self, name: str | None = None, student: str | None = None) -> list[Quiz]:
        """Return the quizzes of that name (and student), or all, in the order of the students' ids."""
        query = sa.select(quizzes.c.quiz).order_by(quizzes.c.name, quizzes.c.student, quizzes.c.attempt)
        if name is not None:
            query = query.where(quizzes.c.name == name)
        if student is not None:
            query = query.where(quizzes.c.student == student)
        with self._database.read() as connection:
            texts = connection.execute(query).scalars().all()
        return [decode(Quiz, text, self.where) for text in texts]

    def quiz_names(self) -> list[str]:
        """Return the names of all quizzes that were drawn, in order."""
        with self._database.read() as connection:
            return sorted(connection.execute(sa.select(quizzes.c.name).distinct()).scalars())

    def record(self, attempt: Attempt) -> Attempt:
        """Store one attempt in one transaction, and return what the store now holds of it.

        A settled attempt at the same submission stays as it is, and so does one that a person must mark; one
        that the machine failed to grade, or couldn't read, is replaced.
        """
        return self.record_all([attempt])[0]

    def record_all(self, attempts: Sequence[Attempt], *, settle: Settle | None = None) -> list[Attempt]:
        """Store several attempts that belong together (one quiz file) in one transaction.

        `settle` gets each with the student's earlier attempts at the same item in quizzes of the same name,
        oldest first, and returns it as it counts. Nobody else can record one in between.
        """
        reached("before-record")
        stored = self._database.change(lambda connection: self._record(connection, attempts, settle))
        reached("after-record")
        return stored

    def _record(
        self, connection: sa.Connection, attempts: Sequence[Attempt], settle: Settle | None
    ) -> list[Attempt]:
        if settle is not None:
            # All are looked up before any is stored: the answers of one file don't come before each other.
            places = dict.fromkeys((a.quiz, a.student) for a in attempts)
            names: dict[tuple[str | None, str], str | None] = {
                (quiz, student): _locked_name(connection, quiz, student) for quiz, student in places if quiz
            }
            attempts = [
                settle(
                    a,
                    [
                        attempt_of(row, self.where)
                        for row in _earlier_rows(connection, a, names.get((a.quiz, a.student)))
                    ],
                )
                for a in attempts
            ]
        stored = []
        for attempt in attempts:
            stored.append(self._put(connection, attempt))
            reached("between-rows")
        return stored

    def record_quiz(
        self,
        quiz: Quiz,
        answers: Mapping[int, Mapping[str, str]],
        reports: Sequence[GradeReport],
        *,
        started: datetime | None = None,
        filename: str = "",
        settle: Settle | None = None,
        arrival: ArrivalInfo | None = None,
        on_paper: Mapping[int, Mapping[str, str]] | None = None,
    ) -> list[Attempt]:
        """Store the graded answers of one quiz file.

        Parameters
        ----------
        quiz : Quiz
            As stored.
        answers : mapping of int to mapping of str to str
            Question number → part id → text as typed; a missing one counts as blank.
        reports : sequence of GradeReport
            One per question, in the quiz's order.
        started : datetime, optional
            When grading began; now by default.
        filename : str
            Name of the file handed in.
        settle : callable, optional
            As in :meth:`record_all`.
        arrival : ArrivalInfo, optional
            How the file was handed in.
        on_paper : mapping of int to mapping of str to str, optional
            Question number → part id → place of what was written by hand.
        """
        begun = started or datetime.now(UTC)
        responses = quiz_responses(quiz, answers, on_paper)
        return self.record_all(
            [
                Attempt.of_answer(
                    quiz.student, question, response, report, quiz=quiz.id, started=begun, filename=filename
                ).arrived(arrival or ArrivalInfo())
                for question, response, report in zip(quiz.questions, responses, reports, strict=True)
            ],
            settle=settle,
        )

    def _put(self, connection: sa.Connection, attempt: Attempt) -> Attempt:
        same = _at_item(attempt, of_submission=attempt.submission)
        row = connection.execute(_SAME, same).mappings().first()
        if row is None:
            attempt = _not_before(attempt, _newest_start(connection, attempt))
            connection.execute(sa.insert(attempts), attempt_row(attempt))
        elif (stored := attempt_of(row, self.where)).is_taken:
            # Also what waits for a person, who may have marked a part of it already.
            return stored
        else:
            # It is as old as its first try: a fault of the machine puts nobody behind a later attempt.
            attempt = replace(attempt, started=row["started"])
            connection.execute(sa.update(attempts).where(attempts.c.id == row["id"]), attempt_row(attempt))
        return attempt

    def graded(self, student: str, item: str, submission: str, mode: Mode = Mode.MARKS) -> GradeReport | None:
        """Return the report of that submission if no machine can add to it, or None.

        That is a settled attempt, or one that waits for a person to mark it.

        Parameters
        ----------
        student, item : str
        submission : str
            Its hash: of the file's bytes, or of the typed answers.
        mode : Mode
        """
        query = sa.select(attempts.c.report).where(
            attempts.c.student == student,
            attempts.c.item == item,
            attempts.c.submission == submission,
            attempts.c.mode == str(mode),
            attempts.c.outcome.in_([str(outcome) for outcome in (*SETTLED, Outcome.UNGRADED)]),
        )
        with self._database.read() as connection:
            text = connection.execute(query).scalar()
        report = None if text is None else decode(GradeReport, text, self.where)
        is_open = report is not None and report.outcome is Outcome.UNGRADED and not report.needs_person
        return None if is_open else report

    def attempts(
        self,
        *,
        student: str | None = None,
        item: str | None = None,
        quiz: str | None = None,
        mode: Mode | None = None,
        outcome: Outcome | None = None,
    ) -> Iterator[Attempt]:
        """Yield the attempts that fit, oldest row first, a page at a time.

        Parameters
        ----------
        student, item, quiz : str, optional
            Only attempts of this student, at this item, or of quizzes of this name.
        mode : Mode, optional
        outcome : Outcome, optional
        """
        # Page by page, so that no transaction stays open while the caller works on the attempts.
        conditions = {"student": student, "item": item, "quiz_id": quiz, "mode": mode, "outcome": outcome}
        query = sa.select(attempts).order_by(attempts.c.id).limit(_PAGE)
        for name, value in conditions.items():
            if value is not None:
                query = query.where(attempts.c[name] == str(value))
        last = 0
        while True:
            with self._database.read() as connection:
                rows = connection.execute(query.where(attempts.c.id > last)).mappings().all()
            yield from (attempt_of(row, self.where) for row in rows)
            if len(rows) < _PAGE:
                return
            last = rows[-1]["id"]

    def has_attempts(self, student: str, item: str, mode: Mode) -> bool:
        """Return whether a student has an attempt at an item; asked at every save, so it costs little."""
        values = {"student": student, "item": item, "mode": str(mode)}
        with self._database.read() as connection:
            return connection.execute(_ANY_ATTEMPT, values).first() is not None

    def best_scores(self, mode: Mode = Mode.MARKS) -> list[BestScore]:
        """Return the best settled score of each student at each item, per quiz where one asked."""
        joined = attempts.outerjoin(
            quizzes, (quizzes.c.id == attempts.c.quiz_id) & (quizzes.c.student == attempts.c.student)
        )
        key = (attempts.c.student, attempts.c.item, quizzes.c.name)
        query = (
            sa.select(*key, sa.func.max(attempts.c.score), sa.func.max(attempts.c.max_score))
            .select_from(joined)
            .where(attempts.c.mode == str(mode), attempts.c.score.is_not(None))
            .group_by(*key)
            .order_by(attempts.c.student, attempts.c.item, sa.func.coalesce(quizzes.c.name, ""))
        )
        with self._database.read() as connection:
            return [BestScore(*row) for row in connection.execute(query)]

    def students(self, mode: Mode = Mode.MARKS) -> list[str]:
        """Return the ids of everybody with an attempt, graded or not, in order."""
        query = sa.select(attempts.c.student).where(attempts.c.mode == str(mode)).distinct()
        with self._database.read() as connection:
            return sorted(connection.execute(query).scalars())

    def ungraded(self, mode: Mode | None = None) -> list[Attempt]:
        """Return the attempts that are still ungraded, with their reasons."""
        return list(self.attempts(mode=mode, outcome=Outcome.UNGRADED))


# Built once: building a statement takes longer than SQLite takes to answer it.
_ANY_ATTEMPT = (
    sa.select(attempts.c.id)
    .where(*(attempts.c[name] == sa.bindparam(name) for name in ("student", "item", "mode")))
    .limit(1)
)


def _quiz_row(quiz: Quiz) -> dict[str, Any]:
    return {
        "id": quiz.id,
        "student": quiz.student,
        "name": quiz.name,
        "title": storable(quiz.title),
        "attempt": quiz.attempt,
        "created": datetime.now(UTC),
        "quiz": encode(quiz),
    }
