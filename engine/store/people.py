"""Everything that is stored on one person: to hand it out, and to erase it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from engine.crash_points import reached
from engine.model import GradeReport, Quiz, Variant
from engine.store.codec import decode
from engine.store.database import Database
from engine.store.tables import attempts, metadata, quiz_retries, quizzes, regrades

__all__ = ["People"]


class People:
    """What the store holds on single persons; every table names whose its rows are."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def rows(self, student: str) -> Mapping[str, int]:
        """Return how many rows each table has on a person."""
        with self._database.snapshot() as connection:
            return {
                table.name: connection.execute(
                    sa.select(sa.func.count()).select_from(table).where(table.c.student == student)
                ).scalar_one()
                for table in metadata.sorted_tables
            }

    def everything_on(self, student: str) -> Mapping[str, list[dict[str, Any]]]:
        """Return all rows on a person by table, as values that JSON has.

        Keys and worked solutions are left out: they are about the questions, not about the person.

        Raises
        ------
        StoreError
            A row can't be read.
        """
        where = self._database.where
        with self._database.snapshot() as connection:
            return {
                table.name: [
                    {name: _plain(table, name, value, where) for name, value in row.items()}
                    for row in connection.execute(_own(table, student)).mappings()
                ]
                for table in metadata.sorted_tables
            }

    def erase(self, student: str) -> Mapping[str, int]:
        """Delete everything on a person, in one transaction; return how many rows went, by table.

        In a file their bytes are overwritten too.
        """
        erased = {}
        with self._database.write() as connection:
            if not self._database.is_server:
                connection.exec_driver_sql("PRAGMA secure_delete = ON")
            for table in reversed(metadata.sorted_tables):  # what belongs to other rows goes before them
                done = connection.execute(sa.delete(table).where(table.c.student == student))
                erased[table.name] = done.rowcount
                reached("in-erase")
        self._database.checkpoint()  # the log beside a file still had them
        return {table.name: erased[table.name] for table in metadata.sorted_tables}


def _own(table: sa.Table, student: str) -> sa.Select[Any]:
    return sa.select(table).where(table.c.student == student).order_by(*table.primary_key)


def _plain(table: sa.Table, name: str, value: Any, where: str) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    show = _SHOWN.get((table.name, name))
    return value if value is None or show is None else show(value, where)


def _asked(variant: Variant) -> dict[str, Any]:
    """Return what a variant shows to whom it was drawn for."""
    return {
        "id": variant.id,
        "item": variant.item,
        "item_version": variant.item_version,
        "title": variant.title,
        "text": variant.stem.plain,
        "notes": [note.plain for note in variant.notes],
        "parts": [
            {
                "id": part.id,
                "type": part.type,
                "points": part.points,
                "text": part.prompt.plain if part.prompt else "",
                "prompts": {prompt.id: prompt.text.plain for prompt in part.prompts},
                "options": {option.id: option.text.plain for option in part.options},
            }
            for part in variant.parts
        ],
    }


def _quiz(text: str, where: str) -> dict[str, Any]:
    quiz = decode(Quiz, text, where)
    questions = [{"number": q.number, "points": q.points, **_asked(q.variant)} for q in quiz.questions]
    return {"title": quiz.title, "questions": questions}


def _variant(text: str, where: str) -> dict[str, Any]:
    return _asked(decode(Variant, text, where))


def _report(text: str, where: str) -> dict[str, Any]:
    return decode(GradeReport, text, where).as_json()


def _json(text: str, _where: str) -> Any:
    return json.loads(text)


# Columns that hold JSON, and how they are shown.
_SHOWN: Mapping[tuple[str, str], Callable[[str, str], Any]] = {
    (quizzes.name, "quiz"): _quiz,
    (attempts.name, "variant"): _variant,
    (attempts.name, "response"): _json,
    (attempts.name, "modules"): _json,
    (attempts.name, "report"): _report,
    (quiz_retries.name, "variant"): _variant,
    (regrades.name, "old_report"): _report,
    (regrades.name, "old_variant"): _variant,
    (regrades.name, "new_report"): _report,
}
