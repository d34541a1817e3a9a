"""Whether a store is sound: the file, its tables, every row, and what rows say of each other."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from engine.errors import StoreError
from engine.model import GradeReport, Mode, Quiz, Variant
from engine.store.attempt import SETTLED
from engine.store.codec import decode
from engine.store.database import Database
from engine.store.rows import attempt_of
from engine.store.schema import schema_version
from engine.store.tables import attempts, hand_marks, metadata, quiz_retries, quizzes, regrades

__all__ = ["StoreCheck", "check_database", "count_rows"]

_PAGE = 200
_MOST_FAULTS = 1000


@dataclass(frozen=True, slots=True)
class StoreCheck:
    """What was found.

    Parameters
    ----------
    schema : str
        Revision of the tables.
    rows : mapping of str to int
        Rows by table.
    faults : tuple of str
        One sentence each, the first thousand; empty: the store is sound.
    """

    schema: str
    rows: Mapping[str, int]
    faults: tuple[str, ...]


def check_database(database: Database) -> StoreCheck:
    """Look at everything in a store, in one state of it; nothing is changed."""
    faults: list[str] = []
    with database.snapshot() as connection:
        for fault in _faults(connection, database):
            faults.append(fault)
            if len(faults) == _MOST_FAULTS:
                break
        schema = schema_version(connection, database.where) or ""
        return StoreCheck(schema, count_rows(connection), tuple(faults))


def count_rows(connection: sa.Connection) -> dict[str, int]:
    """Return how many rows each table has."""
    return {
        table.name: connection.execute(sa.select(sa.func.count()).select_from(table)).scalar_one()
        for table in metadata.sorted_tables
    }


def _faults(connection: sa.Connection, database: Database) -> Iterator[str]:
    if not database.is_server:
        said = connection.exec_driver_sql("PRAGMA integrity_check").scalars().all()
        yield from (f"the file: {line}" for line in said if line != "ok")
    for table in metadata.sorted_tables:
        missing = {c.name for c in table.columns} - {
            c["name"] for c in sa.inspect(connection).get_columns(table.name)
        }
        if missing:
            yield f"{table.name}: no column {', '.join(sorted(missing))}"
            continue
        yield from _doubled(connection, table)
        yield from _orphans(connection, table)
        yield from _unreadable(connection, table, database.where)


def _doubled(connection: sa.Connection, table: sa.Table) -> Iterator[str]:
    """Tell what is there twice though it may be there once, if an index that forbids it was lost."""
    for constraint in table.constraints:
        if isinstance(constraint, sa.UniqueConstraint | sa.PrimaryKeyConstraint):
            columns = list(constraint.columns)
            query = sa.select(*columns).group_by(*columns).having(sa.func.count() > 1)
            for row in connection.execute(query):
                yield f"{table.name}: twice there: {', '.join(map(str, row))}"


def _orphans(connection: sa.Connection, table: sa.Table) -> Iterator[str]:
    """Tell rows that belong to a row of another table that isn't there."""
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
    """Tell rows that can't be read, or that say different things in their columns and their report."""
    key = list(table.primary_key)
    check = _ROWS.get(table.name)
    keys = connection.execute(sa.select(*key).order_by(*key)).all()
    for start in range(0, len(keys), _PAGE):
        page = keys[start : start + _PAGE]
        query = sa.select(table).where(sa.tuple_(*key).in_([tuple(k) for k in page]))
        try:
            rows = list(connection.execute(query).mappings())
        except (ValueError, TypeError):  # one of them isn't what its column is for: find out which
            rows = []
            for one in page:
                same = sa.and_(*(column == value for column, value in zip(key, one, strict=True)))
                try:
                    rows += connection.execute(sa.select(table).where(same)).mappings()
                except (ValueError, TypeError) as error:
                    yield f"{table.name} {', '.join(map(str, one))}: {error}"
        for row in rows if check else ():
            fault = _fault_of(check, row, where)
            if fault is not None:
                yield f"{table.name} {', '.join(str(row[c.name]) for c in key)}: {fault}"


def _fault_of(check: Callable[[sa.RowMapping, str], str | None] | None, row: Any, where: str) -> str | None:
    assert check is not None
    try:
        return check(row, where)
    except StoreError as error:
        return f"{error.what} ({error.got})"
    except ValueError as error:
        return str(error)


def _differing(row: sa.RowMapping, told: Mapping[str, Any], what: str) -> str | None:
    """Tell the first column that says something else than what the row holds as a whole."""
    for name, value in told.items():
        if row[name] != value:
            return f"its column {name} says {row[name]}, its {what} {value}"
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


_ROWS: Mapping[str, Callable[[sa.RowMapping, str], str | None]] = {
    quizzes.name: _quiz,
    attempts.name: _attempt,
    quiz_retries.name: _retry,
    hand_marks.name: _hand_mark,
    regrades.name: _regrade,
}
