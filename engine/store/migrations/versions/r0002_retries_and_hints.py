"""Variants drawn for later attempts at a quiz question, and hints that were taken."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create both tables."""
    op.create_table(
        "quiz_retries",
        sa.Column("quiz_id", sa.String(64), nullable=False),
        sa.Column("student", sa.String(200), nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("retry", sa.Integer, nullable=False),
        sa.Column("drawn", sa.DateTime, nullable=False),
        sa.Column("variant", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("quiz_id", "student", "number", "retry", name="pk_quiz_retries"),
        sa.ForeignKeyConstraint(
            ["quiz_id", "student"], ["quizzes.id", "quizzes.student"], name="fk_quiz_retries_quiz"
        ),
    )
    op.create_table(
        "quiz_hints",
        sa.Column("quiz_id", sa.String(64), nullable=False),
        sa.Column("student", sa.String(200), nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("mode", sa.String(16), nullable=False),
        sa.Column("hint", sa.Integer, nullable=False),
        sa.Column("taken", sa.DateTime, nullable=False),
        sa.PrimaryKeyConstraint("quiz_id", "student", "number", "mode", "hint", name="pk_quiz_hints"),
        sa.ForeignKeyConstraint(
            ["quiz_id", "student"], ["quizzes.id", "quizzes.student"], name="fk_quiz_hints_quiz"
        ),
    )
