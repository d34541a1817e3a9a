"""What students have typed on the site and not handed in yet: each field with the number of its changes.

A window says which revision of a field it has seen. If the store has a newer one, the older window's text
isn't written over it: the caller gets the newer text back, and shows both.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

import sqlalchemy as sa

from engine.model import Quiz
from engine.store.database import StorePart
from engine.store.sql_tables import storable
from engine.store.timed import NO_END, quiz_key
from engine.store.web_tables import drafts, timed_sittings


@dataclass(frozen=True, slots=True)
class DraftField:
    """A field as a window sends it.

    Parameters
    ----------
    number : int
        Of the question.
    part : str
    text : str
    revision : int
        The revision that the window has seen; 0 is an empty field.
    retry : int
        Which of the question's variants the text answers.
    before : str or None
        The text that the window has seen, where it sends all its fields: a field that still has it wasn't
        changed, and is no attempt to write anything.
    """

    number: int
    part: str
    text: str
    revision: int
    retry: int = 0
    before: str | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """A field as it is stored."""

    number: int
    retry: int
    part: str
    text: str
    revision: int
    saved: datetime


class SaveState(StrEnum):
    """What became of a field."""

    SAVED = "saved"
    CONFLICT = "conflict"  # another window has saved a newer text, which stays
    CLOSED = "closed"  # the sitting is over, or the question has another variant or no attempt left by now


@dataclass(frozen=True, slots=True)
class SavedDraft:
    """What became of a field, and what the store has now; None if it has nothing."""

    state: SaveState
    field: DraftField
    draft: Draft | None


class DraftStore(StorePart):
    """The fields of quizzes that are being answered on the site."""

    def save(
        self,
        quiz: Quiz,
        fields: Sequence[DraftField],
        *,
        now: datetime,
        ends: datetime | None = None,
        closed: Collection[int] = (),
    ) -> list[SavedDraft]:
        """Save fields in one transaction, and say of each what became of it.

        Parameters
        ----------
        quiz : Quiz
        fields : sequence of DraftField
            Of questions and parts that the quiz has, each once.
        now : datetime
        ends : datetime, optional
            When the sitting ends; None where it has no end yet. With the first field its row is added, so
            that it is handed in at its end, also at one that is set later.
        closed : collection of int
            The questions that take no further answer.

        Returns
        -------
        list of SavedDraft
            In the order of `fields`. A text that is stored already is saved, whatever its revision: the
            answer to the first request may have been lost.
        """

        def save(connection: sa.Connection) -> list[SavedDraft]:
            if not _is_open(connection, quiz, now, ends):
                return [SavedDraft(SaveState.CLOSED, field, None) for field in fields]
            return [
                self._save(connection, quiz, field, now, is_closed=field.number in closed) for field in fields
            ]

        return self._database.change(save)

    def _save(
        self, connection: sa.Connection, quiz: Quiz, field: DraftField, now: datetime, *, is_closed: bool
    ) -> SavedDraft:
        key = {**quiz_key(quiz), "number": field.number, "retry": field.retry, "part": field.part}
        same = {f"same_{name}": value for name, value in key.items()}
        row = connection.execute(_FIND, same).mappings().first()
        stored = None if row is None else _draft(row)
        text = storable(field.text) or ""
        if text == (stored.text if stored else "") or field.text == field.before:
            return SavedDraft(SaveState.SAVED, field, stored)
        if is_closed:
            return SavedDraft(SaveState.CLOSED, field, stored)
        if field.revision != (stored.revision if stored else 0):
            return SavedDraft(SaveState.CONFLICT, field, stored)
        new = {"text": text, "revision": field.revision + 1, "saved": now}
        if stored is None:
            connection.execute(_ADD, {**key, **new})
        else:
            connection.execute(_CHANGE, {**same, **new})
        draft = Draft(field.number, field.retry, field.part, text, field.revision + 1, now)
        return SavedDraft(SaveState.SAVED, field, draft)

    def of_quiz(self, quiz: Quiz) -> list[Draft]:
        """Return all fields of a student's quiz, by question, variant and part."""
        with self._database.read() as connection:
            return [_draft(row) for row in connection.execute(_ALL, quiz_key(quiz)).mappings()]

    def clear(self, quiz: Quiz, number: int, now: datetime) -> None:
        """Empty the fields of a question; a window that still shows the old text can't write it back."""
        change = (
            sa.update(drafts)
            .where(*_mine(quiz), drafts.c.number == number, drafts.c.text != "")
            .values(text="", revision=drafts.c.revision + 1, saved=now)
        )
        self._database.change(lambda connection: connection.execute(change))


# Built once: a save waits for these statements, and building one takes longer than it takes to be executed.
_SAME = [
    drafts.c[name] == sa.bindparam(f"same_{name}")
    for name in ("quiz_id", "student", "number", "retry", "part")
]
_FIND = sa.select(drafts).where(*_SAME).with_for_update()
_ADD = sa.insert(drafts)
_CHANGE = sa.update(drafts).where(*_SAME).values({n: sa.bindparam(n) for n in ("text", "revision", "saved")})
_ALL = (
    sa.select(drafts)
    .where(drafts.c.quiz_id == sa.bindparam("quiz_id"), drafts.c.student == sa.bindparam("student"))
    .order_by(drafts.c.number, drafts.c.retry, drafts.c.part)
)
# The row is locked: what is handed in at the end holds every text that was said to be saved.
_SITTING = (
    sa.select(timed_sittings.c.ended)
    .where(
        timed_sittings.c.quiz_id == sa.bindparam("quiz_id"),
        timed_sittings.c.student == sa.bindparam("student"),
    )
    .with_for_update()
)


def _mine(quiz: Quiz) -> list[sa.ColumnElement[bool]]:
    return [drafts.c.quiz_id == quiz.id, drafts.c.student == quiz.student]


def _is_open(connection: sa.Connection, quiz: Quiz, now: datetime, ends: datetime | None) -> bool:
    """Return whether the sitting is open; it begins here if it hasn't yet."""
    row = connection.execute(_SITTING, quiz_key(quiz)).first()
    if row is None:
        # Within the grace of the network the first text may come after the end.
        end = ends or NO_END
        row_values = {**quiz_key(quiz), "started": min(now, end), "ends": end}
        connection.execute(sa.insert(timed_sittings), row_values)
    return row is None or row.ended is None


def _draft(row: sa.RowMapping) -> Draft:
    return Draft(**{name: row[name] for name in ("number", "retry", "part", "text", "revision", "saved")})
