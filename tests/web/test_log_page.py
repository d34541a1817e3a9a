"""The log's page: words in the place of codes, kinds and filters, and the whole of it as a table."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime, timedelta

from engine.commands import run
from engine.store.audit import ACTIONS, AuditEntry, LogKind, actions_of
from engine.web.instructor.log_page import KIND_WORDS, details_of
from engine.web.site import Site
from tests.web.conftest import SignedIn

AT = datetime(2026, 11, 6, 17, 5, 9, tzinfo=UTC)
SHA = "0123456789abcdef" * 4


def fill(site: Site) -> None:
    entries = [
        AuditEntry(AT, "ivy", "instructor", "mark.set", "softmax", "ada", {"score": 1.0, "excused": None}),
        AuditEntry(AT, "ada", "student", "code.hand_in", "softmax", "ada", {"submission": SHA}),
        AuditEntry(AT, "", "site", "quiz.closed", "week-1", "bob"),
        AuditEntry(AT, "root", "command line", "quiz.key", "week-1", None, {"student": None}),
        AuditEntry(AT, "ada", "student", "session.begin", "mail"),
    ]
    site.store.audit.add_all(entries)


def test_every_kind_has_a_tab_and_every_action_words() -> None:
    assert set(KIND_WORDS) == {"", *LogKind}
    assert all(words and "." not in words for _, words in ACTIONS.values())
    assert set().union(*(actions_of(kind) for kind in LogKind)) == set(ACTIONS)


def test_words_times_and_digests(site: Site, signed_in: SignedIn) -> None:
    fill(site)
    page = signed_in("ivy").get("/staff/log").text
    assert "set a mark by hand" in page and '<td data-label="Details"><bdi>1 point</bdi></td>' in page
    assert "<code>" not in page.split("<tbody>")[1]
    assert ":05:09</time>" in page
    assert f'title="submission: {SHA}">submission: 01234567…</bdi>' in page
    assert "the site site" not in page and "the site</bdi></td>" in page
    assert 'root</bdi> <span class="soft">command line</span>' in page


def test_kinds_and_filters(site: Site, signed_in: SignedIn) -> None:
    fill(site)
    browser = signed_in("ivy")

    def rows(address: str) -> list[str]:
        page = browser.get(address).text
        return [row.split("</td>")[0] for row in page.split('data-label="What">')[1:]]

    assert len(rows("/staff/log")) == 5
    assert rows("/staff/log?kind=marks") == ["set a mark by hand"]
    assert rows("/staff/log?kind=sign-ins") == ["signed in"]
    assert rows("/staff/log?kind=handed-out&by=root") == ["got the key of a quiz"]
    assert rows("/staff/log?kind=marks&by=root") == []
    assert rows("/staff/log?kind=nothing&action=quiz.closed") == ["handed in at the end what was saved"]
    assert 'aria-current="page">Marks' in browser.get("/staff/log?kind=marks").text


def test_the_table(site: Site, signed_in: SignedIn) -> None:
    fill(site)
    browser = signed_in("ivy")
    answer = browser.get("/staff/log/table?kind=handed-in")
    assert answer.headers["content-disposition"] == 'attachment; filename="log.csv"'
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert [row["action"] for row in rows] == ["quiz.closed", "code.hand_in"]
    assert rows[1]["details"] == f'{{"submission": "{SHA}"}}' and rows[1]["at"] == "2026-11-06T17:05:09+00:00"
    ((_, entry),) = site.store.audit.newest(1)
    assert (entry.action, entry.by, entry.subject) == ("export.log", "ivy", "handed in")
    assert signed_in("mia").get("/staff/log/table").status_code in (403, 404)


def test_a_long_log_is_whole_in_the_table(site: Site, signed_in: SignedIn) -> None:
    site.store.audit.add_all(
        AuditEntry(AT + timedelta(seconds=n), "ivy", "instructor", "mark.set", f"c{n}", "ada")
        for n in range(2100)
    )
    table = signed_in("ivy").get("/staff/log/table?action=mark.set").text
    subjects = [row["subject"] for row in csv.DictReader(io.StringIO(table))]
    assert subjects == [f"c{n}" for n in reversed(range(2100))]


def test_what_nobody_knows_is_shown_as_it_is() -> None:
    details = {
        "days": "two",
        "some_name": "text",
        "until": "2026-11-06T17:05:00+00:00",
        "empty": "",
        "counts": {"added": 2},
    }
    entry = AuditEntry(AT, "x", "instructor", "old.thing", "y", None, details)
    texts = [detail.text for detail in details_of(entry, lambda moment: f"{moment:%H:%M}")]
    assert texts == ["days: two", "some name: text", "until: 17:05", "2 added"]


def test_a_command_writes_one_line_and_the_site_one(site: Site, signed_in: SignedIn) -> None:
    assert run(["mark", "ada", "softmax", "--score", "7", "--course", str(site.folder)]) == 0
    entries = [entry for _, entry in site.store.audit.newest(9)]
    assert [(entry.action, entry.role) for entry in entries] == [("mark.set", "command line")]
    page = signed_in("ivy").get("/staff/students/ada").text
    assert "set a mark by hand, softmax" in page and "7 points" in page
