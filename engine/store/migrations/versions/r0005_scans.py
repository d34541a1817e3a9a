"""Scanned answer sheets: what stands on each page, and what people decided where it was unclear."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the tables of scans."""
    op.create_table(
        "scan_decisions",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("exam", sa.String(16), nullable=False),
        sa.Column("copy", sa.Integer, nullable=False),
        sa.Column("student", sa.String(200)),
        sa.Column("field", sa.String(100), nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("by", sa.String(200), nullable=False),
        sa.Column("at", sa.DateTime, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_scan_decisions"),
    )
    op.create_index("ix_scan_decisions_copy", "scan_decisions", ["exam", "copy"])
    op.create_table(
        "scanned_pages",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("exam", sa.String(16), nullable=False),
        sa.Column("copy", sa.Integer, nullable=False),
        sa.Column("page", sa.Integer, nullable=False),
        sa.Column("student", sa.String(200)),
        sa.Column("content", sa.String(64), nullable=False),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("reading", sa.Text, nullable=False),
        sa.Column("at", sa.DateTime, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_scanned_pages"),
        sa.UniqueConstraint("exam", "copy", "page", "content", name="uq_scanned_pages_content"),
    )
