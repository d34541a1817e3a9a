"""A regrade on the site: nothing before the differences were seen, and then what the command does."""

from __future__ import annotations

import html
import json
from dataclasses import replace
from pathlib import Path

import pytest

from engine.commands import run
from engine.marks.rubric_marking import MARKED_CAUSE
from engine.store import Attempt
from engine.web.site import Site
from tests.web.conftest import SignedIn
from tests.web.course_work import draw_quiz, hand_in
from tests.web.forms_of_pages import send_form
from tests.web.jobs_of_site import result_of


@pytest.fixture
def marked_wrongly(site: Site) -> Attempt:
    """Ada's right answer, stored as if an older version of its item had marked it wrong."""
    hand_in(site, draw_quiz(site)["ada"])
    old = next(a for a in site.store.attempts(student="ada") if a.item == "softmax-ratio")
    assert old.variant is not None
    report = replace(old.report, item_version="older", score=0.0)
    older = replace(old, report=report, variant=replace(old.variant, item_version="older"))
    site.store.regrades.replace([(old, older)], run="x", by="test", at=old.finished, cause="")
    return older


def _score(site: Site) -> float | None:
    return next(a.report.score for a in site.store.attempts(student="ada") if a.item == "softmax-ratio")


def test_differences_first_and_then_the_decision(
    site: Site, signed_in: SignedIn, marked_wrongly: Attempt, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["regrade", "softmax-ratio", "--dry-run", "--json", "--course", str(site.folder)]) == 0
    command = json.loads(capsys.readouterr().out)
    browser = signed_in("ivy")
    assert "softmax-ratio" in browser.get("/staff/regrade").text
    page = result_of(site, browser, send_form(browser, "/staff/regrade", "/start", item="softmax-ratio"))
    assert "1 mark would change" in page.text and len(command["changes"]) == 1
    assert _score(site) == 0.0
    (job,) = site.jobs.newest("regrade")
    plan = f"/staff/regrade/plans/{job.id}"
    assert send_form(browser, plan, "/apply", reason="").status_code == 400
    assert _score(site) == 0.0
    assert send_form(browser, plan, "/apply", reason="the key was wrong").status_code == 303
    assert _score(site) == command["changes"][0]["new"]["score"] == 1.0
    last = list(site.store.regrades.history(student="ada"))[-1]
    assert (last.by, last.cause) == ("Ivy Prof", "the key was wrong")
    ((_, entry),) = site.store.audit.newest(1)
    assert entry.action == "regrade.apply" and entry.details["changes"] == 1
    # a second click writes nothing
    assert "Write these changes" not in browser.get(plan).text


def test_of_two_regrades_of_the_same_work_the_second_writes_nothing(
    site: Site, signed_in: SignedIn, marked_wrongly: Attempt
) -> None:
    ivy = signed_in("ivy")
    plans = []
    for never_lower in ("", "yes"):
        started = send_form(ivy, "/staff/regrade", "/start", item="softmax-ratio", never_lower=never_lower)
        result_of(site, ivy, started)
        plans.append(started.headers["location"])
    pages = []
    for plan in plans:
        written = send_form(ivy, plan, "/apply", reason="the key was wrong")
        pages.append(ivy.get(written.headers["location"]).text)
    assert "1 mark has changed" in pages[0]
    assert "0 marks have changed" in pages[1] and "1 attempt changed meanwhile" in pages[1]
    changes = [entry.details["changes"] for _, entry in site.store.audit.newest(5, action="regrade.apply")]
    assert changes == [0, 1] and _score(site) == 1.0


def test_marks_that_only_go_up(site: Site, signed_in: SignedIn, marked_wrongly: Attempt) -> None:
    # the answer was given full marks wrongly: marking it again would take them
    better = replace(marked_wrongly, report=replace(marked_wrongly.report, score=5.0))
    site.store.regrades.replace([(marked_wrongly, better)], run="y", by="test", at=better.finished, cause="")
    browser = signed_in("ivy")
    started = send_form(browser, "/staff/regrade", "/start", item="softmax-ratio", never_lower="yes")
    assert "stay as they are" in result_of(site, browser, started).text


def test_students_are_told(site: Site, signed_in: SignedIn, marked_wrongly: Attempt) -> None:
    # The fixture has changed the mark by a regrade of its own: 1 became 0.
    site.store.published.publish("week-1", "ivy", marked_wrongly.finished)
    ada, number = signed_in("ada"), _number(site)
    pages = ("/marks", f"/quiz/week-1/{number}")
    for page in (ada.get(pages[0]), ada.get(pages[1]), signed_in("ivy").get("/staff/students/ada/seen")):
        assert "Your mark was changed" in page.text and "1 of 1 point became 0 of 1 point" in page.text
    # A mark by a rubric, or feedback that is new beside the same mark, is no such change.
    later = replace(marked_wrongly, report=replace(marked_wrongly.report, item_version="newer"))
    site.store.regrades.replace(
        [(marked_wrongly, later)], run="z", by="test", at=later.finished, cause="secret words"
    )
    for path in pages:
        text = ada.get(path).text
        assert text.count("Your mark was changed") == 1 and "secret words" not in text
    assert "Your mark was changed" not in ada.get("/quiz/week-1/2" if number == 1 else "/quiz/week-1/1").text


def _number(site: Site) -> int:
    (quiz,) = site.store.quizzes("week-1", "ada")
    return next(q.number for q in quiz.questions if q.variant.item == "softmax-ratio")


def test_names_that_are_nobodys(site: Site, signed_in: SignedIn) -> None:
    browser = signed_in("ivy")
    for fields in ({"item": "nothing-like-it"}, {"item": "", "student": "nobody"}, {"item": "", "quiz": "x"}):
        assert send_form(browser, "/staff/regrade", "/start", **fields).status_code == 400


def test_regrades_are_for_instructors(signed_in: SignedIn, folder: Path) -> None:
    assert signed_in("mia").get("/staff/regrade").status_code == 404


def test_the_history_has_regrades_alone(
    site: Site, signed_in: SignedIn, marked_wrongly: Attempt, capsys: pytest.CaptureFixture[str]
) -> None:
    by_rubric = replace(marked_wrongly, report=replace(marked_wrongly.report, score=0.5))
    newer = replace(by_rubric, report=replace(by_rubric.report, item_version="newer"))
    at = marked_wrongly.finished
    site.store.regrades.replace([(marked_wrongly, by_rubric)], run="r", by="test", at=at, cause=MARKED_CAUSE)
    site.store.regrades.replace([(by_rubric, newer)], run="n", by="test", at=at, cause="only feedback")
    page = signed_in("ivy").get("/staff/regrade").text
    history = page.split('id="history"')[1]
    # the fixture's regrade alone: neither what a person gave, nor new feedback beside the same mark
    assert "run x" in history and "run r" not in history and "only feedback" not in history
    assert "put the item's file back as it was" in html.unescape(history)
    capsys.readouterr()
    assert run(["regrade", "--history", "--course", str(site.folder)]) == 0
    listing = capsys.readouterr().out
    assert "only feedback" not in listing and MARKED_CAUSE not in listing and "when (UTC)" in listing


def test_a_regrade_that_is_written_says_so(site: Site, signed_in: SignedIn, marked_wrongly: Attempt) -> None:
    browser = signed_in("ivy")
    result_of(site, browser, send_form(browser, "/staff/regrade", "/start", item="softmax-ratio"))
    plan = f"/staff/regrade/plans/{site.jobs.newest('regrade')[0].id}"
    assert "1 mark would change" in browser.get(plan).text
    assert send_form(browser, plan, "/apply", reason="the key was wrong").status_code == 303
    page = browser.get(plan).text
    assert "1 mark has changed" in page and "would change" not in page and "To go back" in page
