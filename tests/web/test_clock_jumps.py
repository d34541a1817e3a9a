"""The server's clock is off by an hour, and set right while a timed sitting is on."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest
from starlette.testclient import TestClient

from engine.answers import right_response
from engine.model import Mode, Outcome
from engine.store.allowances import Allowance, AllowanceKind
from engine.web.site import Site
from engine.web.student.quiz_page import SittingWatch
from tests.timing import SetClock, clock_from
from tests.web.browsing import draw, follow, form_to, form_with, open_page
from tests.web.conftest import SignedIn
from tests.web.course_work import quiz_of
from tests.web.test_sign_in import ask

NOON = datetime(2026, 11, 2, 12, 0, tzinfo=UTC)
HOUR = timedelta(minutes=59)  # the tests' sessions last an hour
EXAM = """
title: Exam
attempts: 1
time_limit: 30
show_before: nothing
sections:
  - title: All
    items: [greedy-path, chain-rule-probability]
"""


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> SetClock:
    return clock_from(monkeypatch, NOON)


def begin(site: Site, browser: TestClient) -> tuple[str, str]:
    """Begin the exam, and return the page of its first question and the name of its first field."""
    quiz = quiz_of(draw(site, EXAM, "exam"), "ada")
    page = follow(browser, form_to(open_page(browser, "/quiz/exam"), "/begin").send(browser))
    return page, f"text.{quiz.questions[0].variant.parts[0].id}"


def test_a_clock_that_was_slow_ends_a_sitting_with_what_was_saved(
    site: Site, signed_in: SignedIn, at: SetClock
) -> None:
    """Nothing shows that the clock was wrong: what is saved counts, and more time lets it go on."""
    browser = signed_in("ada")
    page, name = begin(site, browser)
    page = follow(browser, form_with(page, "save").fill(name, "0.5").send(browser))
    at(NOON + HOUR)
    SittingWatch()(site)
    stale = form_with(page, "save").fill(name, "0.75").send(browser)
    assert stale.status_code == 409 and "The quiz is over" in stale.text
    assert "0.75" in stale.text, "what was typed can be copied"
    first, *_ = site.store.attempts(student="ada", mode=Mode.MARKS)
    assert first.response is not None and "0.5" in str(first.response.answers)
    site.store.allowances.add(
        Allowance("ada", AllowanceKind.TIME, "ivy", NOON + HOUR, assignment="exam", percent=250.0)
    )
    assert "Time left" in open_page(browser, "/quiz/exam/2")


@pytest.mark.parametrize("back", [timedelta(minutes=20), HOUR])
def test_a_clock_that_was_fast_costs_nobody_time(
    site: Site, signed_in: SignedIn, at: SetClock, back: timedelta
) -> None:
    browser = signed_in("ada")
    page, name = begin(site, browser)
    (quiz,) = site.store.quizzes("exam", "ada")
    right = right_response(quiz.questions[0].variant.parts[0])
    page = follow(browser, form_with(page, "save").fill(name, "0.5").send(browser))
    at(NOON - back)
    SittingWatch()(site)
    assert not list(site.store.attempts(student="ada"))
    page = open_page(browser, "/quiz/exam/1")
    assert "Time left" in page
    page = follow(browser, form_with(page, "save").fill(name, right).send(browser))
    assert dict(form_with(page, "save").fields)[name] == right
    page = follow(browser, form_to(open_page(browser, "/quiz/exam/hand-in"), "/hand-in").send(browser))
    attempts = list(site.store.attempts(student="ada", mode=Mode.MARKS))
    assert [a.report.outcome for a in attempts if not a.is_blank] == [Outcome.RIGHT]
    assert all(attempt.started <= attempt.finished for attempt in attempts)


def test_a_sitting_that_a_fast_clock_has_ended_is_open_again_when_it_is_set_right(
    site: Site, signed_in: SignedIn, at: SetClock
) -> None:
    browser = signed_in("ada")
    page, name = begin(site, browser)
    follow(browser, form_with(page, "save").fill(name, "0.5").send(browser))
    at(NOON + HOUR)
    SittingWatch()(site)
    at(NOON + timedelta(minutes=5))
    SittingWatch()(site)
    second = open_page(browser, "/quiz/exam/2")
    assert "Time left" in second
    assert form_with(second, "save")


@pytest.mark.parametrize("jump", [HOUR, -HOUR], ids=["forward", "back"])
def test_links_and_sessions(
    site: Site, client: TestClient, signed_in: SignedIn, at: SetClock, jump: timedelta
) -> None:
    known = signed_in("bob")
    assert known.get("/account").status_code == 200
    ask(client, "ada@example.edu")
    site.outbox.work(site)
    (mail,) = (site.folder / ".softmark" / "mail").glob("*.eml")
    link = re.search(r"http://testserver(/\S+)", mail.read_text(encoding="utf-8"))
    assert link is not None
    at(NOON + jump)
    page = client.get(link[1])
    if jump > timedelta():
        assert page.status_code == 410 and "This link has expired, or was used before" in page.text
        mail.unlink()
        ask(client, "ada@example.edu")
        site.outbox.work(site)
        (mail,) = (site.folder / ".softmark" / "mail").glob("*.eml")
        link = re.search(r"http://testserver(/\S+)", mail.read_text(encoding="utf-8"))
        assert link is not None
        page = client.get(link[1])
    assert page.status_code == 200
    assert "Sign in as Ada" in page.text, page.text
    assert form_to(page.text, "/use").send(client).status_code == 303
    assert "Ada Lovelace" in client.get("/account").text
    again = client.get(link[1])
    assert again.status_code == 410 or "used before" in again.text
    # Who was signed in stays so, and nobody is locked out by what the clock counted before.
    assert known.get("/account").status_code == 200
    client.cookies.clear()
    for _ in range(4):
        ask(client, "bob@example.edu")
