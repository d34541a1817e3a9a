"""What students ask for on the site: another look at a mark, or more time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

import sqlalchemy as sa

from engine.errors import InputError
from engine.store.allowances import Allowance, add_allowance
from engine.store.database import StorePart
from engine.store.sql_tables import storable
from engine.store.web_tables import student_requests
from engine.text.words import count_noun

LONGEST_REQUEST = 2000
# Of one student, over all subjects: more at once is no request any more.
MOST_OPEN = 20
MOST_A_DAY = 40  # also withdrawn ones: nobody fills the store by asking and withdrawing


class RequestKind(StrEnum):
    """What is asked for."""

    REGRADE = "regrade"
    EXTENSION = "extension"


class RequestState(StrEnum):
    """What became of a request."""

    OPEN = "open"
    GRANTED = "granted"
    DENIED = "refused"
    WITHDRAWN = "withdrawn"


@dataclass(frozen=True, slots=True)
class StudentRequest:
    """One request.

    Parameters
    ----------
    id : int
    student : str
    kind : RequestKind
    subject : str
        A column of the gradebook, or an assignment.
    text : str
        What the student wrote.
    at : datetime
        When it was asked.
    state : RequestState
    answer : str or None
        What the student is told.
    by : str or None
        Who decided.
    decided : datetime or None
    """

    id: int
    student: str
    kind: RequestKind
    subject: str
    text: str
    at: datetime
    state: RequestState = RequestState.OPEN
    answer: str | None = None
    by: str | None = None
    decided: datetime | None = None


class StudentRequests(StorePart):
    """The requests of one course."""

    def ask(self, student: str, kind: RequestKind, subject: str, text: str, now: datetime) -> StudentRequest:
        """Store a request; the same one a second time (a double click) is the first.

        Raises
        ------
        InputError
            It has no text or too long a one, the student has asked this already and waits for an answer, or
            has too many open requests.
        """
        words = (storable(text) or "").strip()
        if not words or len(words) > LONGEST_REQUEST:
            raise InputError(
                "the request says nothing" if not words else "the request is too long",
                expected=f"1 to {count_noun(LONGEST_REQUEST, 'character')}",
                got=count_noun(len(words), "character"),
                next_step="say in a few sentences what you ask for, and why",
            )

        def ask(connection: sa.Connection) -> StudentRequest:
            waiting = [
                _request(row)
                for row in connection.execute(
                    sa.select(student_requests)
                    .where(
                        student_requests.c.student == student,
                        student_requests.c.state == str(RequestState.OPEN),
                    )
                    .order_by(student_requests.c.id)
                ).mappings()
            ]
            alike = next((r for r in waiting if (r.kind, r.subject) == (kind, subject)), None)
            if alike is not None and alike.text == words:
                return alike
            if alike is not None or len(waiting) >= MOST_OPEN:
                raise InputError(
                    "you have asked for this already, and it isn't decided yet"
                    if alike is not None
                    else f"you have {count_noun(MOST_OPEN, 'open request')}, and none is decided yet",
                    where=subject,
                    next_step="wait for the answer, or withdraw that request first",
                )
            since = now - timedelta(days=1)
            of_today = sa.select(sa.func.count()).where(
                student_requests.c.student == student, student_requests.c.asked > since
            )
            if (connection.execute(of_today).scalar() or 0) >= MOST_A_DAY:
                raise InputError(
                    f"you have sent {count_noun(MOST_A_DAY, 'request')} within a day",
                    where=subject,
                    next_step="send it tomorrow, or write to your instructor",
                )
            row = {
                "student": student,
                "kind": str(kind),
                "subject": subject,
                "text": words,
                "asked": now,
                "state": str(RequestState.OPEN),
            }
            key = connection.execute(sa.insert(student_requests), row).inserted_primary_key
            assert key is not None
            return StudentRequest(key[0], student, kind, subject, words, now)

        return self._database.change(ask)

    def find(self, number: int) -> StudentRequest | None:
        """Return the request of that number; whose it is must be checked by whoever shows it."""
        return next(iter(self._select([student_requests.c.id == number])), None)

    def of_student(self, student: str) -> Sequence[StudentRequest]:
        """Return all requests of a student, newest first."""
        return self._select([student_requests.c.student == student])

    def all(self, state: RequestState | None = None) -> Sequence[StudentRequest]:
        """Return everybody's requests, newest first; open ones oldest first: they have waited longest."""
        requests = self._select([] if state is None else [student_requests.c.state == str(state)])
        return requests[::-1] if state is RequestState.OPEN else requests

    def decide(
        self,
        number: int,
        *,
        granted: bool,
        answer: str,
        by: str,
        now: datetime,
        allowance: Allowance | None = None,
    ) -> StudentRequest:
        """Grant or refuse an open request, and give what it asks for in the same transaction.

        Parameters
        ----------
        number : int
        granted : bool
        answer : str
            What the student is told.
        by : str
        now : datetime
        allowance : Allowance, optional
            The extension that is granted.

        Raises
        ------
        InputError
            There is no such request, or it is decided already: nothing is changed.
        """
        state = RequestState.GRANTED if granted else RequestState.DENIED
        if allowance is not None and not granted:
            raise ValueError("nothing is given with a refusal")

        def decide(connection: sa.Connection) -> StudentRequest:
            after = replace(
                _open_request(connection, number, None),
                state=state,
                answer=storable(answer, LONGEST_REQUEST),
                by=by,
                decided=now,
            )
            _store_decision(connection, after)
            if allowance is not None:
                add_allowance(connection, allowance)
            return after

        return self._database.change(decide)

    def withdraw(self, number: int, student: str, now: datetime) -> StudentRequest:
        """Withdraw an open request of this student.

        Raises
        ------
        InputError
            The student has no such request, or it is decided.
        """

        def withdraw(connection: sa.Connection) -> StudentRequest:
            request = _open_request(connection, number, student)
            after = replace(request, state=RequestState.WITHDRAWN, decided=now)
            _store_decision(connection, after)
            return after

        return self._database.change(withdraw)

    def _select(self, conditions: Sequence[sa.ColumnElement[bool]]) -> Sequence[StudentRequest]:
        query = sa.select(student_requests).where(*conditions).order_by(student_requests.c.id.desc())
        with self._database.read() as connection:
            return [_request(row) for row in connection.execute(query).mappings()]


def _open_request(connection: sa.Connection, number: int, student: str | None) -> StudentRequest:
    query = sa.select(student_requests).where(student_requests.c.id == number).with_for_update()
    row = connection.execute(query).mappings().first()
    # Whether somebody else has a request of that number is nobody's business.
    if row is None or (student is not None and row["student"] != student):
        raise InputError(f"there is no request {number}")
    request = _request(row)
    if request.state is not RequestState.OPEN:
        by = f" by {request.by}" if request.by else ""
        raise InputError(f"this request is {request.state} already{by}", next_step="load the page again")
    return request


def _store_decision(connection: sa.Connection, request: StudentRequest) -> None:
    row = {
        "state": str(request.state),
        "answer": request.answer,
        "by": request.by,
        "decided": request.decided,
    }
    same = student_requests.c.id == request.id
    connection.execute(sa.update(student_requests).where(same).values(**row))


def _request(row: sa.RowMapping) -> StudentRequest:
    names = ("id", "student", "subject", "text", "answer", "by", "decided")
    return StudentRequest(
        **{name: row[name] for name in names},
        kind=RequestKind(row["kind"]),
        state=RequestState(row["state"]),
        at=row["asked"],
    )
