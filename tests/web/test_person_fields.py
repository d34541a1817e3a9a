"""Wherever staff name a student, any text will do that says who; what was typed comes back if it doesn't."""

from __future__ import annotations

import html
import re

import pytest

from engine.quiz.rules import now
from engine.store.student_requests import RequestKind
from engine.web.forms import Form, input_type
from engine.web.site import Site
from tests.web.conftest import SignedIn
from tests.web.course_work import COLUMNS, QUIZ, draw_quiz, hand_in
from tests.web.forms_of_pages import send_form

ROSTER = """\
id,name,email,login
s01,Ada Lovelace,ada@example.edu,ada
s02,Łucja Nowak,lucja@example.edu,
s03,Adam Müller,mueller@example.edu,
s04,Jan Nowak,jan@example.edu,
"""
ALLOW, QUIZ_PAGE = "/staff/allowances", f"/staff/quizzes/of/{QUIZ}"


@pytest.fixture(autouse=True)
def class_of_four(site: Site) -> None:
    """Two of them are called Nowak."""
    (site.folder / "roster.csv").write_text(ROSTER, encoding="utf-8")
    site._looked = 0.0
    draw_quiz(site, ("s01", "s02", "s03", "s04"))


@pytest.mark.parametrize(
    ("typed", "student"),
    [("ada", "s01"), ("Ada", "s01"), ("lucja", "s02"), ("Mueller", "s03"), ("s04", "s04")],
)
def test_more_time_by_name(site: Site, signed_in: SignedIn, typed: str, student: str) -> None:
    browser = signed_in("ivy")
    given = send_form(browser, ALLOW, "/add", student=typed, days="2")
    assert given.status_code == 303
    assert [entry.student for entry in site.store.allowances.current()] == [student]
    # who was meant is said
    name = site.state.roster.by_id[student].name
    assert f"{name}: 2 extra days." in html.unescape(browser.get(given.headers["location"]).text)


def test_several_can_be_chosen_from(site: Site, signed_in: SignedIn) -> None:
    browser = signed_in("ivy")
    page = send_form(browser, ALLOW, "/add", student="nowak", days="2", reason="ill")
    assert page.status_code == 400 and site.store.allowances.current() == []
    assert re.findall(r'<option value="(s\d\d)">(\w+ Nowak)', page.text) == [
        ("s02", "Łucja Nowak"),
        ("s04", "Jan Nowak"),
    ]
    # the rest of the form is as it was
    assert 'name="days" type="text" value="2"' in page.text and 'value="ill"' in page.text


def test_nobody_gives_the_nearest(signed_in: SignedIn) -> None:
    page = send_form(signed_in("ivy"), ALLOW, "/add", student="Lovlace", days="2")
    assert page.status_code == 400
    assert "Did you mean Ada Lovelace (s01)?" in page.text and 'value="Lovlace"' in page.text


def test_the_roster_is_suggested(signed_in: SignedIn) -> None:
    browser = signed_in("ivy")
    for page in (ALLOW, "/staff/regrade", "/staff/log"):
        assert '<option value="s02">Łucja Nowak</option>' in browser.get(page).text, page


def test_deadlines_and_regrades_by_name(site: Site, signed_in: SignedIn) -> None:
    browser = signed_in("ivy")
    moved = send_form(
        browser, QUIZ_PAGE, "/deadline", deadline="2027-01-02 12:00", students="Łucja Nowak, ada"
    )
    assert moved.status_code == 303
    late = [quiz.student for quiz in site.store.quizzes(QUIZ) if quiz.rules.deadline is not None]
    assert late == ["s01", "s02"]
    unclear = send_form(browser, QUIZ_PAGE, "/deadline", deadline="2027-01-03T12:00", students="ada, nowak")
    assert unclear.status_code == 400 and "Łucja Nowak (s02) or Jan Nowak (s04)" in unclear.text
    assert 'value="2027-01-03T12:00"' in unclear.text and 'value="ada, nowak"' in unclear.text
    hand_in(site, site.store.quizzes(QUIZ, "s02")[0])
    assert send_form(browser, "/staff/regrade", "/start", student="lucja").status_code == 303
    assert site.jobs.newest("regrade")[0].facts["scope"].student == "s02"
    refused = send_form(browser, "/staff/regrade", "/start", item="softmax-ratio", student="nowak")
    assert refused.status_code == 400 and 'value="softmax-ratio"' in refused.text
    assert '<option value="s04">Jan Nowak (s04)</option>' in refused.text


def test_filters_by_name(site: Site, signed_in: SignedIn) -> None:
    browser = signed_in("ivy")
    send_form(browser, ALLOW, "/add", student="lucja", days="2")
    send_form(browser, ALLOW, "/add", student="ada", days="2")
    of_lucja = browser.get("/staff/log?student=lucja&by=ivy").text
    table = of_lucja[of_lucja.index("<tbody") : of_lucja.index("</tbody>")]
    assert table.count("<tr") == 1 and "Łucja Nowak" in table
    assert "Did you mean" in browser.get("/staff/log?student=Lovlace").text
    assert '<option value="s04">Jan Nowak' in browser.get("/staff/log?student=nowak").text
    for words in ("lucja", "NOWAK luc", "lucja@example"):
        text = browser.get("/staff/class", params={"find": words}).text
        assert "1 of 4 students" in text and "Łucja Nowak" in text, words


def test_a_blind_class_isnt_searched_by_name(site: Site, signed_in: SignedIn) -> None:
    (site.folder / "web.yaml").write_text("blind_marking: true\n", encoding="utf-8")
    site._looked = 0.0
    browser = signed_in("mia")
    for words in ("lucja", "s02", "lucja@example"):
        assert "No student matches" in browser.get("/staff/class", params={"find": words}).text


@pytest.mark.parametrize(
    ("due", "time", "stored"),
    [
        ("2026-12-18", "", "2026-12-18"),
        ("2026-12-18", "10:00", "2026-12-18 10:00"),
        ("2026-12-18 10:00", "", "2026-12-18 10:00"),
        ("2026-12-18T10:00", "", "2026-12-18T10:00"),
    ],
)
def test_a_due_date_in_every_form(site: Site, signed_in: SignedIn, due: str, time: str, stored: str) -> None:
    page = signed_in("ivy")
    assert send_form(page, ALLOW, "/add", student="s01", due=due, due_time=time).status_code == 303
    assert [entry.due for entry in site.store.allowances.current()] == [stored]


def test_fields_for_dates(site: Site, signed_in: SignedIn) -> None:
    browser = signed_in("ivy")
    site.store.requests.ask("s01", RequestKind.EXTENSION, QUIZ, "I was ill.", now())
    for page in (ALLOW, "/staff/requests"):
        text = browser.get(page).text
        assert 'type="date"' in text and 'name="due_time" type="time"' in text and "at (UTC)" in text
    assert 'name="deadline" type="datetime-local"' in browser.get(QUIZ_PAGE).text
    # what the browser's field wouldn't show comes back as text
    refused = send_form(browser, ALLOW, "/add", student="s01", due="2026-02-30")
    assert refused.status_code == 400 and 'name="due" type="text" value="2026-02-30"' in refused.text
    assert send_form(browser, QUIZ_PAGE, "/deadline", no_deadline="yes").status_code == 303
    assert site.store.quizzes(QUIZ)[0].rules.deadline is None


def test_the_answer_to_a_request_comes_back(site: Site, signed_in: SignedIn) -> None:
    site.store.requests.ask("s01", RequestKind.EXTENSION, QUIZ, "I was ill.", now())
    browser = signed_in("ivy")
    refused = send_form(
        browser, "/staff/requests", "/decide", decision="grant", answer="Get well.", days="many"
    )
    assert refused.status_code == 400
    assert "Get well.</textarea>" in refused.text and 'value="many"' in refused.text
    assert "This isn&#39;t a number of days" in refused.text


def test_what_a_request_is_about(site: Site, signed_in: SignedIn) -> None:
    (site.folder / "course.yaml").write_text(
        (site.folder / "course.yaml").read_text(encoding="utf-8").split("policies:")[0]
        + f"policies:\n  assignments:\n    {QUIZ}: {{due: 2026-11-06}}\n",
        encoding="utf-8",
    )
    site._looked = 0.0
    site.store.published.publish(QUIZ, "ivy", now())
    hand_in(site, site.store.quizzes(QUIZ, "s01")[0], right=1)
    site.store.requests.ask("s01", RequestKind.EXTENSION, QUIZ, "I was ill.", now())
    site.store.requests.ask("s01", RequestKind.REGRADE, COLUMNS[0], "Look again.", now())
    ivy, ada = signed_in("ivy"), signed_in("s01")
    page = ivy.get("/staff/requests").text
    title = site.bank.title_of("softmax-ratio")
    # titles, the due date as it is, and what counts now
    assert "Week 1</a>" in page and f"{html.escape(title)}</a>" in page
    assert "Fri 6 Nov 2026, 23:59" in page and "1 of 1 point" in page
    first = next(r.id for r in site.store.requests.of_student("s01") if r.kind is RequestKind.EXTENSION)
    granted = send_form(ivy, "/staff/requests", f"/{first}/decide", decision="grant", answer="Ok.", days="3")
    assert "granted with 3 extra days" in ivy.get(granted.headers["location"]).text
    everything = ivy.get("/staff/requests?show=all").text
    assert "<dt>Granted</dt><dd>3 extra days" in everything and "Mon 9 Nov 2026, 23:59" in everything
    mine = ada.get("/requests").text
    assert "Granted: 3 extra days." in mine and "Due for you: <time" in mine
    assert "Mon 9 Nov 2026, 23:59" in mine and "Your mark now: 1 of 1 point." in mine


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        ("date", "", "date"),
        ("date", "2026-12-18", "date"),
        ("date", "2026-12-18T10:00", "text"),
        ("date", "20261218", "text"),
        ("time", "10:00", "time"),
        ("time", "25:00", "text"),
        ("datetime-local", "2026-12-18 10:00", "datetime-local"),
        ("datetime-local", "2026-12-18T10:00+01:00", "text"),
        ("datetime-local", "none", "text"),
    ],
)
def test_which_field_can_hold_it(kind: str, text: str, expected: str) -> None:
    assert input_type(kind, text) == expected


def test_a_day_and_its_time() -> None:
    assert Form({"due": ["2026-12-18"], "due_time": ["10:00"]}).moment("due") == "2026-12-18 10:00"
    assert Form({"due": [" 2026-12-18 "]}).moment("due") == "2026-12-18"
    assert Form({}).moment("due") == ""
