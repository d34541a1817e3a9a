"""Requests and allowances: what staff decides counts at once, as the commands' entries do."""

from __future__ import annotations

import pytest

from engine.commands import run
from engine.marks import terms_of
from engine.quiz.rules import now
from engine.store.student_requests import RequestKind, RequestState, StudentRequests
from engine.web.site import Site
from tests.web.conftest import SignedIn
from tests.web.course_work import COLUMNS, QUIZ, draw_quiz, hand_in
from tests.web.forms_of_pages import form_token, send_form

DUE = """\
policies:
  assignments:
    week-1: {due: 2026-11-06}
"""


@pytest.fixture(autouse=True)
def due_dates(site: Site) -> None:
    """The quiz is due on a day."""
    path = site.folder / "course.yaml"
    text = path.read_text(encoding="utf-8").split("policies:")[0]
    path.write_text(text + DUE, encoding="utf-8")
    site._looked = 0.0
    draw_quiz(site)


def _due(site: Site, student: str) -> str:
    due = terms_of(site.policies(), student, QUIZ).due
    assert due is not None
    return f"{due:%Y-%m-%d}"


def test_an_extension_is_granted(site: Site, signed_in: SignedIn) -> None:
    site.store.requests.ask("ada", RequestKind.EXTENSION, QUIZ, "I was ill.", now())
    browser = signed_in("ivy")
    assert "I was ill." in browser.get("/staff/requests").text
    before = _due(site, "ada")
    # a grant without days gives nothing, and stays open
    answer = send_form(browser, "/staff/requests", "/decide", decision="grant", answer="Fine.")
    assert answer.status_code == 400
    assert site.store.requests.of_student("ada")[0].state is RequestState.OPEN
    done = send_form(browser, "/staff/requests", "/decide", decision="grant", answer="Get well.", days="3")
    assert done.status_code == 303
    request = site.store.requests.of_student("ada")[0]
    assert (request.state, request.answer, request.by) == (RequestState.GRANTED, "Get well.", "Ivy Prof")
    assert (before, _due(site, "ada"), _due(site, "bob")) == ("2026-11-07", "2026-11-10", "2026-11-07")
    # as the command gives bob
    line = ["course", "allow", "bob", QUIZ, "--days", "3", "--course", str(site.folder)]
    assert run(line) == 0
    assert _due(site, "bob") == _due(site, "ada")
    lines = [(e.action, e.student, e.details["days"], e.role) for _, e in site.store.audit.newest(9)]
    assert lines == [
        ("allowance.add", "bob", 3, "command line"),
        ("request.granted", "ada", 3, "instructor"),
    ]


def test_a_regrade_is_refused_and_another_granted(site: Site, signed_in: SignedIn) -> None:
    hand_in(site, site.store.quizzes(QUIZ, "ada")[0])
    browser = signed_in("ivy")
    site.store.requests.ask("ada", RequestKind.REGRADE, COLUMNS[0], "Look again.", now())
    token = form_token(browser, "/staff/requests")
    refused = send_form(browser, "/staff/requests", "/decide", decision="refuse", answer="It is right.")
    assert refused.headers["location"] == "/staff/requests"
    assert site.store.requests.of_student("ada")[0].state is RequestState.DENIED
    number = site.store.requests.of_student("ada")[0].id
    # a second decision changes nothing
    data = {"csrf": token, "decision": "grant", "answer": "Yes."}
    assert browser.post(f"/staff/requests/{number}/decide", data=data).status_code == 400
    site.store.requests.ask("ada", RequestKind.REGRADE, COLUMNS[0], "Once more.", now())
    granted = send_form(browser, "/staff/requests", "/decide", decision="grant", answer="You are right.")
    assert granted.headers["location"].startswith("/staff/students/ada/marks/")
    assert "refused" in browser.get("/staff/requests?show=all").text


def test_the_page_of_requests_reads_the_open_ones_once(
    site: Site, signed_in: SignedIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = signed_in("ivy")
    site.store.requests.ask("ada", RequestKind.REGRADE, COLUMNS[0], "Once more.", now())
    asked: list[RequestState | None] = []
    real = StudentRequests.all
    monkeypatch.setattr(
        StudentRequests, "all", lambda self, state=None: asked.append(state) or real(self, state)
    )
    assert "Open (1)" in browser.get("/staff/requests").text
    assert asked == [RequestState.OPEN]


def test_allowances_are_given_and_taken_back(site: Site, signed_in: SignedIn) -> None:
    browser, page = signed_in("ivy"), "/staff/allowances"
    assert "Nothing given yet" in browser.get(page).text
    for fields in (
        {"days": "2", "assignment": QUIZ},
        {"percent": "25", "assignment": ""},
        {"excuse": "yes", "assignment": QUIZ},
    ):
        given = send_form(browser, page, "/add", student="ada", reason="ill", **fields)
        assert given.status_code == 303, fields
    assert len(site.store.allowances.current("ada")) == 3
    assert terms_of(site.policies(), "ada", QUIZ).is_excused
    number = site.store.allowances.current("ada")[-1].id
    assert send_form(browser, page, f"/{number}/back").status_code == 303
    assert not terms_of(site.policies(), "ada", QUIZ).is_excused
    actions = [entry.action for _, entry in site.store.audit.newest(10)]
    assert actions == ["allowance.withdraw", *["allowance.add"] * 3]


def test_what_cant_be_given(site: Site, signed_in: SignedIn) -> None:
    browser, page = signed_in("ivy"), "/staff/allowances"
    for fields in (
        {"student": "ada"},
        {"student": "ada", "days": "0"},
        {"student": "ada", "days": "2", "excuse": "yes"},
        {"student": "ada", "due": "2026-02-30"},
        {"student": "ada", "percent": "much"},
        {"student": "ada", "days": "2", "assignment": "nothing"},
        {"student": "ada", "excuse": "yes", "assignment": ""},
    ):
        assert send_form(browser, page, "/add", **fields).status_code == 400, fields
    assert send_form(browser, page, "/add", student="nobody", days="2").status_code == 400
    assert site.store.allowances.history() == []


@pytest.mark.parametrize("path", ["/staff/requests", "/staff/allowances"])
def test_decisions_are_for_instructors(path: str, signed_in: SignedIn) -> None:
    assert signed_in("mia").get(path).status_code == 404
    assert signed_in("ada").get(path).status_code == 404
