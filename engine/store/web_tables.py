"""The tables of the site (``grade serve``): what people save, ask and decide there, and who is signed in.

Each table says whom a row is about, in a column ``student`` or ``person``, so that everything on a person can
be handed out and erased; :data:`IMPERSONAL` lists those that are about nobody. Secrets that are given out
(links, codes, cookies) are kept as hashes: whoever reads the store can't sign in with what is in it.
"""

from __future__ import annotations

import sqlalchemy as sa

from engine.store.sql_tables import ShortText, UtcTime, metadata

# --- a quiz on the site ---

published_quizzes = sa.Table(
    "published_quizzes",
    metadata,
    sa.Column("name", ShortText(200), primary_key=True),
    sa.Column("at", UtcTime, nullable=False),
    sa.Column("by", ShortText(200), nullable=False),
)

# What a student has typed into a field and not handed in; `revision` counts its changes, so that a window
# with an older text can't overwrite a newer one unnoticed.
drafts = sa.Table(
    "drafts",
    metadata,
    sa.Column("quiz_id", ShortText(64), primary_key=True),
    sa.Column("student", ShortText(200), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("retry", sa.Integer, primary_key=True),
    sa.Column("part", ShortText(64), primary_key=True),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("revision", sa.Integer, nullable=False),
    sa.Column("saved", UtcTime, nullable=False),
    sa.ForeignKeyConstraint(["quiz_id", "student"], ["quizzes.id", "quizzes.student"], name="fk_drafts_quiz"),
)

# One row once a student has begun a quiz that has an end, by its time limit or its deadline. From `ended` on
# no answer is taken; `handed` is when what was saved by then was handed in, and until then it is tried again.
timed_sittings = sa.Table(
    "timed_sittings",
    metadata,
    sa.Column("quiz_id", ShortText(64), primary_key=True),
    sa.Column("student", ShortText(200), primary_key=True),
    sa.Column("started", UtcTime, nullable=False),
    sa.Column("ends", UtcTime, nullable=False),
    sa.Column("ended", UtcTime),
    sa.Column("handed", UtcTime),
    sa.ForeignKeyConstraint(
        ["quiz_id", "student"], ["quizzes.id", "quizzes.student"], name="fk_timed_sittings_quiz"
    ),
)

# --- code handed in on the site ---

# The columns that the queue reads come before the code: SQLite reads a row from its beginning.
waiting_hand_ins = sa.Table(
    "waiting_hand_ins",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("student", ShortText(200), nullable=False),
    sa.Column("item", ShortText(64), nullable=False),
    sa.Column("submission", ShortText(64), nullable=False),  # sha256
    sa.Column("mode", ShortText(16), nullable=False),
    sa.Column("handed", UtcTime, nullable=False),
    sa.Column("state", ShortText(16), nullable=False),  # waiting, running, done, set_aside
    sa.Column("turn", sa.Integer),  # the how-manieth hand-in that was begun
    sa.Column("worker", ShortText(200)),
    sa.Column("begun", UtcTime),
    sa.Column("heartbeat", UtcTime),
    sa.Column("tries", sa.Integer, nullable=False),  # that the machine failed
    sa.Column("losses", sa.Integer, nullable=False),  # workers that died over it
    sa.Column("reason", sa.Text),
    sa.Column("code", sa.Text, nullable=False),  # JSON of model.CodeSubmission; "" once it is done
    sa.Index("ix_waiting_hand_ins_state", "state"),
    sa.Index("ix_waiting_hand_ins_turn", "turn"),
    sa.Index("ix_waiting_hand_ins_student", "student", "item"),
)

# --- what people ask and decide ---

# More time, another deadline or an excuse for one student, given on the site or by a command: they count as
# those in course.yaml do. Rows are only added; `withdrawn` ends one.
allowances = sa.Table(
    "allowances",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("student", ShortText(200), nullable=False),
    sa.Column("assignment", ShortText(200)),  # None: all of them
    sa.Column("kind", ShortText(16), nullable=False),  # deadline, excuse, time
    sa.Column("due", ShortText(32)),  # as course.yaml writes it: a local time without a zone
    sa.Column("days", sa.Integer),
    sa.Column("percent", sa.Double),  # of a time limit, on top of it
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("by", ShortText(200), nullable=False),
    sa.Column("at", UtcTime, nullable=False),
    sa.Column("withdrawn", UtcTime),
    sa.Index("ix_allowances_student", "student"),
)

student_requests = sa.Table(
    "student_requests",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("student", ShortText(200), nullable=False),
    sa.Column("kind", ShortText(16), nullable=False),  # regrade, extension
    sa.Column("subject", ShortText(300), nullable=False),  # a column of the gradebook, or an assignment
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("asked", UtcTime, nullable=False),
    sa.Column("state", ShortText(16), nullable=False),  # open, granted, refused, withdrawn
    sa.Column("answer", sa.Text),
    sa.Column("by", ShortText(200)),
    sa.Column("decided", UtcTime),
    sa.Index("ix_student_requests_state", "state"),
    sa.Index("ix_student_requests_student", "student"),
)

code_comments = sa.Table(
    "code_comments",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("student", ShortText(200), nullable=False),
    sa.Column("item", ShortText(64), nullable=False),
    sa.Column("submission", ShortText(64), nullable=False),
    sa.Column("file", sa.Text, nullable=False),
    sa.Column("line", sa.Integer, nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("by", ShortText(200), nullable=False),
    sa.Column("at", UtcTime, nullable=False),
    sa.Column("removed", UtcTime),
    sa.Index("ix_code_comments_submission", "student", "item", "submission"),
)

# Sentences that markers use again, for one item or for all.
saved_comments = sa.Table(
    "saved_comments",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("item", ShortText(64)),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("points", sa.Double),
    sa.Column("by", ShortText(200), nullable=False),
    sa.Column("at", UtcTime, nullable=False),
    sa.Column("removed", UtcTime),
)

# Who did what when. Rows are only added.
audit_log = sa.Table(
    "audit_log",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("at", UtcTime, nullable=False),
    sa.Column("by", ShortText(200), nullable=False),
    sa.Column("role", ShortText(16), nullable=False),
    sa.Column("action", ShortText(64), nullable=False),
    sa.Column("student", ShortText(200)),  # whom it is about, if it is about somebody
    sa.Column("subject", ShortText(300), nullable=False),
    sa.Column("details", sa.Text, nullable=False),  # JSON
    sa.Index("ix_audit_log_at", "at"),
    sa.Index("ix_audit_log_student", "student"),
)

# --- signing in ---

sessions = sa.Table(
    "sessions",
    metadata,
    sa.Column("id", ShortText(64), primary_key=True),  # hash of the cookie
    sa.Column("person", ShortText(200), nullable=False),
    sa.Column("role", ShortText(16)),  # as an LMS said it; None: as roster.csv and staff.csv say now
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("way", ShortText(16), nullable=False),  # mail, code, oidc, lti, terminal
    sa.Column("device", ShortText(100), nullable=False),  # "Firefox on Linux"
    sa.Column("created", UtcTime, nullable=False),
    sa.Column("seen", UtcTime, nullable=False),
    sa.Column("expires", UtcTime, nullable=False),  # at the latest
    sa.Column("revoked", UtcTime),
    sa.Index("ix_sessions_person", "person"),
)

sign_in_secrets = sa.Table(
    "sign_in_secrets",
    metadata,
    sa.Column("id", ShortText(64), primary_key=True),  # hash of the link's token or of the code
    sa.Column("person", ShortText(200), nullable=False),
    sa.Column("kind", ShortText(16), nullable=False),  # mail, terminal, code
    sa.Column("assignment", ShortText(200)),  # the quiz of an exam room for which a code is valid
    sa.Column("created", UtcTime, nullable=False),
    sa.Column("begins", UtcTime),  # not valid before
    sa.Column("expires", UtcTime, nullable=False),
    sa.Column("used", UtcTime),
    sa.Index("ix_sign_in_secrets_person", "person"),
)

# --- learning systems (LTI 1.3) ---

lti_platforms = sa.Table(
    "lti_platforms",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("issuer", ShortText(500), nullable=False),
    sa.Column("client_id", ShortText(300), nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("deployments", sa.Text, nullable=False),  # JSON: list of ids; empty accepts the first one seen
    sa.Column(
        "contexts", sa.Text, nullable=False
    ),  # JSON: its courses by id, with title and whether accepted
    sa.Column(
        "frames", sa.Text, nullable=False
    ),  # JSON: origins of its pages, which may show ours in a frame
    sa.Column("login_url", sa.Text, nullable=False),
    sa.Column("token_url", sa.Text, nullable=False),
    sa.Column("keys_url", sa.Text, nullable=False),
    sa.Column("audience", sa.Text),  # of access tokens, where it isn't the token URL
    sa.Column("added", UtcTime, nullable=False),
    sa.Column("by", ShortText(200), nullable=False),
    sa.Column("disabled", UtcTime),
    sa.UniqueConstraint("issuer", "client_id", name="uq_lti_platforms_client"),
)

lti_keys = sa.Table(
    "lti_keys",
    metadata,
    sa.Column("id", ShortText(64), primary_key=True),  # kid
    sa.Column("private", sa.Text, nullable=False),  # PEM
    sa.Column("created", UtcTime, nullable=False),
    sa.Column("retired", UtcTime),
)

lti_nonces = sa.Table(
    "lti_nonces",
    metadata,
    sa.Column("id", ShortText(64), primary_key=True),  # hash of issuer and nonce, or of a login's state
    sa.Column("kind", ShortText(16), nullable=False),  # state, nonce, registration
    sa.Column("data", sa.Text, nullable=False),  # JSON
    sa.Column("expires", UtcTime, nullable=False),
    sa.Column("used", UtcTime),
)

# Who a learning system's user is in this course, one row for each of its courses in which the user is.
lti_people = sa.Table(
    "lti_people",
    metadata,
    sa.Column("platform", sa.Integer, primary_key=True),
    sa.Column("context", ShortText(300), primary_key=True),
    sa.Column("subject", ShortText(300), primary_key=True),
    sa.Column("person", ShortText(200), nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("email", sa.Text, nullable=False),
    sa.Column("seen", UtcTime, nullable=False),
    sa.ForeignKeyConstraint(["platform"], ["lti_platforms.id"], name="fk_lti_people_platform"),
    sa.Index("ix_lti_people_person", "person"),
)

# What a link of a learning system opens, and the column of its gradebook that gets the marks.
lti_links = sa.Table(
    "lti_links",
    metadata,
    sa.Column("platform", sa.Integer, primary_key=True),
    sa.Column("deployment", ShortText(300), primary_key=True),
    sa.Column("link", ShortText(300), primary_key=True),
    sa.Column("assignment", ShortText(200)),  # a quiz's name or an exercise's item; None: not chosen yet
    sa.Column("context", ShortText(300), nullable=False),
    sa.Column("title", sa.Text, nullable=False),
    sa.Column("line_item", sa.Text),
    sa.Column("line_items", sa.Text),
    sa.Column("scopes", sa.Text, nullable=False),  # JSON: what we may do with them
    sa.Column("members_url", sa.Text),
    sa.Column("seen", UtcTime, nullable=False),
    sa.ForeignKeyConstraint(["platform"], ["lti_platforms.id"], name="fk_lti_links_platform"),
)

# The mark that a learning system must be told, one row for each of its columns and users: a newer mark
# replaces an older one that wasn't sent.
lti_grades = sa.Table(
    "lti_grades",
    metadata,
    sa.Column("platform", sa.Integer, primary_key=True),
    sa.Column("line_item", ShortText(1000), primary_key=True),
    sa.Column("subject", ShortText(300), primary_key=True),
    sa.Column("student", ShortText(200), nullable=False),
    sa.Column("score", sa.Double),
    sa.Column("maximum", sa.Double, nullable=False),
    sa.Column("progress", ShortText(16), nullable=False),  # graded, pending, manual
    sa.Column("is_final", sa.Boolean, nullable=False),
    sa.Column("comment", sa.Text, nullable=False),
    sa.Column("at", UtcTime, nullable=False),  # what the system compares: it grows with each new mark
    sa.Column("sent", UtcTime),  # `at` of the mark that the system has
    sa.Column("tries", sa.Integer, nullable=False),
    sa.Column("next_try", UtcTime),
    sa.Column("reason", sa.Text),
    sa.ForeignKeyConstraint(["platform"], ["lti_platforms.id"], name="fk_lti_grades_platform"),
    sa.Index("ix_lti_grades_next", "next_try"),
    sa.Index("ix_lti_grades_student", "student"),
)

# --- exams on paper ---

# What stands on one scanned page of an answer sheet; `content` tells two scans of it apart. Whose a spare
# copy is may be known later.
scanned_pages = sa.Table(
    "scanned_pages",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("exam", ShortText(16), nullable=False),
    sa.Column("copy", sa.Integer, nullable=False),
    sa.Column("page", sa.Integer, nullable=False),
    sa.Column("student", ShortText(200)),
    sa.Column("content", ShortText(64), nullable=False),
    sa.Column("source", sa.Text, nullable=False),  # file and page of it
    sa.Column("reading", sa.Text, nullable=False),  # JSON of engine.store.scans.ScannedPage
    sa.Column("at", UtcTime, nullable=False),
    sa.UniqueConstraint("exam", "copy", "page", "content", name="uq_scanned_pages_content"),
)

# What people decided about a field, or about a copy; the newest decision about a field holds, and one that is
# withdrawn opens the field again.
scan_decisions = sa.Table(
    "scan_decisions",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("exam", ShortText(16), nullable=False),
    sa.Column("copy", sa.Integer, nullable=False),
    sa.Column("student", ShortText(200)),
    sa.Column("field", ShortText(100), nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("by", ShortText(200), nullable=False),
    sa.Column("at", UtcTime, nullable=False),
    sa.Column("withdrawn", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Index("ix_scan_decisions_copy", "exam", "copy"),
)

# Tables that are about no single person.
IMPERSONAL = frozenset(
    table.name
    for table in (published_quizzes, saved_comments, lti_platforms, lti_keys, lti_nonces, lti_links)
)


def whose(table: sa.Table) -> sa.Column[str] | None:
    """Return the column that says whom a row is about; None for tables that are about nobody."""
    if table.name in IMPERSONAL:
        return None
    return table.c.student if "student" in table.c else table.c.person
