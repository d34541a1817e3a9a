"""What the site needs: typed answers, sittings, waiting code, decisions, sessions, learning systems."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the tables of the site."""
    op.create_table(
        "allowances",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("student", sa.String(200), nullable=False),
        sa.Column("assignment", sa.String(200)),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("due", sa.String(32)),
        sa.Column("days", sa.Integer),
        sa.Column("percent", sa.Double),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("by", sa.String(200), nullable=False),
        sa.Column("at", sa.DateTime, nullable=False),
        sa.Column("withdrawn", sa.DateTime),
        sa.PrimaryKeyConstraint("id", name="pk_allowances"),
    )
    op.create_index("ix_allowances_student", "allowances", ["student"])
    op.create_table(
        "audit_log",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("at", sa.DateTime, nullable=False),
        sa.Column("by", sa.String(200), nullable=False),
        sa.Column("role", sa.String(16), nullable=False),
        sa.Column("action", sa.String(64), nullable=False),
        sa.Column("student", sa.String(200)),
        sa.Column("subject", sa.String(300), nullable=False),
        sa.Column("details", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_audit_log"),
    )
    op.create_index("ix_audit_log_at", "audit_log", ["at"])
    op.create_index("ix_audit_log_student", "audit_log", ["student"])
    op.create_table(
        "code_comments",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("student", sa.String(200), nullable=False),
        sa.Column("item", sa.String(64), nullable=False),
        sa.Column("submission", sa.String(64), nullable=False),
        sa.Column("file", sa.Text, nullable=False),
        sa.Column("line", sa.Integer, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("by", sa.String(200), nullable=False),
        sa.Column("at", sa.DateTime, nullable=False),
        sa.Column("removed", sa.DateTime),
        sa.PrimaryKeyConstraint("id", name="pk_code_comments"),
    )
    op.create_index("ix_code_comments_submission", "code_comments", ["student", "item", "submission"])
    op.create_table(
        "lti_keys",
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("private", sa.Text, nullable=False),
        sa.Column("created", sa.DateTime, nullable=False),
        sa.Column("retired", sa.DateTime),
        sa.PrimaryKeyConstraint("id", name="pk_lti_keys"),
    )
    op.create_table(
        "lti_nonces",
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("data", sa.Text, nullable=False),
        sa.Column("expires", sa.DateTime, nullable=False),
        sa.Column("used", sa.DateTime),
        sa.PrimaryKeyConstraint("id", name="pk_lti_nonces"),
    )
    op.create_table(
        "lti_platforms",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("issuer", sa.String(500), nullable=False),
        sa.Column("client_id", sa.String(300), nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("deployments", sa.Text, nullable=False),
        sa.Column("contexts", sa.Text, nullable=False),
        sa.Column("frames", sa.Text, nullable=False),
        sa.Column("login_url", sa.Text, nullable=False),
        sa.Column("token_url", sa.Text, nullable=False),
        sa.Column("keys_url", sa.Text, nullable=False),
        sa.Column("audience", sa.Text),
        sa.Column("added", sa.DateTime, nullable=False),
        sa.Column("by", sa.String(200), nullable=False),
        sa.Column("disabled", sa.DateTime),
        sa.PrimaryKeyConstraint("id", name="pk_lti_platforms"),
        sa.UniqueConstraint("issuer", "client_id", name="uq_lti_platforms_client"),
    )
    op.create_table(
        "published_quizzes",
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("at", sa.DateTime, nullable=False),
        sa.Column("by", sa.String(200), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_published_quizzes"),
    )
    op.create_table(
        "saved_comments",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("item", sa.String(64)),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("points", sa.Double),
        sa.Column("by", sa.String(200), nullable=False),
        sa.Column("at", sa.DateTime, nullable=False),
        sa.Column("removed", sa.DateTime),
        sa.PrimaryKeyConstraint("id", name="pk_saved_comments"),
    )
    op.create_table(
        "sessions",
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("person", sa.String(200), nullable=False),
        sa.Column("role", sa.String(16)),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("way", sa.String(16), nullable=False),
        sa.Column("device", sa.String(100), nullable=False),
        sa.Column("created", sa.DateTime, nullable=False),
        sa.Column("seen", sa.DateTime, nullable=False),
        sa.Column("expires", sa.DateTime, nullable=False),
        sa.Column("revoked", sa.DateTime),
        sa.PrimaryKeyConstraint("id", name="pk_sessions"),
    )
    op.create_index("ix_sessions_person", "sessions", ["person"])
    op.create_table(
        "sign_in_secrets",
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("person", sa.String(200), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("assignment", sa.String(200)),
        sa.Column("created", sa.DateTime, nullable=False),
        sa.Column("begins", sa.DateTime),
        sa.Column("expires", sa.DateTime, nullable=False),
        sa.Column("used", sa.DateTime),
        sa.PrimaryKeyConstraint("id", name="pk_sign_in_secrets"),
    )
    op.create_index("ix_sign_in_secrets_person", "sign_in_secrets", ["person"])
    op.create_table(
        "student_requests",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("student", sa.String(200), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("subject", sa.String(300), nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("asked", sa.DateTime, nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("answer", sa.Text),
        sa.Column("by", sa.String(200)),
        sa.Column("decided", sa.DateTime),
        sa.PrimaryKeyConstraint("id", name="pk_student_requests"),
    )
    op.create_index("ix_student_requests_state", "student_requests", ["state"])
    op.create_index("ix_student_requests_student", "student_requests", ["student"])
    op.create_table(
        "waiting_hand_ins",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("student", sa.String(200), nullable=False),
        sa.Column("item", sa.String(64), nullable=False),
        sa.Column("submission", sa.String(64), nullable=False),
        sa.Column("mode", sa.String(16), nullable=False),
        sa.Column("handed", sa.DateTime, nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("turn", sa.Integer),
        sa.Column("worker", sa.String(200)),
        sa.Column("begun", sa.DateTime),
        sa.Column("heartbeat", sa.DateTime),
        sa.Column("tries", sa.Integer, nullable=False),
        sa.Column("losses", sa.Integer, nullable=False),
        sa.Column("reason", sa.Text),
        sa.Column("code", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_waiting_hand_ins"),
    )
    op.create_index("ix_waiting_hand_ins_state", "waiting_hand_ins", ["state"])
    op.create_index("ix_waiting_hand_ins_turn", "waiting_hand_ins", ["turn"])
    op.create_index("ix_waiting_hand_ins_student", "waiting_hand_ins", ["student", "item"])
    op.create_table(
        "drafts",
        sa.Column("quiz_id", sa.String(64), nullable=False),
        sa.Column("student", sa.String(200), nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("retry", sa.Integer, nullable=False),
        sa.Column("part", sa.String(64), nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("revision", sa.Integer, nullable=False),
        sa.Column("saved", sa.DateTime, nullable=False),
        sa.PrimaryKeyConstraint("quiz_id", "student", "number", "retry", "part", name="pk_drafts"),
        sa.ForeignKeyConstraint(
            ["quiz_id", "student"], ["quizzes.id", "quizzes.student"], name="fk_drafts_quiz"
        ),
    )
    op.create_table(
        "lti_grades",
        sa.Column("platform", sa.Integer, nullable=False),
        sa.Column("line_item", sa.String(1000), nullable=False),
        sa.Column("subject", sa.String(300), nullable=False),
        sa.Column("student", sa.String(200), nullable=False),
        sa.Column("score", sa.Double),
        sa.Column("maximum", sa.Double, nullable=False),
        sa.Column("progress", sa.String(16), nullable=False),
        sa.Column("is_final", sa.Boolean, nullable=False),
        sa.Column("comment", sa.Text, nullable=False),
        sa.Column("at", sa.DateTime, nullable=False),
        sa.Column("sent", sa.DateTime),
        sa.Column("tries", sa.Integer, nullable=False),
        sa.Column("next_try", sa.DateTime),
        sa.Column("reason", sa.Text),
        sa.PrimaryKeyConstraint("platform", "line_item", "subject", name="pk_lti_grades"),
        sa.ForeignKeyConstraint(["platform"], ["lti_platforms.id"], name="fk_lti_grades_platform"),
    )
    op.create_index("ix_lti_grades_next", "lti_grades", ["next_try"])
    op.create_index("ix_lti_grades_student", "lti_grades", ["student"])
    op.create_table(
        "lti_links",
        sa.Column("platform", sa.Integer, nullable=False),
        sa.Column("deployment", sa.String(300), nullable=False),
        sa.Column("link", sa.String(300), nullable=False),
        sa.Column("assignment", sa.String(200)),
        sa.Column("context", sa.String(300), nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("line_item", sa.Text),
        sa.Column("line_items", sa.Text),
        sa.Column("scopes", sa.Text, nullable=False),
        sa.Column("members_url", sa.Text),
        sa.Column("seen", sa.DateTime, nullable=False),
        sa.PrimaryKeyConstraint("platform", "deployment", "link", name="pk_lti_links"),
        sa.ForeignKeyConstraint(["platform"], ["lti_platforms.id"], name="fk_lti_links_platform"),
    )
    op.create_table(
        "lti_people",
        sa.Column("platform", sa.Integer, nullable=False),
        sa.Column("context", sa.String(300), nullable=False),
        sa.Column("subject", sa.String(300), nullable=False),
        sa.Column("person", sa.String(200), nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("email", sa.Text, nullable=False),
        sa.Column("seen", sa.DateTime, nullable=False),
        sa.PrimaryKeyConstraint("platform", "context", "subject", name="pk_lti_people"),
        sa.ForeignKeyConstraint(["platform"], ["lti_platforms.id"], name="fk_lti_people_platform"),
    )
    op.create_index("ix_lti_people_person", "lti_people", ["person"])
    op.create_table(
        "timed_sittings",
        sa.Column("quiz_id", sa.String(64), nullable=False),
        sa.Column("student", sa.String(200), nullable=False),
        sa.Column("started", sa.DateTime, nullable=False),
        sa.Column("ends", sa.DateTime, nullable=False),
        sa.Column("ended", sa.DateTime),
        sa.Column("handed", sa.DateTime),
        sa.PrimaryKeyConstraint("quiz_id", "student", name="pk_timed_sittings"),
        sa.ForeignKeyConstraint(
            ["quiz_id", "student"], ["quizzes.id", "quizzes.student"], name="fk_timed_sittings_quiz"
        ),
    )
