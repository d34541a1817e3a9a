"""Decisions about answer sheets can be undone: a later row takes back what an earlier one says."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column that says that a decision takes back the one before."""
    withdrawn = sa.Column("withdrawn", sa.Boolean, nullable=False, server_default=sa.false())
    op.add_column("scan_decisions", withdrawn)
