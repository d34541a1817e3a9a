"""From a printed exam through a scan to decisions and marks on the site, and into the gradebook."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from engine.course import Course
from engine.model import Mode, Outcome
from engine.quiz import rules as quiz_rules
from engine.web.application import application
from engine.web.site import Site
from engine.web.visit import SESSION_COOKIE
from tests.live.printed_exam import PRINT, bubbles_of, filled_pages, print_class, right_text, save
from tests.web.forms_of_pages import send_form

pytest.importorskip("typst")

ESSAY_ITEM = """id: why-sum
title: Why weights sum to 1
source: {document: background}
difficulty: 2
bloom: understand
topics: [softmax]
stem: "Why do attention weights sum to 1?"
answer:
  type: free_text
  min_words: 15
  max_words: 40
  rubric:
    - {id: softmax, title: the function, text: Names softmax., points: 1}
    - {id: division, title: what it does, text: Says that it divides by the sum., points: 2}
  sample: Softmax divides each exponential by their sum.
"""
BLUEPRINT = """title: Midterm
sections:
  - title: All
    items: [softmax-stability, scaled-dot-score, why-sum]
"""
SINGLE, NUMBER, ESSAY = 1, 2, 3
FIELD = "/staff/marking/of/mid~2Fwhy-sum"


def scan(grade, *arguments: object):  # type: ignore[no-untyped-def]
    return grade("scan", *arguments, "--course", "dl", "--json", "--by", "prof")


@pytest.fixture
def printed(grade):  # type: ignore[no-untyped-def]
    """A class whose exam has a choice, a number and an answer in words."""
    printed = print_class(grade, blueprint=BLUEPRINT, items={"why-sum": ESSAY_ITEM})
    Path("dl/staff.csv").write_text("id,name,email,role\nmia,Mia Marker,mia@example.edu,marker\n")
    return printed


@pytest.fixture
def browser(printed) -> Iterator[TestClient]:  # type: ignore[no-untyped-def]
    """A marker's browser."""
    with Course.open(Path("dl")).open_store() as store:
        site = Site(Path("dl"), store, "http://testserver")
        with TestClient(application(site), base_url=site.address, follow_redirects=False) as client:
            now = quiz_rules.now()
            cookie = store.sessions.begin("mia", way="mail", now=now, lasts=timedelta(hours=1))
            client.cookies.set(SESSION_COOKIE, cookie)
            yield client


def attempts(student: str) -> dict[str, object]:
    with Course.open(Path("dl")).open_store() as store:
        return {a.item: a for a in store.attempts(student=student, mode=Mode.MARKS)}


def gradebook(grade) -> dict[str, dict[str, str]]:  # type: ignore[no-untyped-def]
    assert grade("export", "gradebook", "csv", "--course", "dl", "--out", "marks.csv").code == 0
    rows = csv.DictReader(io.StringIO(Path("marks.csv").read_text(encoding="utf-8-sig")))
    return {row["student"]: row for row in rows}


def test_from_the_printed_exam_to_the_mark_in_the_gradebook(grade, printed, browser: TestClient) -> None:
    quiz, layout = printed.quizzes["ada"], printed.layouts["ada"]
    part = quiz.questions[SINGLE - 1].variant.parts[0]
    right = {n: right_text(quiz.questions[n - 1].variant.parts[0]) for n in (SINGLE, NUMBER)}
    wrong = next(option.id for option in part.options if not option.correct)
    pages = filled_pages(
        printed, "ada", right, crossed=tuple(bubbles_of(layout, SINGLE, wrong)), written=(ESSAY,)
    )
    for i, page in enumerate(pages):
        save(f"in/{i}.png", page)
    (exam,) = scan(grade, "in").json()["prints"]
    # The answer in words needs no decision; the choice does.
    (waiting,) = exam["waiting"]
    assert [item["field"] for item in waiting["fields"]] == [f"{SINGLE}/answer"]
    page = browser.get("/staff/marking/scans").text
    assert "1 of 1 left" in page and page.count("<article") == 1
    place = f"/staff/marking/scans/of/{PRINT}/1~2F{SINGLE}~2Fanswer"
    (picture,) = re.findall(r'<img src="([^"]+)"', browser.get(place).text)
    assert browser.get(picture).content.startswith(b"\x89PNG")
    assert send_form(browser, place, "/decide", **{"row.0": right[SINGLE]}).status_code == 303
    found = attempts("ada")
    outcomes = {item: a.report.outcome for item, a in found.items()}  # type: ignore[attr-defined]
    assert outcomes == {
        "softmax-stability": Outcome.RIGHT,
        "scaled-dot-score": Outcome.RIGHT,
        "why-sum": Outcome.UNGRADED,
    }
    essay = found["why-sum"]
    assert essay.response.on_paper == {"answer": f"{PRINT}/1/{ESSAY}/answer"}  # type: ignore[attr-defined]
    assert not [note for note in essay.report.notes if "word" in note]  # type: ignore[attr-defined]
    # The command has nothing left to do, and says so.
    (exam,) = scan(grade, "in").json()["prints"]
    assert (exam["handed_in_before"], exam["waiting"]) == (1, [])
    # The marker sees the sheet's box, and no name.
    answer = browser.get(f"{FIELD}/next").headers["location"]
    text = browser.get(answer).text
    assert text.count("data:image/png;base64,") == 1 and "on paper" in text
    assert "Student ada" not in text
    listed = browser.get(FIELD).text
    assert "on paper: copy 1, page" in listed and ">1 words" not in listed
    points = {"points.softmax": "1.0", "points.division": "1.0", "comment": "", "action": "next"}
    assert send_form(browser, answer, "/give", **points).status_code == 303
    report = attempts("ada")["why-sum"].report  # type: ignore[attr-defined]
    full = quiz.questions[ESSAY - 1].points
    assert report.score == pytest.approx(full * 2 / 3) and report.notes == ()
    # Softmax, and half of what two points are for: two of three.
    earned = quiz.questions[0].points + quiz.questions[1].points + full * 2 / 3
    assert float(gradebook(grade)["ada"]["total"]) == pytest.approx(earned, abs=0.01)


def test_only_an_untouched_box_is_left_empty(grade, printed) -> None:
    for i, page in enumerate(filled_pages(printed, "ada", {SINGLE: "a"})):
        save(f"in/ada-{i}.png", page)
    # So lightly that the eye hardly sees it: paper is 245.
    for i, page in enumerate(filled_pages(printed, "bob", {SINGLE: "a"}, written=(ESSAY,), ink=218)):
        save(f"in/bob-{i}.png", page)
    said = scan(grade, "in")
    assert said.code == 0, said.out
    empty, faint = attempts("ada")["why-sum"], attempts("bob")["why-sum"]
    assert (empty.report.outcome, empty.report.score) == (Outcome.WRONG, 0)  # type: ignore[attr-defined]
    assert faint.report.needs_person and faint.response.on_paper  # type: ignore[attr-defined]
    listed = grade("mark", "answers", "mid/why-sum", "--course", "dl", "--json").json()
    assert [(a["text"][:16], a["words"]) for a in listed] == [("on paper: copy 2", None)]


def test_answers_on_paper_are_never_taken_for_the_same(grade, printed, browser: TestClient) -> None:
    for student in ("ada", "bob"):
        for i, page in enumerate(filled_pages(printed, student, {}, written=(ESSAY,))):
            save(f"in/{student}-{i}.png", page)
    assert scan(grade, "in").code == 0
    text = browser.get(browser.get(f"{FIELD}/next").headers["location"]).text
    assert 'name="alike"' not in text
    assert "2</td>" in browser.get("/staff/marking").text
    # A sheet without its print's folder is still marked, with the paper in hand.
    Path("dl/prints", PRINT, "print.json").unlink()
    text = browser.get(browser.get(f"{FIELD}/next").headers["location"]).text
    assert "data:image" not in text and "on paper: copy" in text


def test_what_somebody_typed_counts_in_place_of_the_paper(grade, printed) -> None:
    crossed = tuple(bubbles_of(printed.layouts["ada"], SINGLE, "a"))
    for i, page in enumerate(filled_pages(printed, "ada", {}, crossed=crossed, written=(ESSAY,))):
        save(f"in/{i}.png", page)
    assert scan(grade, "in").code == 1
    words = "Softmax divides by the sum."
    decided = [f"{PRINT}/1/{ESSAY}/answer={words}", f"{PRINT}/1/{SINGLE}/answer=-"]
    assert scan(grade, "--decide", decided[0], "--decide", decided[1]).code == 0
    essay = attempts("ada")["why-sum"]
    assert essay.response.answers == {"answer": words} and not essay.response.on_paper  # type: ignore[attr-defined]
    assert any("5 words" in note for note in essay.report.notes)  # type: ignore[attr-defined]
