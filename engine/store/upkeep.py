"""Look after a store: check it, back it up, copy it to another database.

A check looks at the file, its tables, every row, and at what rows say about each other. A copy is compared
with the original afterwards. Others may go on grading meanwhile: both work on one state of the store.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from engine.errors import InputError, StoreError
from engine.model import CodeSubmission, GradeReport, Mode, Quiz, Variant
from engine.store.attempt import SETTLED, attempt_of
from engine.store.database import Database, StorePart, open_database, schema_version
from engine.store.sql_tables import attempts, decode, hand_marks, metadata, quiz_retries, quizzes, regrades
from engine.store.sqlite import begin_file, store_faults
from engine.store.waiting import HandInState
from engine.store.web_tables import (
    audit_log,
    lti_grades,
    lti_nonces,
    lti_platforms,
    timed_sittings,
    waiting_hand_ins,
)
from engine.text.files import replacing

_PAGE = 200  # rows in memory at a time
_MOST_FAULTS = 1000  # a damaged store of a large class has as many as it has rows: nobody reads on


@dataclass(frozen=True, slots=True)
class StoreCheck:
    """The result of a check.

    Parameters
    ----------
    schema : str
        Revision of the tables.
    rows : mapping of str to int
        Rows by table.
    faults : tuple of str
        One sentence each, the first thousand; empty for a sound store.
    """

    schema: str
    rows: Mapping[str, int]
    faults: tuple[str, ...]


_RowCheck = Callable[[sa.RowMapping, str], str | None]


def _count_rows(connection: sa.Connection) -> dict[str, int]:
    return {
        table.name: connection.execute(sa.select(sa.func.count()).select_from(table)).scalar_one()
        for table in metadata.sorted_tables
    }


def _faults(connection: sa.Connection, database: Database) -> Iterator[str]:
    if not database.is_server:
        report_lines = connection.exec_driver_sql("PRAGMA integrity_check").scalars().all()
        yield from (f"the file: {line}" for line in report_lines if line != "ok")
    for table in metadata.sorted_tables:
        missing = {c.name for c in table.columns} - {
            c["name"] for c in sa.inspect(connection).get_columns(table.name)
        }
        if missing:
            yield f"{table.name}: no column {', '.join(sorted(missing))}"
            continue
        yield from _duplicates(connection, table)
        yield from _orphans(connection, table)
        yield from _unreadable(connection, table, database.where)


def _duplicates(connection: sa.Connection, table: sa.Table) -> Iterator[str]:
    """Yield rows that exist twice although a constraint forbids it, because its index was lost."""
    for constraint in table.constraints:
        if isinstance(constraint, sa.UniqueConstraint | sa.PrimaryKeyConstraint):
            columns = list(constraint.columns)
            query = sa.select(*columns).group_by(*columns).having(sa.func.count() > 1)
            for row in connection.execute(query):
                yield f"{table.name}: twice there: {', '.join(map(str, row))}"


def _orphans(connection: sa.Connection, table: sa.Table) -> Iterator[str]:
    """Yield rows that refer to a row of another table that isn't there."""
    for constraint in table.foreign_key_constraints:
        other = constraint.referred_table
        pairs = [(element.parent, element.column) for element in constraint.elements]
        query = (
            sa.select(*table.primary_key)
            .select_from(table.outerjoin(other, sa.and_(*(mine == theirs for mine, theirs in pairs))))
            .where(pairs[0][1].is_(None), *(mine.is_not(None) for mine, _ in pairs))
        )
        for row in connection.execute(query):
            yield f"{table.name} {', '.join(map(str, row))}: its row of {other.name} isn't there"


def _unreadable(connection: sa.Connection, table: sa.Table, where: str) -> Iterator[str]:
    """Yield rows that can't be read, or whose columns contradict their report."""
    key = list(table.primary_key)
    check = _ROW_CHECKS.get(table.name)
    keys = connection.execute(sa.select(*key).order_by(*key)).all()
    # By key, page by page: one damaged row must not hide those behind it.
    for start in range(0, len(keys), _PAGE):
        page = keys[start : start + _PAGE]
        query = sa.select(table).where(sa.tuple_(*key).in_([tuple(k) for k in page]))
        try:
            rows = list(connection.execute(query).mappings())
        except (ValueError, TypeError):  # some value doesn't fit its column: find out in which row
            rows = []
            for values in page:
                same = sa.and_(*(column == value for column, value in zip(key, values, strict=True)))
                try:
                    rows += connection.execute(sa.select(table).where(same)).mappings()
                except (ValueError, TypeError) as error:
                    yield f"{table.name} {', '.join(map(str, values))}: {error}"
        for row in rows if check is not None else ():
            fault = _fault_of(check, row, where)
            if fault is not None:
                yield f"{table.name} {', '.join(str(row[c.name]) for c in key)}: {fault}"


def _fault_of(check: _RowCheck | None, row: Any, where: str) -> str | None:
    assert check is not None
    try:
        return check(row, where)
    except StoreError as error:
        return f"{error.what} ({error.got})"
    except ValueError as error:
        return str(error)


def _differing(row: sa.RowMapping, values: Mapping[str, Any], source: str) -> str | None:
    """Return the first column that contradicts the JSON value in the same row."""
    for name, value in values.items():
        if row[name] != value:
            return f"its column {name} says {row[name]}, its {source} {value}"
    return None


def _quiz(row: sa.RowMapping, where: str) -> str | None:
    quiz = decode(Quiz, row["quiz"], where)
    return _differing(
        row, {name: getattr(quiz, name) for name in ("id", "student", "name", "attempt")}, "quiz"
    )


def _attempt(row: sa.RowMapping, where: str) -> str | None:
    report = attempt_of(row, where).report
    names = ("item", "item_version", "outcome", "score", "max_score", "mode")
    return _differing(row, {name: getattr(report, name) for name in names}, "report") or _score(report)


def _score(report: GradeReport) -> str | None:
    if (report.outcome in SETTLED) != (report.score is not None):
        return f"the score {report.score} doesn't fit the outcome {report.outcome}"
    # Scores are rounded to six decimals, and so may be a hair above the full points.
    if report.score is not None and not 0 <= report.score <= report.max_score + 1e-6:
        return f"the score {report.score} isn't between 0 and {report.max_score}"
    return None


def _regrade(row: sa.RowMapping, where: str) -> str | None:
    Mode(row["mode"])
    if row["old_variant"] is not None:
        decode(Variant, row["old_variant"], where)
    reports = [decode(GradeReport, row[name], where) for name in ("old_report", "new_report")]
    if any(report.item != row["item"] for report in reports):
        return "its reports are about another item"
    return next((fault for report in reports if (fault := _score(report))), None)


def _retry(row: sa.RowMapping, where: str) -> str | None:
    decode(Variant, row["variant"], where)
    return None


def _hand_mark(row: sa.RowMapping, where: str) -> str | None:
    score = row["score"]
    return None if score is None or math.isfinite(score) else f"the score is {score}"


def _waiting_hand_in(row: sa.RowMapping, where: str) -> str | None:
    Mode(row["mode"])
    if HandInState(row["state"]) is HandInState.DONE:
        return None
    code = decode(CodeSubmission, row["code"], where)
    return _differing(row, {"submission": code.sha256}, "code")


def _timed_sitting(row: sa.RowMapping, _where: str) -> str | None:
    return None if row["started"] <= row["ends"] else "it ends before it starts"


def _lti_grade(row: sa.RowMapping, _where: str) -> str | None:
    score, maximum = row["score"], row["maximum"]
    if not (math.isfinite(maximum) and maximum > 0):
        return f"the maximum is {maximum}"
    return None if score is None or math.isfinite(score) else f"the score is {score}"


def _json_check(**columns: type) -> _RowCheck:
    def check(row: sa.RowMapping, _where: str) -> str | None:
        wrong = [name for name, kind in columns.items() if not isinstance(json.loads(row[name]), kind)]
        return f"its {wrong[0]} aren't a JSON {columns[wrong[0]].__name__}" if wrong else None

    return check


_ROW_CHECKS: Mapping[str, _RowCheck] = {
    audit_log.name: _json_check(details=dict),
    lti_grades.name: _lti_grade,
    lti_nonces.name: _json_check(data=dict),
    lti_platforms.name: _json_check(deployments=list, contexts=dict, frames=list),
    timed_sittings.name: _timed_sitting,
    waiting_hand_ins.name: _waiting_hand_in,
    quizzes.name: _quiz,
    attempts.name: _attempt,
    quiz_retries.name: _retry,
    hand_marks.name: _hand_mark,
    regrades.name: _regrade,
}


def _copy_rows(source: Database, target: Database) -> Mapping[str, int]:
    """Copy one state of a store, whatever others write to it meanwhile; all of it or nothing."""
    with source.snapshot() as reading, target.write() as writing:
        # Merging two stores would mix courses, or overwrite marks.
        if any(_count_rows(writing).values()):
            raise StoreError(
                "the store to copy to isn't empty",
                where=target.where,
                next_step="copy to a new file or database; nothing was changed",
            )
        rows = {}
        for table in metadata.sorted_tables:
            copied = _copy(table, reading, writing)
            # Read back and compared, while the transaction can still be taken back.
            if copied != _digest(table, writing):
                raise StoreError(
                    f"the copy of {table.name} isn't what was copied",
                    where=target.where,
                    next_step="run it again; if it fails again, report it. The copy was removed",
                )
            rows[table.name] = copied[0]
            if target.is_server and "id" in table.columns and table.autoincrement_column is not None:
                _go_on_counting(table, writing)
    return rows


def _copy(table: sa.Table, reading: sa.Connection, writing: sa.Connection) -> tuple[int, int]:
    count, digest = 0, 0
    rows = reading.execute(sa.select(table).execution_options(yield_per=_PAGE))
    for page in rows.mappings().partitions(_PAGE):
        writing.execute(sa.insert(table), [dict(row) for row in page])
        count += len(page)
        digest += sum(map(_hash, page))
    return count, digest


def _digest(table: sa.Table, connection: sa.Connection) -> tuple[int, int]:
    """Return the number of rows, and a digest of them in any order."""
    # A sum of hashes: the databases sort texts differently, so the rows come in different orders.
    rows = connection.execute(sa.select(table).execution_options(yield_per=_PAGE))
    count, digest = 0, 0
    for row in rows.mappings():
        count += 1
        digest += _hash(row)
    return count, digest


def _hash(row: sa.RowMapping) -> int:
    plain = [v.astimezone(UTC).isoformat() if isinstance(v, datetime) else v for v in row.values()]
    return int.from_bytes(hashlib.sha256(repr(plain).encode("utf-8", "surrogatepass")).digest(), "big")


def _go_on_counting(table: sa.Table, connection: sa.Connection) -> None:
    """Let the server number new rows after the copied ones."""
    # Copied ids don't move a server's sequence: the next attempt would collide with the first.
    highest = sa.select(sa.func.coalesce(sa.func.max(table.c.id), 0) + 1).scalar_subquery()
    sequence = sa.func.pg_get_serial_sequence(table.name, "id")
    connection.execute(sa.select(sa.func.setval(sequence, highest, False)))


class StoreUpkeep(StorePart):
    """Checks and copies of one store; others may go on grading meanwhile."""

    def check(self) -> StoreCheck:
        """Look at everything in the store, in one state of it; nothing is changed."""
        database = self._database
        with database.snapshot() as connection:
            faults = tuple(islice(_faults(connection, database), _MOST_FAULTS))
            schema = schema_version(connection, database.where) or ""
            return StoreCheck(schema, _count_rows(connection), faults)

    def clock(self) -> tuple[datetime | None, datetime | None]:
        """Return the newest time that is stored, and what a database's server says the time is."""
        database = self._database
        newest = [sa.select(sa.func.max(column)) for column in (attempts.c.finished, audit_log.c.at)]
        with database.read() as connection:
            times = [connection.execute(query).scalar() for query in newest]
            # Within a transaction now() stands still; this is the clock itself.
            elsewhere = (
                connection.execute(sa.select(sa.func.clock_timestamp())) if database.is_server else None
            )
            server_time = None if elsewhere is None else elsewhere.scalar_one()
        return max((t for t in times if t is not None), default=None), server_time

    def back_up(self, path: Path) -> Mapping[str, int]:
        """Write one state of the store to an SQLite file, and return the number of rows by table.

        The file is there whole and checked or not at all, and nobody but its owner may read it.

        Raises
        ------
        InputError
            A file of that name is there; it is left as it is.
        StoreError
            It can't be written, or the store is damaged.
        """
        if path.exists() or path.is_symlink():
            raise InputError(
                "a file of that name exists",
                where=str(path),
                next_step="choose another name; it is left as it is",
            )
        with store_faults(str(path)), replacing(path, durable=True, private=True) as file:
            part = Path(file.name)
            try:
                if self._database.is_server:
                    begin_file(part, "DELETE")  # an empty file would be refused as a store that was emptied
                    self.copy_to(part)
                else:
                    self._database.save_as(part)
                return _finished(part)
            finally:
                for kind in ("wal", "shm", "journal"):  # SQLite's files beside the database
                    with contextlib.suppress(OSError):
                        part.with_name(f"{part.name}-{kind}").unlink()

    def copy_to(self, target: str | Path) -> tuple[Mapping[str, int], str]:
        """Copy everything to another store, which must be empty or missing.

        Returns
        -------
        rows : mapping of str to int
            By table.
        where : str
            The other store, without a password.

        Raises
        ------
        StoreError
            That store isn't empty, or the copy differs from the source; it is then left empty.
        """
        database = open_database(target)
        try:
            return _copy_rows(self._database, database), database.where
        finally:
            database.close()


def _finished(part: Path) -> Mapping[str, int]:
    """Make a new store one file without a log beside it, check it, and return the number of rows by table."""
    raw = sqlite3.connect(part, isolation_level=None)
    try:
        raw.execute("PRAGMA journal_mode = DELETE")
        report_lines = [line for (line,) in raw.execute("PRAGMA integrity_check")]
        if report_lines != ["ok"]:
            raise StoreError(
                "the store is damaged: a backup of it would be too",
                got=report_lines[0],
                next_step="keep the file, and recover what can be with `sqlite3 FILE .recover`",
            )
        return {
            table.name: raw.execute(f'SELECT count(*) FROM "{table.name}"').fetchone()[0]
            for table in metadata.sorted_tables
        }
    finally:
        raw.close()
