"""The store itself: quizzes and attempts in, the same values out.

Recording an attempt is one transaction, in which also the earlier attempts at the question are looked up:
what an attempt earns may depend on them, and two programs may record at the same moment.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
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
    SubmissionKey,
    attempt_of,
    attempt_row,
    quiz_responses,
)
from engine.store.audit import AuditLog
from engine.store.database import Database, open_database, rows_by_student
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
_EARLIER = (
    sa.select(attempts)
    .join(quizzes, (quizzes.c.id == attempts.c.quiz_id) & (quizzes.c.student == attempts.c.student))
    .where(
        attempts.c.student == sa.bindparam("of_student"),
        attempts.c.item.in_(sa.bindparam("of_items", expanding=True)),
        attempts.c.mode == sa.bindparam("of_mode"),
        quizzes.c.name == sa.bindparam("of_name"),
    )
    .order_by(attempts.c.id)
)
_EARLIER_IN_ONE = _EARLIER.where(quizzes.c.id == sa.bindparam("of_quiz"))
# More than what is looked for: a condition for each submission by itself would be a statement for each.
_THERE = sa.select(
    *(attempts.c[name] for name in ("id", "student", "item", "submission", "mode", "started"))
).where(
    *(attempts.c[name].in_(sa.bindparam(f"{name}s", expanding=True)) for name in ("student", "item", "mode"))
)
# In one order, so that two programs that record the same class never wait for each other in a ring.
_SAME = (
    sa.select(attempts)
    .where(attempts.c.id.in_(sa.bindparam("rows", expanding=True)))
    .order_by(attempts.c.id)
    .with_for_update()
)
_ADD = sa.insert(attempts)
_REPLACE = sa.update(attempts).where(attempts.c.id == sa.bindparam("of_row"))
# Students in one statement; with a course's items no more values than the smallest SQLite takes.
_MOST_STUDENTS = 500


def _locked_name(connection: sa.Connection, quiz: str, student: str) -> str | None:
    """Return the name of a student's quiz, of which nobody else can record an attempt meanwhile."""
    mine = (quizzes.c.id == quiz) & (quizzes.c.student == student)
    name: str | None = connection.execute(sa.select(quizzes.c.name).where(mine)).scalar()
    # On a server the rows of all draws serve as the lock, always taken in one order, so that no two programs
    # wait for each other; SQLite lets in one writer at a time anyway.
    alike = (quizzes.c.name == name) & (quizzes.c.student == student)
    connection.execute(sa.select(quizzes.c.id).where(alike).order_by(quizzes.c.id).with_for_update())
    return name


def _earlier_attempts(
    connection: sa.Connection, new: Sequence[Attempt], where: str
) -> list[Sequence[Attempt]]:
    """Return for each attempt the student's ones so far at the same item of the same quiz, oldest first.

    For marks, quizzes of one name are one quiz, drawn several times; in practice each is on its own.
    Attempts without a quiz have no earlier ones.
    """
    together: dict[tuple[str, str, Mode], set[str]] = {}
    for attempt in new:
        if attempt.quiz is not None:
            place = attempt.quiz, attempt.student, attempt.report.mode
            together.setdefault(place, set()).add(attempt.item)
    places = dict.fromkeys((quiz, student) for quiz, student, _ in together)
    names = {place: _locked_name(connection, *place) for place in places}
    earlier: dict[tuple[str | None, str, Mode, str], list[Attempt]] = {}
    for (quiz, student, mode), items in together.items():
        values = {
            "of_student": student,
            "of_items": sorted(items),
            "of_mode": str(mode),
            "of_name": names[quiz, student],
            "of_quiz": quiz,
        }
        query = _EARLIER_IN_ONE if mode is Mode.PRACTICE else _EARLIER
        for row in connection.execute(query, values).mappings():
            earlier.setdefault((quiz, student, mode, row["item"]), []).append(attempt_of(row, where))
    return [earlier.get((a.quiz, a.student, a.report.mode, a.item), []) for a in new]


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
            earlier = _earlier_attempts(connection, attempts, self.where)
            attempts = [settle(*each) for each in zip(attempts, earlier, strict=True)]
        stored = self._put_all(connection, attempts)
        for _ in stored:
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

    def _put_all(self, connection: sa.Connection, new: Sequence[Attempt]) -> list[Attempt]:
        """Store attempts, one after the other as it were, by statements for all of them."""
        values = {
            "students": sorted({attempt.student for attempt in new}),
            "items": sorted({attempt.item for attempt in new}),
            "modes": sorted({str(attempt.report.mode) for attempt in new}),
        }
        new_keys = {_row_key(attempt) for attempt in new}
        newest: dict[tuple[str, ...], datetime] = {}
        same: list[int] = []
        place: tuple[str, ...]
        for row in connection.execute(_THERE, values).mappings():
            place = row["student"], row["item"], row["mode"]
            newest[place] = max(newest.get(place, row["started"]), row["started"])
            if (*place, row["submission"]) in new_keys:
                same.append(row["id"])
        there: dict[tuple[str, ...], Attempt] = {}
        numbers: dict[tuple[str, ...], int] = {}
        if same:
            for row in connection.execute(_SAME, {"rows": same}).mappings():
                attempt = attempt_of(row, self.where)
                there[_row_key(attempt)], numbers[_row_key(attempt)] = attempt, row["id"]
        changed: dict[tuple[str, ...], Attempt] = {}
        stored = []
        for attempt in new:
            key = _row_key(attempt)
            before, place = there.get(key), key[:3]
            if before is None:
                attempt = _not_before(attempt, newest.get(place))
                newest[place] = attempt.started
            elif before.is_taken:
                # Also what waits for a person, who may have marked a part of it already.
                stored.append(before)
                continue
            else:
                # It is as old as its first try: a fault of the machine puts nobody behind a later attempt.
                attempt = replace(attempt, started=before.started)
            there[key] = changed[key] = attempt
            stored.append(attempt)
        added = [attempt_row(attempt) for key, attempt in changed.items() if key not in numbers]
        replaced = [
            {**attempt_row(changed[key]), "of_row": numbers[key]} for key in changed if key in numbers
        ]
        if added:
            connection.execute(_ADD, added)
        if replaced:
            connection.execute(_REPLACE, replaced)
        return stored

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

    def graded_among(
        self, submissions: Iterable[SubmissionKey], mode: Mode = Mode.MARKS
    ) -> set[SubmissionKey]:
        """Return the submissions to whose reports no machine can add, as :meth:`graded` of each says."""
        return {
            key
            for key, outcome, report in self._outcomes(submissions, mode)
            if outcome in SETTLED or (report is not None and report.needs_person)
        }

    def ungraded_among(
        self, submissions: Iterable[SubmissionKey], mode: Mode = Mode.MARKS
    ) -> set[SubmissionKey]:
        """Return the submissions that have no score yet, whether they wait for a machine or for a person."""
        outcomes = self._outcomes(submissions, mode)
        return {key for key, outcome, _ in outcomes if outcome is Outcome.UNGRADED}

    def _outcomes(
        self, submissions: Iterable[SubmissionKey], mode: Mode
    ) -> Iterator[tuple[SubmissionKey, Outcome, GradeReport | None]]:
        """Yield what there is of many submissions: outcomes, and the reports of ungraded ones."""
        keys = set(submissions)
        students = sorted({student for student, _, _ in keys})
        items = sorted({item for _, item, _ in keys})
        # Texts of reports are long, and of what has a score nobody needs one.
        report = sa.case((attempts.c.outcome == str(Outcome.UNGRADED), attempts.c.report)).label("report")
        names = ("student", "item", "submission", "outcome")
        query = sa.select(*(attempts.c[name] for name in names), report)
        query = query.where(attempts.c.mode == str(mode), attempts.c.item.in_(items))
        for start in range(0, len(students), _MOST_STUDENTS):
            some = attempts.c.student.in_(students[start : start + _MOST_STUDENTS])
            with self._database.read() as connection:
                rows = connection.execute(query.where(some)).mappings().all()
            for row in rows:
                if (key := (row["student"], row["item"], row["submission"])) in keys:
                    text = row["report"]
                    ungraded = None if text is None else decode(GradeReport, text, self.where)
                    yield key, Outcome(row["outcome"]), ungraded

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

    def attempts_by_student(self, students: Sequence[str], mode: Mode) -> Iterator[list[Attempt]]:
        """Yield the attempts of each of these students in turn, oldest row first, all read at once."""
        query = sa.select(attempts).where(attempts.c.student.in_(students), attempts.c.mode == str(mode))
        for rows in rows_by_student(self._database, query.order_by(attempts.c.id), students):
            yield [attempt_of(row, self.where) for row in rows]

    def quizzes_by_student(
        self, students: Sequence[str], mode: Mode, names: Collection[str]
    ) -> Iterator[list[Quiz]]:
        """Yield what each of these students has answered, and all quizzes of these names, read at once.

        Of one name the newest draw comes last.
        """
        answered = sa.exists().where(
            attempts.c.student == quizzes.c.student,
            attempts.c.quiz_id == quizzes.c.id,
            attempts.c.mode == str(mode),
        )
        query = sa.select(quizzes.c.student, quizzes.c.quiz).where(
            quizzes.c.student.in_(students), sa.or_(quizzes.c.name.in_(names), answered)
        )
        ordered = query.order_by(quizzes.c.name, quizzes.c.attempt)
        for rows in rows_by_student(self._database, ordered, students):
            yield [decode(Quiz, row["quiz"], self.where) for row in rows]

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
        return sorted(self.attempt_counts(mode))

    def attempt_counts(self, mode: Mode = Mode.MARKS) -> Mapping[str, int]:
        """Return how many attempts everybody has, graded or not; nobody who has none."""
        query = sa.select(attempts.c.student, sa.func.count()).where(attempts.c.mode == str(mode))
        with self._database.read() as connection:
            return {row[0]: row[1] for row in connection.execute(query.group_by(attempts.c.student))}

    def ungraded(self, mode: Mode | None = None) -> list[Attempt]:
        """Return the attempts that are still ungraded, with their reasons."""
        return list(self.attempts(mode=mode, outcome=Outcome.UNGRADED))


# Built once: building a statement takes longer than SQLite takes to answer it.
_ANY_ATTEMPT = (
    sa.select(attempts.c.id)
    .where(*(attempts.c[name] == sa.bindparam(name) for name in ("student", "item", "mode")))
    .limit(1)
)


def _row_key(attempt: Attempt) -> tuple[str, ...]:
    return attempt.student, attempt.item, str(attempt.report.mode), attempt.submission


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
