"""When an attempt was handed in, marks by hand, and what attempts were before a regrade."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add four columns and two tables."""
    op.add_column("attempts", sa.Column("modules", sa.Text))
    op.add_column("attempts", sa.Column("handed", sa.DateTime))
    op.add_column("attempts", sa.Column("marked_late", sa.Boolean, nullable=False, server_default=sa.false()))
    op.add_column("attempts", sa.Column("sequence", sa.Integer, nullable=False, server_default="0"))
    op.create_table(
        "hand_marks",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("student", sa.String(200), nullable=False),
        sa.Column("column", sa.String(300), nullable=False),
        sa.Column("score", sa.Double),
        sa.Column("excused", sa.Boolean, nullable=False),
        sa.Column("comment", sa.Text, nullable=False),
        sa.Column("by", sa.String(200), nullable=False),
        sa.Column("at", sa.DateTime, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_hand_marks"),
    )
    op.create_index("ix_hand_marks_student", "hand_marks", ["student", "column"])
    op.create_table(
        "regrades",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("run", sa.String(32), nullable=False),
        sa.Column("student", sa.String(200), nullable=False),
        sa.Column("item", sa.String(64), nullable=False),
        sa.Column("submission", sa.String(64), nullable=False),
        sa.Column("mode", sa.String(16), nullable=False),
        sa.Column("by", sa.String(200), nullable=False),
        sa.Column("at", sa.DateTime, nullable=False),
        sa.Column("cause", sa.Text, nullable=False),
        sa.Column("old_report", sa.Text, nullable=False),
        sa.Column("old_variant", sa.Text),
        sa.Column("new_report", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_regrades"),
        sa.ForeignKeyConstraint(
            ["student", "item", "submission", "mode"],
            ["attempts.student", "attempts.item", "attempts.submission", "attempts.mode"],
            name="fk_regrades_attempt",
        ),
    )
    op.create_index("ix_regrades_attempt", "regrades", ["student", "item"])
