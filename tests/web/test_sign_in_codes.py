"""Codes on paper, as they are typed in an exam room; the command that makes them is tested elsewhere."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import httpx2
import pytest
from starlette.testclient import TestClient

from engine.course.sign_in_secrets import code_hash, is_code, issue_codes, new_code, plain_code
from engine.model import QuizRules
from engine.store.allowances import Allowance, AllowanceKind
from engine.web.application import application
from engine.web.sign_in import links_and_codes as code_page
from engine.web.site import Site
from tests.timing import clock_from
from tests.web.conftest import ADDRESS
from tests.web.course_work import QUIZ, draw_quiz
from tests.web.forms import send

START = datetime(2026, 12, 3, 9, 0, tzinfo=UTC)


def browser_of(site: Site, address: str = "10.0.0.1") -> TestClient:
    return TestClient(application(site), base_url=ADDRESS, follow_redirects=False, client=(address, 50000))


def enter(browser: TestClient, code: str) -> httpx2.Response:
    return send(browser, browser.get("/sign-in"), "/sign-in/code", code=code)


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch):
    return clock_from(monkeypatch, START)


def issue(site: Site, *people: str, begins: datetime | None = None) -> dict[str, str]:
    return issue_codes(
        site.store,
        site.secret,
        people,
        quiz="exam",
        now=START,
        begins=begins,
        expires=START + timedelta(hours=2),
    )


def test_codes_have_no_letters_that_look_alike() -> None:
    codes = {new_code() for _ in range(200)}
    assert len(codes) == 200
    assert all(re.fullmatch("[A-Z0-9]{3}-[A-Z0-9]{3}-[A-Z0-9]{3}", code) for code in codes)
    assert not set("".join(codes)) & set("0O1IL5S2Z8BUV")
    assert all(is_code(plain_code(f" {code.lower().replace('-', ' ')} ")) for code in codes)
    assert not is_code("") and not is_code("0" * 9) and len(plain_code("A" * 1000)) == 50


def test_the_store_has_a_hash_that_needs_the_course_secret(site: Site, at) -> None:
    codes = issue(site, "ada")
    (stored,) = site.store.sign_in_secrets.codes("exam")
    assert stored.id == code_hash(site.secret, codes["ada"]) != code_hash(b"x" * 32, codes["ada"])
    assert codes["ada"] not in repr(stored)


def test_a_code_signs_in_once_until_its_end(site: Site, at) -> None:
    code = issue(site, "ada", "bob")["ada"]
    browser = browser_of(site)
    answer = enter(browser, code.lower().replace("-", " "))
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert "by a code on paper" in browser.get("/account").text
    again = enter(browser_of(site), code)
    assert again.status_code == 400 and "was used before" in again.text
    at(START + timedelta(hours=1, minutes=59))
    assert browser.get("/account").status_code == 200
    at(START + timedelta(hours=2))
    assert browser.get("/account").status_code == 303, "the session ends with the code"


@pytest.mark.parametrize(
    ("allowed", "minutes"),
    [
        pytest.param(None, 120, id="nothing more"),
        pytest.param(Allowance("ada", AllowanceKind.TIME, "ivy", START, QUIZ, percent=50.0), 165, id="time"),
    ],
)
def test_extra_time_doesnt_end_with_the_code(site: Site, at, allowed: Allowance | None, minutes: int) -> None:
    """Begun half an hour after the start, with a time limit of 90 minutes: more time is given on the way."""
    exam = replace(draw_quiz(site, ("ada",))["ada"], rules=QuizRules(time_limit=90))
    site.store.save_quizzes([replace(exam, id="timed", attempt=2)])
    exam = site.store.quizzes(QUIZ, "ada")[-1]
    browser = browser_of(site)
    assert enter(browser, issue(site, "ada")["ada"]).status_code == 303
    site.store.timed.begin(exam, START + timedelta(minutes=30), START + timedelta(minutes=120))
    at(START + timedelta(minutes=60))
    assert browser.get("/account").status_code == 200
    if allowed is not None:
        site.store.allowances.add(allowed)
    for minute in range(60, minutes + 5, 10):
        at(START + timedelta(minutes=minute))
        assert browser.get("/account").status_code == 200, f"minute {minute}"
    at(START + timedelta(minutes=minutes + 6))
    assert browser.get("/account").status_code == 303, "and it ends soon after the sitting"


def test_after_a_mistyped_code_the_right_one_leads_to_the_page_that_was_asked_for(site: Site, at) -> None:
    browser = browser_of(site)
    page = browser.get("/sign-in", params={"next": "/account"})
    again = send(browser, page, "/sign-in/code", code="333333333")
    assert again.status_code == 400
    answer = send(browser, again, "/sign-in/code", code=issue(site, "ada")["ada"])
    assert answer.headers["location"] == "/account"


def test_outside_its_period(site: Site, at) -> None:
    begins = START + timedelta(minutes=30)
    code = issue(site, "ada", begins=begins)["ada"]
    early = enter(browser_of(site), code)
    assert early.status_code == 400 and "valid yet: it is from Thu 3 Dec 2026, 09:30 UTC on" in early.text
    at(begins)
    assert enter(browser_of(site), code).status_code == 303
    code = issue(site, "ada")["ada"]
    at(START + timedelta(hours=2))
    late = enter(browser_of(site), code)
    assert late.status_code == 400 and "has expired" in late.text


def test_a_new_code_replaces_the_old_one(site: Site, at) -> None:
    first = issue(site, "ada", "bob")
    second = issue(site, "ada")
    assert enter(browser_of(site), first["ada"]).status_code == 400
    assert enter(browser_of(site), second["ada"]).status_code == 303
    assert enter(browser_of(site), first["bob"]).status_code == 303


@pytest.fixture
def low_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code_page, "_BY_ADDRESS", replace(code_page._BY_ADDRESS, most=60))
    monkeypatch.setattr(code_page, "_BY_PREFIX", replace(code_page._BY_PREFIX, most=30))


def test_one_person_in_the_room_locks_nobody_out(site: Site, at) -> None:
    code = issue(site, "ada")["ada"]
    for limit, key in ((code_page._BY_ADDRESS, "10.0.0.1"), (code_page._BY_PREFIX, plain_code(code)[:2])):
        for _ in range(19_000):
            site.rates.count(limit, key, START)
    assert enter(browser_of(site), "333333333").status_code == 400
    assert enter(browser_of(site), code).status_code == 303


def test_the_limits_leave_no_chance_to_guess() -> None:
    minutes = code_page._BY_ADDRESS.per.total_seconds() / 60
    in_an_exam = code_page._BY_ADDRESS.most * 180 / minutes
    assert in_an_exam * 500 / 23**9 < 1 / 5000
    prefixes = 23**code_page._PREFIX
    assert code_page._BY_PREFIX.most * prefixes * 18 * 500 / 23**9 < 0.2, "from any number of addresses"


def test_guessing_is_slowed_down_by_address(site: Site, at, low_limits: None) -> None:
    code = issue(site, "ada")["ada"]
    guesses = (f"{a}{b}3333333" for a in "34679ACDEF" for b in "34679ACDEF")
    browser = browser_of(site)
    statuses = [enter(browser, next(guesses)).status_code for _ in range(61)]
    assert statuses == [400] * 60 + [429]
    answer = enter(browser, code)
    assert answer.status_code == 429 and 1 <= int(answer.headers["retry-after"]) <= 600
    assert "wait 10 min" in answer.text
    assert enter(browser_of(site, "10.0.0.2"), code).status_code == 303, "others aren't held up"
    at(START + timedelta(minutes=10))
    assert enter(browser, "333333333").status_code == 400


def test_guessing_from_many_addresses_is_slowed_down_by_the_beginning_of_the_code(
    site: Site, at, low_limits: None
) -> None:
    code = issue(site, "ada")["ada"]
    plain = plain_code(code)
    for number in range(30):
        wrong = plain[:2] + "3333333"
        assert enter(browser_of(site, f"10.1.0.{number}"), wrong).status_code == 400
    assert enter(browser_of(site, "10.2.0.1"), code).status_code == 429


def test_right_codes_of_a_whole_room_arent_counted(site: Site, at) -> None:
    for _ in range(40):
        assert enter(browser_of(site), issue(site, "ada")["ada"]).status_code == 303


@pytest.mark.parametrize("code", ["", "x", "'; --", "💥" * 9, "A" * 49, "\0"])
def test_what_is_no_code(site: Site, at, code: str) -> None:
    answer = enter(browser_of(site), code)
    assert answer.status_code == 400 and "no such code" in answer.text


def test_a_link_is_no_code_and_a_code_no_link(site: Site, at) -> None:
    code = issue(site, "ada")["ada"]
    assert browser_of(site).get(f"/sign-in/link/{code}").status_code == 410
