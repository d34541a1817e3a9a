"""Who did what when, on the site or by a command: rows are only ever added.

Whatever decides something, hands something out or takes something in is written here by the page or the
command that a person used. :data:`ACTIONS` says what each action is, for whoever reads the log.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

import sqlalchemy as sa

from engine.crash_points import reached
from engine.store.database import StorePart
from engine.store.sql_tables import storable
from engine.store.web_tables import audit_log

COMMAND_LINE: Final = "command line"
"""Role of whoever gave a command: what an account may do there is decided by the folder's permissions."""


class LogKind(StrEnum):
    """What an action is about."""

    DECISION = "decisions"
    MARK = "marks"
    HANDED_OUT = "handed-out"
    HANDED_IN = "handed-in"
    SIGN_IN = "sign-ins"


# Action → its kind, and what the person did, as a page says it.
_OF_KIND: Mapping[LogKind, Mapping[str, str]] = {
    LogKind.DECISION: {
        "allowance.add": "allowed more time or an excuse",
        "allowance.withdraw": "took back what was allowed",
        "request.asked": "asked for something",
        "request.granted": "granted a request",
        "request.refused": "refused a request",
        "request.withdrawn": "withdrew a request",
        "quiz.draw": "drew a quiz",
        "exam.print": "printed exams",
        "quiz.publish": "put a quiz on the site",
        "quiz.withdraw": "took a quiz off the site",
        "quiz.deadline": "moved a deadline",
        "quiz.codes.withdraw": "withdrew sign-in codes",
        "code.try_again": "had a program graded again",
        "queue.pause": "paused grading by other machines",
        "queue.resume": "resumed grading by other machines",
        "queue.retry": "had programs of the queue graded again",
        "queue.drain": "had a worker end",
        "queue.weight": "changed a course's share of the queue",
        "queue.cancel": "took programs out of the queue",
        "worker.allow": "let an account grade programs on other machines",
        "worker.withdraw": "withdrew an account's right to grade",
        "roster.write": "wrote the roster",
        "scan.decide": "decided what stands on an answer sheet",
        "scan.undo": "undid a decision about an answer sheet",
        "file.save": "saved a file of the course",
        "student.erase": "erased everything about a student",
        "job.stop": "stopped a long-running task",
        "lti.register": "registered a learning system",
        "lti.invite": "made a link to register a learning system",
        "lti.disable": "disabled a learning system",
        "lti.enable": "enabled a learning system",
        "lti.accept": "accepted a course of a learning system",
        "lti.refuse": "refused a course of a learning system",
        "lti.deployment": "accepted a deployment of a learning system",
        "lti.forget": "separated an account of a learning system",
        "lti.context": "came from a new course of a learning system",
        "lti.choose": "chose what a link opens",
        "lti.key": "made a new signing key",
    },
    LogKind.MARK: {
        "mark.set": "set a mark by hand",
        "mark.withdraw": "withdrew a mark by hand",
        "rubric.mark": "marked an answer",
        "rubric.withdraw": "withdrew the marks of an answer",
        "comment.add": "commented on a line of code",
        "comment.remove": "removed a comment on code",
        "sentence.add": "saved a comment for use again",
        "sentence.remove": "removed a saved comment",
        "regrade.apply": "changed marks by a regrade",
    },
    LogKind.HANDED_OUT: {
        "quiz.key": "got the key of a quiz",
        "quiz.codes": "made sign-in codes",
        "export.gradebook": "made a gradebook",
        "export.quiz": "made questions for another platform",
        "export.notebook": "made an assignment notebook",
        "export.pages": "made feedback pages",
        "export.keys": "got keys of quizzes",
        "export.analysis": "made an item analysis",
        "export.similar": "looked for similar hand-ins",
        "export.answers": "exported answers to be marked",
        "export.autograder": "made an autograder with keys",
        "export.log": "exported this log",
        "variant.find": "searched whose variant a text is",
        "student.export": "exported everything about a student",
        "store.backup": "backed up the store",
        "store.copy": "copied the store",
        "lti.send": "sent marks to learning systems",
    },
    LogKind.HANDED_IN: {
        "quiz.begun": "began a quiz",
        "quiz.hint": "took a hint",
        "quiz.handed_in": "handed in answers",
        "quiz.closed": "handed in at the end what was saved",
        "code.hand_in": "handed in a program",
        "batch.grade": "graded what a class handed in",
        "scan.hand_in": "handed in scanned answer sheets",
    },
    LogKind.SIGN_IN: {
        "session.begin": "signed in",
        "session.end": "ended sessions",
    },
}

ACTIONS: Final[Mapping[str, tuple[LogKind, str]]] = {
    action: (kind, words) for kind, actions in _OF_KIND.items() for action, words in actions.items()
}
"""What every action is about, and what it is in words."""


def actions_of(*kinds: LogKind) -> frozenset[str]:
    """Return the names of all actions of these kinds."""
    return frozenset(action for action, (kind, _) in ACTIONS.items() if kind in kinds)


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One thing that somebody did.

    Parameters
    ----------
    at : datetime
    by : str
        Id of the person; by a command, the name of the account or what ``--by`` said.
    role : str
        The person's role then; :data:`COMMAND_LINE` where it was a command.
    action : str
        A short name such as ``"mark.set"``.
    subject : str
        What was changed: an item, an assignment, a column.
    student : str or None
        Whom it is about, if it is about somebody; what a student does is about that student.
    details : mapping
        What else a reader needs; JSON values only, no answers and no secrets.
    """

    at: datetime
    by: str
    role: str
    action: str
    subject: str
    student: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


class AuditLog(StorePart):
    """The log of one course."""

    def add(self, entry: AuditEntry) -> None:
        """Add an entry."""
        self.add_all([entry])

    def add_all(self, entries: Iterable[AuditEntry]) -> None:
        """Add entries in one transaction."""
        rows = [_row(entry) for entry in entries]
        if rows:
            reached("before-log")
            self._database.change(lambda connection: connection.execute(sa.insert(audit_log), rows))

    def actions(self) -> list[str]:
        """Return the names of the actions that were logged, in order."""
        with self._database.read() as connection:
            return sorted(connection.execute(sa.select(audit_log.c.action).distinct()).scalars())

    def newest(
        self,
        most: int,
        *,
        student: str | None = None,
        by: str | None = None,
        action: str | None = None,
        actions: Collection[str] | None = None,
        before: int | None = None,
    ) -> list[tuple[int, AuditEntry]]:
        """Return at most so many entries with their numbers, newest first.

        Parameters
        ----------
        most : int
        student : str, optional
            Only entries about this student.
        by : str, optional
            Only what this person did.
        action : str, optional
            Only actions of this name.
        actions : collection of str, optional
            Only actions of these names.
        before : int, optional
            Only entries older than the one of this number: the next page.
        """
        query = sa.select(audit_log).order_by(audit_log.c.id.desc()).limit(most)
        for column, value in (
            (audit_log.c.student, student),
            (audit_log.c.by, by),
            (audit_log.c.action, action),
        ):
            if value is not None:
                query = query.where(column == value)
        if actions is not None:
            query = query.where(audit_log.c.action.in_(sorted(actions)))
        if before is not None:
            query = query.where(audit_log.c.id < before)
        with self._database.read() as connection:
            rows = connection.execute(query).mappings().all()
        names = ("at", "by", "role", "action", "subject", "student")
        return [
            (row["id"], AuditEntry(**{n: row[n] for n in names}, details=json.loads(row["details"])))
            for row in rows
        ]


def _row(entry: AuditEntry) -> dict[str, Any]:
    # What a student does is about that student: it is handed out and erased with the rest.
    student = entry.student or (entry.by if entry.role == "student" else None)
    return {
        "at": entry.at,
        "by": storable(entry.by, 200),
        "role": entry.role,
        "action": entry.action,
        "subject": storable(entry.subject, 300),
        "student": student,
        "details": json.dumps(dict(entry.details), ensure_ascii=True),
    }
