"""The tables, and how values get into their columns: the same definitions serve SQLite and PostgreSQL.

Model values are kept as JSON beside the columns that queries need, so that a new field of a report needs no
migration. They are checked when they are read: any earlier version may have written them, or somebody with a
database tool, and a text that isn't a value of its class is a :class:`StoreError` with a next step, never a
traceback or a wrong mark.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any, TypeVar

import sqlalchemy as sa
from pydantic import TypeAdapter

from engine.errors import StoreError
from engine.text.words import clean_line, count_noun

# The head revision of migrations/versions; a test compares the two.
SCHEMA_VERSION = "0006"
# Not Alembic's usual name: another program in the same database may use that.
VERSION_TABLE = "softmark_schema"

T = TypeVar("T")

# Building an adapter takes milliseconds, and a batch encodes thousands of values of a few classes.
_ADAPTERS: dict[Any, TypeAdapter[Any]] = {}


def _adapter(kind: Any) -> TypeAdapter[Any]:
    if kind not in _ADAPTERS:
        _ADAPTERS[kind] = TypeAdapter(kind)
    return _ADAPTERS[kind]


def encode(value: Any) -> str:
    """Return `value` (a model dataclass) as ASCII JSON.

    ``NaN`` and infinities keep their JavaScript names and lone surrogates their escapes, so that no foreign
    text makes a result unstorable.
    """
    plain = _adapter(type(value)).dump_python(value, mode="json")
    return json.dumps(plain, ensure_ascii=True, separators=(",", ":"))


def decode(kind: type[T], text: str, where: str) -> T:
    """Return the value of class `kind` that `text` holds.

    Raises
    ------
    StoreError
        The text isn't what :func:`encode` wrote.
    """
    try:
        value: T = _adapter(kind).validate_python(json.loads(text))
    except (ValueError, RecursionError) as error:  # deeply nested text is damage too
        raise StoreError(
            f"a stored {kind.__name__} can't be read",
            where=where,
            got=str(error).splitlines()[0],
            next_step="restore the store from a backup; the row was changed by something else than Softmark",
        ) from error
    return value


def storable(text: str | None, limit: int | None = None) -> str | None:
    """Return a foreign text that every database can store, cut to `limit` characters."""
    # PostgreSQL refuses NUL, and both databases lone surrogates.
    if text is None:
        return None
    # Replaced, not refused: an odd file name must never cost a student the mark.
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")[:limit]


class UtcTime(sa.TypeDecorator[datetime]):
    """A moment in UTC; SQLite has no time zones, so the column holds none."""

    impl = sa.DateTime
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: sa.Dialect) -> datetime | None:
        """Refuse a time without a zone, and store it in UTC."""
        if value is None:
            return None
        # A guess at the zone could make work late that was in time.
        if value.tzinfo is None:
            raise ValueError("a time without zone can't be stored")
        # Both databases then compare and sort the same naive times.
        return value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(self, value: datetime | None, dialect: sa.Dialect) -> datetime | None:
        """Return the time with its zone."""
        return None if value is None else value.replace(tzinfo=UTC)


class ShortText(sa.TypeDecorator[str]):
    """A short text such as an id, held to what every database takes: SQLite itself would take anything."""

    impl = sa.String
    cache_ok = True

    def __init__(self, most: int) -> None:
        super().__init__(most)
        self.most = most

    def process_bind_param(self, value: str | None, dialect: sa.Dialect) -> str | None:
        """Refuse what is too long, and characters that no database stores."""
        if value is not None and (len(value) > self.most or storable(value) != value):
            limit = count_noun(self.most, "character")
            raise ValueError(f"'{clean_line(value, 60)}' isn't a text of at most {limit}, or holds NUL")
        return value


# Every constraint has a name, or a migration couldn't change it later.
metadata = sa.MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "ix": "ix_%(table_name)s_%(column_0_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
    }
)

quizzes = sa.Table(
    "quizzes",
    metadata,
    sa.Column("id", ShortText(64), primary_key=True),
    sa.Column("student", ShortText(200), primary_key=True),
    sa.Column("name", ShortText(200), nullable=False, index=True),
    sa.Column("title", sa.Text, nullable=False),
    sa.Column("attempt", sa.Integer, nullable=False),
    sa.Column("created", UtcTime, nullable=False),
    sa.Column("quiz", sa.Text, nullable=False),  # JSON of model.Quiz, keys included
)

attempts = sa.Table(
    "attempts",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("student", ShortText(200), nullable=False),
    sa.Column("item", ShortText(64), nullable=False),
    sa.Column("submission", ShortText(64), nullable=False),  # sha256
    sa.Column("mode", ShortText(16), nullable=False),
    sa.Column("item_version", ShortText(128), nullable=False),
    sa.Column("quiz_id", ShortText(64)),
    sa.Column("variant_id", ShortText(64)),
    sa.Column("variant", sa.Text),  # JSON of model.Variant: values, option order, keys
    sa.Column("response", sa.Text),  # JSON of model.Response
    sa.Column("source", sa.Text),
    sa.Column("filename", sa.Text, nullable=False),
    sa.Column("outcome", ShortText(16), nullable=False),
    sa.Column("score", sa.Double),
    sa.Column("max_score", sa.Double, nullable=False),
    sa.Column("reason", sa.Text),
    sa.Column("report", sa.Text, nullable=False),  # JSON of model.GradeReport, checks included
    sa.Column("tier", ShortText(16)),
    sa.Column("engine_version", ShortText(32), nullable=False),
    sa.Column("started", UtcTime, nullable=False),
    sa.Column("finished", UtcTime, nullable=False),
    sa.Column("modules", sa.Text),  # JSON: the files beside it that it imports, by module name
    sa.Column("handed", UtcTime),  # when it was handed in, where that is known
    sa.Column("marked_late", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("sequence", sa.Integer, nullable=False, server_default="0"),
    # One row per submission, whatever happens at the same time: never two marks for one file.
    # Practice and marks never meet, so a practice run can't turn into a mark.
    sa.UniqueConstraint("student", "item", "submission", "mode", name="uq_attempts_submission"),
    sa.ForeignKeyConstraint(
        ["quiz_id", "student"], ["quizzes.id", "quizzes.student"], name="fk_attempts_quiz"
    ),
    sa.CheckConstraint(
        "(outcome IN ('right', 'partial', 'wrong') AND score IS NOT NULL)"
        " OR (outcome IN ('ungraded', 'format_error') AND score IS NULL)",
        name="score_fits_outcome",
    ),
    sa.Index("ix_attempts_outcome", "outcome"),
    sa.Index("ix_attempts_quiz", "quiz_id"),
)

# The variants of a question that were drawn after the quiz was handed out, for later attempts.
quiz_retries = sa.Table(
    "quiz_retries",
    metadata,
    sa.Column("quiz_id", ShortText(64), primary_key=True),
    sa.Column("student", ShortText(200), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("retry", sa.Integer, primary_key=True),
    sa.Column("drawn", UtcTime, nullable=False),
    sa.Column("variant", sa.Text, nullable=False),  # JSON of model.Variant, keys included
    sa.ForeignKeyConstraint(
        ["quiz_id", "student"], ["quizzes.id", "quizzes.student"], name="fk_quiz_retries_quiz"
    ),
)

# One row for each hint taken: they cost points, so practice and marks are kept apart here too.
quiz_hints = sa.Table(
    "quiz_hints",
    metadata,
    sa.Column("quiz_id", ShortText(64), primary_key=True),
    sa.Column("student", ShortText(200), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("mode", ShortText(16), primary_key=True),
    sa.Column("hint", sa.Integer, primary_key=True),
    sa.Column("taken", UtcTime, nullable=False),
    sa.ForeignKeyConstraint(
        ["quiz_id", "student"], ["quizzes.id", "quizzes.student"], name="fk_quiz_hints_quiz"
    ),
)

# Marks by hand override what was graded; the newest row of a student and column counts.
hand_marks = sa.Table(
    "hand_marks",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("student", ShortText(200), nullable=False),
    sa.Column("column", ShortText(300), nullable=False),  # TableColumn.id of engine.marks.class_table
    sa.Column("score", sa.Double),
    sa.Column("excused", sa.Boolean, nullable=False),
    sa.Column("comment", sa.Text, nullable=False),
    sa.Column("by", ShortText(200), nullable=False),
    sa.Column("at", UtcTime, nullable=False),
    sa.Index("ix_hand_marks_student", "student", "column"),
)

# Every attempt as it was before it was marked again; rows are only ever added.
regrades = sa.Table(
    "regrades",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("run", ShortText(32), nullable=False),
    sa.Column("student", ShortText(200), nullable=False),
    sa.Column("item", ShortText(64), nullable=False),
    sa.Column("submission", ShortText(64), nullable=False),
    sa.Column("mode", ShortText(16), nullable=False),
    sa.Column("by", ShortText(200), nullable=False),
    sa.Column("at", UtcTime, nullable=False),
    sa.Column("cause", sa.Text, nullable=False),
    sa.Column("old_report", sa.Text, nullable=False),  # JSON of model.GradeReport
    sa.Column("old_variant", sa.Text),  # JSON of model.Variant, with the keys that held then
    sa.Column("new_report", sa.Text, nullable=False),
    sa.ForeignKeyConstraint(
        ["student", "item", "submission", "mode"],
        ["attempts.student", "attempts.item", "attempts.submission", "attempts.mode"],
        name="fk_regrades_attempt",
    ),
    sa.Index("ix_regrades_attempt", "student", "item"),
)
