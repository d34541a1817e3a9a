"""Pages for staff in a real browser: marking by keyboard, the live table, axe-core, a phone."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
import uvicorn

from engine.marks.rubric_marking import RubricMarking
from engine.quiz import rules as quiz_rules
from engine.quiz.rules import now
from engine.store import HandMark
from engine.store.student_requests import RequestKind
from engine.web.application import application
from engine.web.serving import bind
from engine.web.site import Site
from engine.web.visit import SESSION_COOKIE
from tests.live.axe import violations
from tests.live.browser import Browser, chromium, needs_chromium
from tests.unit.marks.free_text_class import hand_in as hand_in_words
from tests.unit.marks.free_text_class import item_variant
from tests.web.course_work import COLUMNS, draw_quiz, hand_in, hand_in_code
from tests.web.scanned_sheets import EXAM, MATCHING, MULTIPLE, TOKEN, print_exam

pytestmark = needs_chromium

MARKING = "/staff/marking/of/week-2~2Fwhy-weights~2Freason"


@pytest.fixture
def address(site: Site, tmp_path: Path) -> Iterator[str]:
    """The site as it is served, with work of the class."""
    quizzes = draw_quiz(site)
    hand_in(site, quizzes["ada"], right=1)
    hand_in_code(site, "ada", "def softmax(z):\n    return z\n")
    variant = item_variant(tmp_path)
    for student, words in (("ada", "Softmax divides."), ("bob", "It is a law.")):
        hand_in_words(site.store, variant, student, words, name="week-2")
    site.store.requests.ask("bob", RequestKind.EXTENSION, "softmax", "I was ill.", now())
    listening = bind("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(application(site), log_level="warning"))
    thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    server.should_exit = True
    thread.join(60)
    listening.close()


@pytest.fixture
def ivy(address: str, site: Site, tmp_path: Path) -> Iterator[Browser]:
    """An instructor's browser."""
    program = chromium()
    assert program is not None
    browser = Browser(program, tmp_path / "profile")
    cookie = site.store.sessions.begin("ivy", way="mail", now=quiz_rules.now(), lasts=timedelta(hours=1))
    browser.call("Network.setCookie", name=SESSION_COOKIE, value=cookie, url=address)
    yield browser
    browser.close()


PAGES = (
    "/staff/class",
    "/staff/assignments/week-1",
    "/staff/students/ada",
    "/staff/students/ada/seen",
    "/staff/students/ada/marks/softmax",
    "/staff/marking",
    MARKING,
    "/staff/requests",
    "/staff/allowances",
    "/staff/quizzes",
    "/staff/quizzes/of/week-1",
    "/staff/items?topic=softmax",
    "/staff/regrade",
    "/staff/reports",
    "/staff/log",
)


@pytest.mark.parametrize("width", [1200, 360])
def test_axe_finds_nothing_and_nothing_is_wider_than_the_screen(
    width: int, ivy: Browser, address: str
) -> None:
    ivy.call("Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=False)
    for page in PAGES:
        ivy.open(address + page)
        assert violations(ivy) == [], page
        assert ivy.run("document.documentElement.scrollWidth") <= width, page
    assert ivy.complaints() == []


def test_marking_by_keyboard(site: Site, ivy: Browser, address: str) -> None:
    ivy.call("Page.navigate", url=f"{address}{MARKING}/next")
    for number in range(2):
        ivy.until("document.querySelector('form[data-rubric] .current')")
        first = ivy.run("location.pathname")
        ivy.press("1", 49)  # a point for the first criterion: a digit means points
        ivy.press("a", 65)  # half a point for the second
        given = "[...document.querySelectorAll('[data-criterion] input:checked')].map(r => Number(r.value))"
        assert ivy.run(given) == [1, 0.5]
        assert ivy.run("document.querySelectorAll('[data-criterion] input:checked').length") == 2
        ivy.press("n", 78)
        ivy.until(f"location.pathname !== {first!r} && document.readyState === 'complete'")
        assert (
            sum(
                len(attempt.report.marking)
                for attempt in site.store.attempts(item="why-weights", mode=site.mode)
            )
            == number + 1
        )
    assert ivy.run("location.pathname") == "/staff/marking"
    assert RubricMarking(site.store, site.mode, site.course.secret()).waiting() == 0
    assert ivy.complaints() == []


def test_places_of_scans_are_decided_by_keyboard(site: Site, ivy: Browser, address: str) -> None:
    sheets = print_exam(site)
    right = sheets.right("ada")
    wrong = "1-a" if "1-a" not in right[MATCHING] else "1-b"
    sheets.scan("ada", {**right, MULTIPLE: "a"}, unsure={MULTIPLE: "b", MATCHING: wrong}, written=[TOKEN])
    here, picked = (
        f"{address}/staff/marking/scans/of/{EXAM}/1~2F",
        "document.querySelectorAll('input:checked').length",
    )
    following = "location.pathname !== {!r} && document.readyState === 'complete'"
    # One bubble of several was surely filled, and b is added.
    ivy.open(f"{here}{MULTIPLE}~2Fanswer")
    ivy.until("document.querySelector('form[data-rubric] .current')")
    assert ivy.run(picked) == 1
    ivy.press("b", 66)
    ivy.press("b", 66)
    assert ivy.run(picked) == 1, "the same key takes it out again"
    ivy.press("b", 66)
    before = ivy.run("location.pathname")
    ivy.press("n", 78)
    ivy.until(following.format(before))
    # Rows that are certain are picked already; the keys go to the one that isn't.
    ivy.open(f"{here}{MATCHING}~2Fanswer")
    ivy.until("document.querySelector('form[data-rubric] .current')")
    rows = len(sheets.layout("ada").questions[MATCHING - 1].rows)
    assert ivy.run(picked) == rows - 1
    letter = dict(pair.split("-") for pair in right[MATCHING].split(", "))["1"]
    ivy.press(letter, ord(letter.upper()))
    before = ivy.run("location.pathname")
    ivy.press("n", 78)
    ivy.until(following.format(before))
    ivy.open(f"{here}{TOKEN}~2Fanswer")
    ivy.run("document.querySelector('input[name=blank]').click()")
    before = ivy.run("location.pathname")
    ivy.press("n", 78)
    ivy.until(following.format(before))
    decided = {d.field: d.text for d in site.store.scans.decisions(EXAM)}
    assert decided[f"{MULTIPLE}/answer"] == "a, b" and decided[f"{TOKEN}/answer"] == ""
    assert sorted(decided[f"{MATCHING}/answer"].split(", ")) == sorted(right[MATCHING].split(", "))
    assert len(list(site.store.attempts(student="ada", item="who-introduced", mode=site.mode))) == 1
    assert ivy.complaints() == []


def test_letters_in_a_comment_are_letters(ivy: Browser, address: str) -> None:
    ivy.call("Page.navigate", url=f"{address}{MARKING}/next")
    ivy.until("document.querySelector('form[data-rubric] .current')")
    place = ivy.run("location.pathname")
    ivy.run("document.querySelector('textarea[name=comment]').focus()")
    ivy.press("n", 78)
    ivy.press("1", 49)
    assert ivy.run("location.pathname") == place
    assert ivy.run("document.querySelectorAll('[data-criterion] input:checked').length") == 0


def test_the_table_follows_the_store(site: Site, ivy: Browser, address: str) -> None:
    ivy.open(f"{address}/staff/class")
    assert ivy.run("document.querySelectorAll('tr.fresh').length") == 0
    site.store.hand_marks.add(HandMark("ada", COLUMNS[0], 0.25, False, "", "ivy", now()))
    ivy.until("document.querySelector('tr.fresh')")
    assert ivy.run("document.querySelector('tr.fresh').id") == "s-ada"
    assert "0.25" in ivy.run("document.querySelector('tr.fresh').textContent")
    assert ivy.run("document.getElementById('live').textContent") == "One row changed just now."
    assert ivy.complaints() == []
