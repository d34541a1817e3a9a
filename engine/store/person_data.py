"""Everything that is stored on one person: to hand it out, and to erase it.

Every table says whom its rows are about (:func:`whose`), so nothing about a person can be missed. An export
leaves out keys and worked solutions: they are about the questions, not about the person.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa

from engine import __version__
from engine.crash_points import reached
from engine.errors import InputError, StoreError
from engine.model import GradeReport, Quiz, Variant
from engine.store.database import StorePart
from engine.store.sql_tables import attempts, decode, hand_marks, metadata, quiz_retries, quizzes, regrades
from engine.store.web_tables import (
    allowances,
    audit_log,
    code_comments,
    lti_nonces,
    saved_comments,
    scan_decisions,
    scanned_pages,
    sessions,
    sign_in_secrets,
    student_requests,
    waiting_hand_ins,
    whose,
)
from engine.text.files import replacing, write_errors, zip_bytes

ERASED: Final = "[erased]"
"""What stands for the name of an erased person in texts about others."""

# What people write beside marks and decisions; not answers, programs and the reports about them.
_WRITTEN: Final[Mapping[sa.Table, tuple[str, ...]]] = {
    allowances: ("reason",),
    student_requests: ("text", "answer"),
    code_comments: ("text",),
    saved_comments: ("text",),
    hand_marks: ("comment",),
    regrades: ("cause",),
    audit_log: ("subject", "details"),
    scan_decisions: ("text",),
}


class PersonRecords(StorePart):
    """What the store holds on single persons."""

    def rows(self, student: str) -> Mapping[str, int]:
        """Return how many rows each table has on a person."""
        with self._database.snapshot() as connection:
            return {
                table.name: connection.execute(
                    sa.select(sa.func.count()).select_from(table).where(column == student)
                ).scalar_one()
                for table, column in _personal_tables()
            }

    def everything_on(self, student: str) -> Mapping[str, list[dict[str, Any]]]:
        """Return all rows on a person by table, as values that JSON has, without keys and worked solutions.

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
                    for row in connection.execute(_rows_on(table, column, student)).mappings()
                ]
                for table, column in _personal_tables()
            }

    def erase(self, student: str, names: Collection[str] = ()) -> Mapping[str, int]:
        """Delete everything on a person, in one transaction; return the number of deleted rows by table.

        In a file their bytes are overwritten too.

        Parameters
        ----------
        student : str
        names : collection of str
            What the person is called: replaced by :data:`ERASED` in what staff and others wrote in rows that
            are about somebody else, or about nobody.
        """
        erased = {}
        with self._database.write() as connection:
            for table, column in reversed(_personal_tables()):  # rows that refer to others go before them
                result = connection.execute(sa.delete(table).where(column == student))
                erased[table.name] = result.rowcount
                reached("in-erase")
            # Members fetched from a learning system, which wait to be written into the roster, have names.
            connection.execute(sa.delete(lti_nonces).where(lti_nonces.c.kind == "members"))
            if names:
                _replace_names(connection, names)
        self._database.checkpoint()  # the log beside the file still holds them
        return {table.name: erased[table.name] for table, _ in _personal_tables()}


def _replace_names(connection: sa.Connection, names: Collection[str]) -> None:
    """Replace names in the texts that people write beside marks and decisions."""
    # The longest first: a name may begin another one. As words, whatever their case.
    words = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    pattern = re.compile(rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE)
    for table, columns in _WRITTEN.items():
        texts = [table.c[name] for name in columns]
        for number, *before in connection.execute(sa.select(table.c.id, *texts)).all():
            after = [
                _without_names(text, pattern) if name != "details" else _in_json(text, pattern)
                for name, text in zip(columns, before, strict=True)
            ]
            if after != before:
                change = sa.update(table).where(table.c.id == number)
                connection.execute(change.values(dict(zip(columns, after, strict=True))))


def _in_json(text: str, pattern: re.Pattern[str]) -> str:
    value = json.loads(text)
    after = _without_names(value, pattern)
    return text if after == value else json.dumps(after)


def _without_names(value: Any, pattern: re.Pattern[str]) -> Any:
    if isinstance(value, str):
        return pattern.sub(ERASED, value)
    if isinstance(value, dict):
        return {name: _without_names(each, pattern) for name, each in value.items()}
    return [_without_names(each, pattern) for each in value] if isinstance(value, list) else value


def _personal_tables() -> list[tuple[sa.Table, sa.Column[str]]]:
    columns = [(table, whose(table)) for table in metadata.sorted_tables]
    return [(table, column) for table, column in columns if column is not None]


def _rows_on(table: sa.Table, column: sa.Column[str], student: str) -> sa.Select[Any]:
    return sa.select(table).where(column == student).order_by(*table.primary_key)


def _plain(table: sa.Table, name: str, value: Any, where: str) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    convert = _JSON_COLUMNS.get((table.name, name))
    return value if value is None or convert is None else convert(value, where)


def _question(variant: Variant) -> dict[str, Any]:
    """Return what a variant shows to its student: no keys."""
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
    questions = [{"number": q.number, "points": q.points, **_question(q.variant)} for q in quiz.questions]
    return {"title": quiz.title, "questions": questions}


def _variant(text: str, where: str) -> dict[str, Any]:
    return _question(decode(Variant, text, where))


def _report(text: str, where: str) -> dict[str, Any]:
    return decode(GradeReport, text, where).as_json()


def _json(text: str, _where: str) -> Any:
    return json.loads(text) if text else None


def _nothing(_text: str, _where: str) -> None:
    """Leave out the hash of a secret: it says nothing about the person."""


# Columns that hold JSON, and what is exported of them.
_JSON_COLUMNS: Mapping[tuple[str, str], Callable[[str, str], Any]] = {
    (quizzes.name, "quiz"): _quiz,
    (attempts.name, "variant"): _variant,
    (attempts.name, "response"): _json,
    (attempts.name, "modules"): _json,
    (attempts.name, "report"): _report,
    (quiz_retries.name, "variant"): _variant,
    (regrades.name, "old_report"): _report,
    (regrades.name, "old_variant"): _variant,
    (regrades.name, "new_report"): _report,
    (audit_log.name, "details"): _json,
    (waiting_hand_ins.name, "code"): _json,
    (scanned_pages.name, "reading"): _json,
    (sessions.name, "id"): _nothing,
    (sign_in_secrets.name, "id"): _nothing,
}


_READ_ME = """\
What a course's store holds on one person, written by Softmark {version}.

person.json   everything by table: quizzes drawn, answers, marks with their feedback, hints, decisions
              and corrections of marks; what was typed, asked and decided on the site, and when somebody
              was signed in there; with times in UTC
code/         the code handed in, in folders numbered as the attempts in person.json

Keys and worked solutions are not in it: they are about the questions, not about the person.
"""


def write_person(
    path: Path, student: str, roster_row: Mapping[str, str] | None, stored: Mapping[str, Any]
) -> int:
    """Write the archive and return how many files of code are in it; nobody else may read it.

    Parameters
    ----------
    path : Path
        Must not be there yet.
    student : str
    roster_row : mapping of str to str, optional
        The person's fields in the roster.
    stored : mapping
        Of :meth:`PersonRecords.everything_on`.

    Raises
    ------
    InputError
        A file of that name is there; it is left as it is.
    StoreError
        It can't be written.
    """
    if path.exists() or path.is_symlink():
        raise InputError("a file of that name exists", where=str(path), next_step="choose another name")
    code: dict[str, str] = {}
    attempt_rows = []
    for row in stored[attempts.name]:
        code_files = dict(_code(row))
        code |= code_files
        rest = {name: value for name, value in row.items() if name not in ("source", "modules")}
        attempt_rows.append(rest | {"code": [*code_files]})
    person = {"student": student, "written": datetime.now(UTC).isoformat(), "roster": roster_row, **stored}
    document = json.dumps(person | {attempts.name: attempt_rows}, ensure_ascii=False, indent=2)
    files = {"README.txt": _READ_ME.format(version=__version__), "person.json": document, **code}
    step = "make room, or name a file in a folder that you may write to"
    with (
        write_errors("the archive can't be written", path, next_step=step, kind=StoreError),
        replacing(path, private=True) as file,
    ):
        file.write(zip_bytes(files))
    return len(code)


def _code(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the code of an attempt: file names in the archive, and texts."""
    # Item and module names come from outside: without slashes and dots, no name leads out of its folder.
    folder = f"code/{row['id']:05d}-{re.sub('[^A-Za-z0-9_-]', '_', row['item'])}"
    if row["source"] is not None:
        yield f"{folder}/submission.py", row["source"]
    for number, (name, text) in enumerate(sorted((row["modules"] or {}).items()), start=1):
        plain = name if re.fullmatch("[A-Za-z_][A-Za-z0-9_]{0,60}", name) else f"module-{number}"
        yield f"{folder}/beside/{plain}.py", text
