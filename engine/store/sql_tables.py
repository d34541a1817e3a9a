"""The tables, in portable types: the same definitions serve SQLite and PostgreSQL.

Values are kept as JSON beside the columns that queries need, so that a new field of a report needs no
migration.
"""

from __future__ import annotations

from datetime import UTC, datetime

import sqlalchemy as sa

from engine.store.codec import storable
from engine.text.escape import clean_line
from engine.text.words import count_noun

# The head revision of migrations/versions; a test compares the two.
SCHEMA_VERSION = "0003"
# Not Alembic's usual name: another program in the same database may use that.
VERSION_TABLE = "softmark_schema"


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
