"""A store with something in every table, about two people."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import sqlalchemy as sa

from engine.model import (
    Check,
    ChoiceOption,
    CodeSubmission,
    Diagnosis,
    FloatArray,
    GradeReport,
    KnownWrong,
    Mode,
    Outcome,
    Part,
    Quiz,
    QuizQuestion,
    RenderedText,
    Response,
    Variant,
    Verdict,
)
from engine.store import Attempt, HandMark, Store
from engine.store.audit import AuditEntry
from engine.store.scans import ScanDecision, ScannedPage
from engine.store.sql_tables import metadata

__all__ = ["EVERYTHING", "NOW", "PEOPLE", "ROWS", "SECRETS", "SHARED", "fill"]

NOW = datetime(2026, 10, 25, 0, 30, 15, 123456, tzinfo=UTC)
PEOPLE = ("007", "7")
# Per person, by table in the order of upkeep.
ROWS = {
    "allowances": 1, "audit_log": 2, "code_comments": 1, "hand_marks": 1, "quizzes": 1, "scan_decisions": 1,
    "scanned_pages": 1, "sessions": 1, "sign_in_secrets": 1, "student_requests": 1, "waiting_hand_ins": 1,
    "attempts": 3, "drafts": 1, "lti_grades": 1, "lti_people": 1, "quiz_hints": 1, "quiz_retries": 1,
    "timed_sittings": 1, "regrades": 1,
}  # fmt: skip
# About nobody: they are there once.
SHARED = {
    "lti_keys": 1, "lti_nonces": 1, "lti_platforms": 1, "published_quizzes": 1, "saved_comments": 1,
    "lti_links": 1,
}  # fmt: skip
_ALL = {name: len(PEOPLE) * count for name, count in ROWS.items()} | SHARED
EVERYTHING = {table.name: _ALL[table.name] for table in metadata.sorted_tables if table.name in _ALL}
# What nobody may find in what is handed out: keys, known mistakes, solutions.
SECRETS = ("0.123456789", "secret-option", "secret-feedback", "secret-solution", "secret-after")


def text(words: str) -> RenderedText:
    return RenderedText(words, words, words)


def variant(name: str) -> Variant:
    options = (
        ChoiceOption("a", text("first"), correct=True, misconception=None),
        ChoiceOption("b", text("second"), misconception="secret-option", feedback="secret-feedback"),
    )
    known = (KnownWrong("secret-option", "secret-feedback", FloatArray((), (0.123456789,))),)
    part = Part(
        "answer", "number", 2.0, text("how much?"), FloatArray((), (0.123456789,)), ("a",), options, (), known
    )
    return Variant(
        name, "sum", "v1", "A sum", text("Add ½ and ½."), (part,),
        solution=text("secret-solution"), told_after=(text("secret-after"),), hints=(text("secret-after"),),
    )  # fmt: skip


def insert(store: Store, table: str, **values: object) -> None:
    with store._database.write() as connection:
        connection.execute(sa.insert(metadata.tables[table]), values)


def fill_shared(store: Store) -> None:
    insert(store, "published_quizzes", name="week", at=NOW, by="prof")
    insert(store, "saved_comments", item="softmax", text="Name it.", points=-0.5, by="prof", at=NOW)
    insert(
        store,
        "lti_platforms",
        id=1,
        issuer="https://lms.example",
        client_id="c",
        name="LMS",
        deployments="[]",
        contexts="{}",
        frames="[]",
        login_url="u",
        token_url="u",
        keys_url="u",
        added=NOW,
        by="prof",
    )
    insert(store, "lti_keys", id="kid", private="pem", created=NOW)
    insert(store, "lti_nonces", id="0" * 64, kind="nonce", data="{}", expires=NOW)
    insert(
        store,
        "lti_links",
        platform=1,
        deployment="d",
        link="l",
        assignment="week",
        context="c",
        title="Week",
        scopes="[]",
        seen=NOW,
    )


def fill_site(store: Store, student: str, quiz: Quiz) -> None:
    """Fill the tables of the site, as one student's visits do."""
    later = NOW + timedelta(hours=1)
    insert(
        store,
        "drafts",
        quiz_id=quiz.id,
        student=student,
        number=1,
        retry=0,
        part="answer",
        text=f"draft by {student}",
        revision=1,
        saved=NOW,
    )
    insert(store, "timed_sittings", quiz_id=quiz.id, student=student, started=NOW, ends=later)
    code = CodeSubmission(f"# waiting, by {student}", "softmax.py", "2" * 64, {})
    store.waiting.add(student, "softmax", code, Mode.MARKS, NOW)
    insert(
        store,
        "allowances",
        student=student,
        assignment="week",
        kind="deadline",
        due="2026-11-20 18:00",
        reason=f"allowed for {student}",
        by="prof",
        at=NOW,
    )
    insert(
        store,
        "student_requests",
        student=student,
        kind="regrade",
        subject="week",
        text=f"asked by {student}",
        asked=NOW,
        state="open",
    )
    insert(
        store,
        "code_comments",
        student=student,
        item="softmax",
        submission="1" * 64,
        file="softmax.py",
        line=1,
        text=f"comment for {student}",
        by="prof",
        at=NOW,
    )
    store.audit.add(AuditEntry(NOW, student, "student", "request.add", "week"))
    store.audit.add(AuditEntry(NOW, "prof", "instructor", "mark.set", "softmax", student, {"score": 9.5}))
    store.sessions.begin(student, way="mail", now=NOW, lasts=timedelta(days=1), name=f"name of {student}")
    insert(
        store,
        "sign_in_secrets",
        id=f"hash-of-{student}",
        person=student,
        kind="mail",
        created=NOW,
        expires=later,
    )
    insert(
        store,
        "lti_people",
        platform=1,
        context="c",
        subject=f"s-{student}",
        person=student,
        name=f"lms name of {student}",
        email="",
        seen=NOW,
    )
    insert(
        store,
        "lti_grades",
        platform=1,
        line_item="li",
        subject=f"s-{student}",
        student=student,
        score=1.5,
        maximum=2.0,
        progress="graded",
        is_final=True,
        comment="",
        at=NOW,
        tries=0,
    )
    copy = PEOPLE.index(student) + 1
    store.scans.add_page(ScannedPage("K7", copy, 1, student, "c" * 64, "a.pdf, page 1", (), (), (), {}, NOW))
    store.scans.decide(ScanDecision("K7", copy, student, "1/answer", f"decided for {student}", "prof", NOW))


def fill(store: Store) -> None:
    fill_shared(store)
    for student in PEOPLE:
        quiz = Quiz(f"q-{student}", "week", "Week", student, (QuizQuestion(1, variant("v"), 2.0),))
        store.save_quiz(quiz)
        report = GradeReport(
            "sum", "v1", Outcome.PARTIAL, 1.0, 2.0, mode=Mode.MARKS, student=student,
            checks=(Check("answer", Verdict.FAILED, 1.0, 2.0, "half of it"),),
            diagnosis=(Diagnosis("m", "a usual mistake"),),
        )  # fmt: skip
        typed = Response({"answer": f"typed by {student}"})
        question = quiz.questions[0]
        store.record(
            replace(
                Attempt.of_answer(student, question, typed, report, quiz=quiz.id, started=NOW),
                handed=NOW - timedelta(hours=1),
                marked_late=True,
                sequence=1,
            )
        )
        for n, outcome in enumerate((Outcome.RIGHT, Outcome.UNGRADED)):
            score = 10.0 if outcome is Outcome.RIGHT else None
            code = CodeSubmission(
                f"# code {n} by {student}\n",
                "../softmax.py",
                f"{n}" * 64,
                {"helpers": f"# beside, by {student}"},
            )
            graded = GradeReport("softmax", "v1", outcome, score, 10.0, mode=Mode.MARKS, notes=("a note",))
            store.record(Attempt.of_code(student, code, graded, started=NOW))
        store.sittings.take_hint(quiz, 1, Mode.MARKS, 1)
        store.sittings.add_variant(quiz, 1, 1, variant("later"))
        store.hand_marks.add(HandMark(student, "softmax", 9.5, False, f"for {student}", "prof", NOW))
        (old,) = [a for a in store.attempts(student=student) if a.item == "sum"]
        new = replace(old, report=replace(old.report, score=1.5, item_version="v2"))
        store.regrades.replace([(old, new)], run="r1", by="prof", at=NOW, cause="key")
        fill_site(store, student, quiz)
