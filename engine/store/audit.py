"""Who did what when on the site: rows are only ever added."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from engine.store.database import StorePart
from engine.store.sql_tables import storable
from engine.store.web_tables import audit_log


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One thing that somebody did.

    Parameters
    ----------
    at : datetime
    by : str
        Id of the person.
    role : str
        The person's role then.
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
        # What a student does is about that student: it is handed out and erased with the rest.
        student = entry.student or (entry.by if entry.role == "student" else None)
        row = {
            "at": entry.at,
            "by": entry.by,
            "role": entry.role,
            "action": entry.action,
            "subject": storable(entry.subject, 300),
            "student": student,
            "details": json.dumps(dict(entry.details), ensure_ascii=True),
        }
        self._database.change(lambda connection: connection.execute(sa.insert(audit_log), row))

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
        if before is not None:
            query = query.where(audit_log.c.id < before)
        with self._database.read() as connection:
            rows = connection.execute(query).mappings().all()
        names = ("at", "by", "role", "action", "subject", "student")
        return [
            (row["id"], AuditEntry(**{n: row[n] for n in names}, details=json.loads(row["details"])))
            for row in rows
        ]
