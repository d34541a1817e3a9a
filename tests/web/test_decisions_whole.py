"""A decision on the site and its line in the log are one: no line, no decision."""

from __future__ import annotations

import sys

import httpx
import pytest
import sqlalchemy as sa

from engine.course import Course
from engine.errors import StoreError
from engine.quiz.rules import now
from engine.store import Store
from engine.store.allowances import Allowance, AllowanceKind
from engine.store.audit import AuditLog
from engine.store.sql_tables import metadata
from engine.store.student_requests import RequestKind
from engine.web.site import Site
from tests.live.site import LiveSite, new_course
from tests.web.conftest import SignedIn
from tests.web.course_work import COLUMNS, QUIZ, draw_quiz, hand_in, hand_in_code
from tests.web.forms_of_pages import send_form

WORK = f"/staff/students/ada/marks/{COLUMNS[0].replace('/', '~2F')}"
CODE = "/staff/students/ada/marks/softmax"
DECISIONS = {
    "allowance": ("ivy", "/staff/allowances", "/add", {"student": "ada", "days": "2", "assignment": QUIZ}),
    "taken-back": ("ivy", "/staff/allowances", "/back", {}),
    "mark": ("mia", WORK, "/set", {"action": "set", "score": "0.5", "comment": ""}),
    "comment": ("mia", f"{CODE}?submission={{}}&line=1", "/comment", {"text": "Where?", "keep": "yes"}),
    "publish": ("ivy", f"/staff/quizzes/of/{QUIZ}", "/publish", {}),
    "deadline": (
        "ivy",
        f"/staff/quizzes/of/{QUIZ}",
        "/deadline",
        {"deadline": "2099-01-02T12:00", "students": ""},
    ),
    "request": ("ivy", "/staff/requests", "/decide", {"decision": "grant", "answer": "Yes.", "days": "3"}),
    "asked": ("bob", "/requests", "/requests", {"kind": "extension", "subject": QUIZ, "text": "I was ill."}),
    "withdrawn": ("ada", "/requests", "/withdraw", {}),
}


def contents(store: Store) -> dict[str, list[tuple[object, ...]]]:
    """Return all rows but those of sessions, which note when somebody was seen."""
    tables = [table for table in metadata.sorted_tables if table.name != "sessions"]
    with store._database.read() as connection:
        return {table.name: [tuple(row) for row in connection.execute(sa.select(table))] for table in tables}


@pytest.mark.parametrize("decision", DECISIONS)
def test_no_line_no_decision(
    decision: str, site: Site, signed_in: SignedIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    quizzes = draw_quiz(site)
    hand_in(site, quizzes["ada"], right=1)
    submission = hand_in_code(site, "ada", "def softmax(z):\n    return z\n")
    if decision in ("asked", "withdrawn"):
        site.store.published.publish(QUIZ, "ivy", now())
    site.store.requests.ask("ada", RequestKind.EXTENSION, QUIZ, "I was ill.", now())
    site.store.allowances.add(Allowance("bob", AllowanceKind.DEADLINE, "Ivy", now(), QUIZ, days=1))
    person, page, end, fields = DECISIONS[decision]
    browser, page = signed_in(person), page.format(submission)
    before = contents(site.store)

    def fail(self: AuditLog, entry: object) -> None:
        raise StoreError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(AuditLog, "add", fail)
        assert send_form(browser, page, end, **fields).status_code >= 500
    assert contents(site.store) == before
    assert send_form(browser, page, end, **fields).status_code == 303
    after = contents(site.store)
    assert len(after["audit_log"]) > len(before["audit_log"])
    assert {name for name in after if after[name] != before[name]} > {"audit_log"}


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
def test_a_server_killed_between_a_decision_and_its_line(tmp_path) -> None:
    folder = new_course(tmp_path / "course")
    fields = {"student": "ada", "excuse": "", "percent": "25", "assignment": "", "reason": "ill"}
    with LiveSite(folder, environment={"SOFTMARK_CRASH_AT": "before-log"}) as site:
        with site.browser("ivy") as browser, pytest.raises(httpx.HTTPError):
            send_form(browser, "/staff/allowances", "/add", **fields)
        assert site.wait() < 0
    with Course.open(folder).open_store() as store:
        assert (store.allowances.history(), store.audit.newest(9)) == ([], [])
    with LiveSite(folder) as site, site.browser("ivy") as browser:
        assert send_form(browser, "/staff/allowances", "/add", **fields).status_code == 303
    with Course.open(folder).open_store() as store:
        assert [entry.action for _, entry in store.audit.newest(9)] == ["allowance.add"]
        assert len(store.allowances.current("ada")) == 1
