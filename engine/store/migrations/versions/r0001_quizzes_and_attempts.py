"""The first schema: quizzes and attempts.

Written out, not taken from ``sql_tables.py``: a revision must not change when the tables do.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create both tables and their indexes."""
    op.create_table(
        "quizzes",
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("student", sa.String(200), nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("created", sa.DateTime, nullable=False),
        sa.Column("quiz", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", "student", name="pk_quizzes"),
    )
    op.create_index("ix_quizzes_name", "quizzes", ["name"])
    op.create_table(
        "attempts",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("student", sa.String(200), nullable=False),
        sa.Column("item", sa.String(64), nullable=False),
        sa.Column("submission", sa.String(64), nullable=False),
        sa.Column("mode", sa.String(16), nullable=False),
        sa.Column("item_version", sa.String(128), nullable=False),
        sa.Column("quiz_id", sa.String(64)),
        sa.Column("variant_id", sa.String(64)),
        sa.Column("variant", sa.Text),
        sa.Column("response", sa.Text),
        sa.Column("source", sa.Text),
        sa.Column("filename", sa.Text, nullable=False),
        sa.Column("outcome", sa.String(16), nullable=False),
        sa.Column("score", sa.Double),
        sa.Column("max_score", sa.Double, nullable=False),
        sa.Column("reason", sa.Text),
        sa.Column("report", sa.Text, nullable=False),
        sa.Column("tier", sa.String(16)),
        sa.Column("engine_version", sa.String(32), nullable=False),
        sa.Column("started", sa.DateTime, nullable=False),
        sa.Column("finished", sa.DateTime, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_attempts"),
        sa.UniqueConstraint("student", "item", "submission", "mode", name="uq_attempts_submission"),
        sa.ForeignKeyConstraint(
            ["quiz_id", "student"], ["quizzes.id", "quizzes.student"], name="fk_attempts_quiz"
        ),
        sa.CheckConstraint(
            "(outcome IN ('right', 'partial', 'wrong') AND score IS NOT NULL)"
            " OR (outcome IN ('ungraded', 'format_error') AND score IS NULL)",
            name=op.f("ck_attempts_score_fits_outcome"),
        ),
    )
    op.create_index("ix_attempts_outcome", "attempts", ["outcome"])
    op.create_index("ix_attempts_quiz", "attempts", ["quiz_id"])
