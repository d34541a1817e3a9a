"""Every page of the site in a real browser: axe, light and dark, a phone, no script, and nothing complains.

The table of pages is complete: a new page that isn't in it fails a test.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from importlib.resources import files
from pathlib import Path
from typing import Any

import httpx
import pytest

from engine.course import Course
from engine.course.people import Role
from engine.course.sign_in_secrets import new_link_token
from engine.quiz.rules import now
from engine.store.sessions import secret_hash
from engine.store.student_requests import RequestKind
from engine.web.assets import ASSETS
from engine.web.routes import all_routes
from engine.web.site import Site
from tests.live.axe import RULES
from tests.live.browser import chromium, needs_chromium
from tests.live.site import LiveSite, form_token, new_course
from tests.unit.marks.free_text_class import hand_in as hand_in_words
from tests.unit.marks.free_text_class import item_variant
from tests.web.browsing import draw
from tests.web.course_work import draw_quiz, hand_in, hand_in_code
from tests.web.scanned_sheets import MATCHING, MULTIPLE, SINGLE, TOKEN, print_exam

pytestmark = needs_chromium

OPEN_QUIZ = """title: Attention by hand
attempts: 2
hint_cost: 0.25
sections:
  - items: [softmax-temperature, greedy-trace-order, claims-solve-or-mitigate, history-impact, softmax-shift]
"""
EXAM = "title: Exam\nattempts: 1\ntime_limit: 30\nshow_before: nothing\nsections:\n  - items: [greedy-path]\n"
RULES_OF_COURSE = """
  timezone: Europe/Berlin
  assignments:
    softmax: {due: 2999-01-01T18:00}
    layer-norm: {opens: 2998-01-01, due: 2999-01-01}
"""

# What isn't a page of ours: data for scripts and other programs, files, and what only leads on.
NO_PAGES = {
    *("health", "health.live", "health.ready", "code.state", "code.starter", "instructor.report.file"),
    "instructor.log.table",
    *("instructor.scans.next", "instructor.scans.picture"),
    *("home", "sign_in.oidc", "sign_in.oidc_return", "instructor.marking.next", "instructor.job"),
    *("lti.keys", "lti.canvas", "lti.login", "lti.launch"),
}
# Pages that begin in a learning system: tests/web/lti goes there from one.
FROM_LEARNING_SYSTEMS = {"lti.choose", "lti.register", "lti.members", "lti.new", "lti.member_lists"}

STUDENT_PAGES = {
    "account": ["/account"],
    "student.home": ["/work"],
    "student.marks": ["/marks"],
    "student.requests": ["/requests", "/requests?kind=extension&subject=softmax"],
    "student.quiz": ["/quiz/week-1", "/quiz/open", "/quiz/exam"],
    "student.hand_in": ["/quiz/open/hand-in"],
    "student.question": [*(f"/quiz/open/{number}" for number in range(1, 6)), "/quiz/week-1/1"],
    "student.exercise": ["/code/softmax", "/code/layer-norm"],
}
STAFF_PAGES = {
    "sign_in.sessions_of": ["/people/ada/sessions"],
    "instructor.class": ["/staff/class"],
    "instructor.class.assignment": ["/staff/assignments/week-1", "/staff/assignments/softmax?show=missing"],
    "instructor.class.student": ["/staff/students/ada", "/staff/students/bob"],
    "instructor.class.student.seen": ["/staff/students/ada/seen"],
    "instructor.class.work": [
        "/staff/students/ada/marks/softmax",
        "/staff/students/ada/marks/week-1~2Fsoftmax-ratio",
    ],
    "instructor.marking": ["/staff/marking"],
    "instructor.marking.field": ["/staff/marking/of/week-2~2Fwhy-weights~2Freason"],
    "instructor.marking.answer": [
        "/staff/marking/of/week-2~2Fwhy-weights~2Freason/next",
        "/staff/marking/of/week-3~2Fwhy-weights~2Freason/next",  # on paper
    ],
    "instructor.scans": ["/staff/marking/scans", "/staff/marking/scans?show=decided"],
    "instructor.scans.place": [
        f"/staff/marking/scans/of/K7QF2MXA/1~2F{number}~2Fanswer"
        for number in (SINGLE, MULTIPLE, MATCHING, TOKEN)
    ],
}
INSTRUCTOR_PAGES = {
    "instructor.queue": ["/staff/waiting"],
    "instructor.requests": ["/staff/requests"],
    "instructor.allow": ["/staff/allowances"],
    "instructor.quizzes": ["/staff/quizzes"],
    "instructor.quiz": ["/staff/quizzes/of/week-1"],
    "instructor.quiz.preview": ["/staff/quizzes/of/week-1/preview"],
    "instructor.quiz.key": ["/staff/quizzes/of/week-1/key"],
    "instructor.items": ["/staff/items"],
    "instructor.item": ["/staff/items/of/softmax-ratio", "/staff/items/of/softmax"],
    "instructor.course": ["/staff/course"],
    "instructor.course.new": ["/staff/course/new"],
    "instructor.course.file": [
        "/staff/course/files/roster.csv",
        "/staff/course/files/course.yaml?checked=1",
        "/staff/course/files/blueprints~2Fopen.yaml",
        "/staff/course/files/blueprints~2Ffaulty.yaml",
    ],
    "instructor.regrade": ["/staff/regrade"],
    "instructor.variant": ["/staff/quizzes/whose"],
    "instructor.reports": ["/staff/reports"],
    "instructor.log": ["/staff/log"],
    "lti.systems": ["/staff/lms"],
}
# Each script, and what a page has in it that needs the script.
SCRIPTS = {
    "page.js": '<header class="top">',
    "live.js": r"<table[^>]* data-live=|<div data-job=",
    "line_numbers.js": " data-numbered| data-editor",
    "code.js": '<div id="exercise"',
    "timer.js": ' class="timer| data-save=',
    "answers.js": " data-save=",
    "order_fields.js": ' data-save=.* data-kind="order"',
    "number_fields.js": ' data-save=.*( data-rows=| data-kind="number")',
    "marking.js": " data-rubric=",
    "lti.js": " data-send| data-lti-close",
}
# What is begun by a form and has a page of its own: the form's address and fields.
JOBS = {
    "instructor.quiz.checked": ("/staff/quizzes/check", {"blueprint": "week-1"}),
    "instructor.quiz.drawn": ("/staff/quizzes/draw", {"blueprint": "open", "name": "once-more"}),
    "instructor.item.linted": ("/staff/items/lint", {"item": "softmax-ratio"}),
    "instructor.regrade.plan": ("/staff/regrade/start", {"items": "softmax-ratio", "again": "1"}),
    "instructor.report": ("/staff/reports/make", {"what": "analysis"}),
}
NOBODYS_PAGES = {
    "sign_in": ["/sign-in", "/nothing/here"],
    "sign_in.sent": ["/sign-in/sent"],
    "sign_in.link": ["/sign-in/link/another"],
}


@dataclass(frozen=True)
class Served:
    """A site with all kinds of work, and the pages of each person."""

    site: LiveSite
    pages: dict[str, list[str]]


def fill(folder: Path) -> str:
    """Put work of all kinds into the store; return the token of a link that signs ada in."""
    (folder / "web.yaml").write_text("mail: {folder: mails}\n", encoding="utf-8")
    settings = folder / "course.yaml"
    settings.write_text(settings.read_text(encoding="utf-8").rstrip() + RULES_OF_COURSE, encoding="utf-8")
    faulty = folder / "blueprints" / "faulty.yaml"
    faulty.write_text(f"title: Faulty\nsections:\n  - itmes: [{'softmax-ratio, ' * 20}]\n", encoding="utf-8")
    variant = item_variant(folder / "problems")
    with Course.open(folder).open_store() as store:
        site = Site(folder, store, "http://localhost")
        quizzes = draw_quiz(site)
        store.published.publish("week-1", "ivy", now())
        hand_in(site, quizzes["ada"], right=1)
        draw(site, OPEN_QUIZ, "open")
        draw(site, EXAM, "exam")
        unsure = {SINGLE: "a", MULTIPLE: "a", MATCHING: "1-a"}
        print_exam(site).scan("ada", {}, unsure=unsure, written=[TOKEN])
        place = f"K7QF2MXA/1/{TOKEN}/answer"
        hand_in_words(store, variant, "eve", "on paper: copy 1, page 5", name="week-3", place=place)
        hand_in_code(site, "ada", "def softmax(z):\n    return z\n")
        hand_in_code(site, "bob", "def softmax(z):\n    return z / 2\n", score=None)
        for student, words in (("ada", "Softmax divides."), ("bob", "It is a law.")):
            hand_in_words(store, variant, student, words, name="week-2")
        store.requests.ask("bob", RequestKind.EXTENSION, "softmax", "I was ill. \u202e مرحبا", now())
        expires = now() + timedelta(hours=1)
        token = new_link_token(site.secret, expires)
        store.sign_in_secrets.add([("ada", secret_hash(token))], kind="mail", now=now(), expires=expires)
    return token


def begun(browser: httpx.Client, address: str, fields: dict[str, str]) -> str:
    """Begin a job by its form, wait for it, and return the path of its page."""
    above = "/staff/reports" if "reports" in address else address.rpartition("/")[0]
    token = form_token(browser.get(above).text)
    answer = browser.post(address, data={"csrf": token, **fields})
    assert answer.status_code == 303, answer.text
    path = answer.headers["location"]
    for _ in range(600):
        page = browser.get(path)
        if page.status_code == 303:  # what is being done has a page of its own until it is done
            page = browser.get(page.headers["location"])
        if 'http-equiv="refresh"' not in page.text and "data-job" not in page.text:
            break
        time.sleep(0.1)
    return str(path)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = new_course(
        tmp_path_factory.mktemp("site") / "course",
        students=("ada,Ada Lovelace,ada@example.edu", "bob,عمر الخيام,bob@example.edu"),
    )
    token = fill(folder)
    with LiveSite(folder) as site:
        with site.browser("ivy") as browser:
            jobs = {name: begun(browser, address, fields) for name, (address, fields) in JOBS.items()}
            report = browser.get(jobs["instructor.report"]).text
            inner = re.findall(rf'href="({re.escape(jobs["instructor.report"])}/[^"]+\.html)"', report)
        jobs["instructor.quiz.checked.preview"] = jobs["instructor.quiz.checked"] + "/preview"
        jobs["instructor.report.page"] = inner[0] if inner else ""
        INSTRUCTOR_PAGES.update({name: [path] for name, path in jobs.items()})
        NOBODYS_PAGES["sign_in.link"].append(f"/sign-in/link/{token}")
        every = {
            "": NOBODYS_PAGES,
            "ada": STUDENT_PAGES,
            "mia": STAFF_PAGES,
            "ivy": STAFF_PAGES | INSTRUCTOR_PAGES,
        }
        yield Served(
            site, {who: [p for paths in kinds.values() for p in paths] for who, kinds in every.items()}
        )


@pytest.fixture(scope="module")
def chrome() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as running:
        browser = running.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        yield browser
        browser.close()


def person_page(chrome: Any, served: Served, person: str, **more: Any) -> Any:
    context = chrome.new_context(bypass_csp=True, **more)
    context.set_default_timeout(60_000)
    if person:
        cookie = served.site.cookie_of(person)
        context.add_cookies([{"name": "softmark-session", "value": cookie, "url": served.site.address}])
    return context.new_page()


def test_the_table_of_pages_is_complete(served: Served) -> None:
    listed = {*NOBODYS_PAGES, *STUDENT_PAGES, *STAFF_PAGES, *INSTRUCTOR_PAGES}
    pages = {route.name for route in all_routes() if "GET" in route.methods}
    assert pages - listed - NO_PAGES - FROM_LEARNING_SYSTEMS == set()
    assert listed - pages == set()
    least = {route.name: route.least for route in all_routes()}
    assert all(least[name] is Role.INSTRUCTOR for name in INSTRUCTOR_PAGES)


def faults_of_outline(page: Any) -> list[str]:
    """Return whether a page lacks its one heading, a title, or a way to its content by the first key."""
    page.keyboard.press("Tab")
    found = {
        "not one heading": page.locator("h1").count() != 1,
        "no title": not page.title(),
        "the first key leads elsewhere": page.evaluate("document.activeElement.className") != "skip",
    }
    return [fault for fault, is_there in found.items() if is_there]


# All of a marker's pages are an instructor's too.
AXE = [(who, *how) for who in ("", "ada", "ivy") for how in ((1280, "light"), (360, "dark"))]


@pytest.mark.parametrize(("person", "width", "scheme"), [*AXE, ("mia", 1280, "dark")])
def test_axe_finds_nothing_and_nothing_is_wider_than_the_screen(
    person: str, width: int, scheme: str, served: Served, chrome: Any
) -> None:
    axe = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    page = person_page(chrome, served, person, viewport={"width": width, "height": 800}, color_scheme=scheme)
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda said: said.type == "error" and complaints.append(said.text))
    options = {"runOnly": {"type": "tag", "values": RULES}, "resultTypes": ["violations"]}
    faults = []
    titles = set()
    for path in served.pages[person]:
        answer = page.goto(served.site.address + path)
        expected = 404 if path == "/nothing/here" else 410 if path.endswith("another") else 200
        if answer.status != expected:
            faults.append(f"{path}: status {answer.status}")
        page.evaluate("document.querySelectorAll('details:not(.menu)').forEach(all => { all.open = true })")
        if page.evaluate("document.documentElement.scrollWidth") > width:
            faults.append(f"{path}: wider than the screen")
        page.evaluate(axe + ";0")
        found = page.evaluate("options => axe.run(document, options).then(r => r.violations)", options)
        faults += [
            f"{path}: {rule['id']}: {node['target']} {node['failureSummary']}"
            for rule in found
            for node in rule["nodes"]
        ]
        faults += [f"{path}: {fault}" for fault in faults_of_outline(page)]
        titles.add(page.title())
    page.context.close()
    assert not faults, "\n".join(faults)
    assert len(titles) > len(served.pages[person]) / 2
    assert [text for text in complaints if "404" not in text and "410" not in text] == []


def test_each_page_loads_the_scripts_that_it_needs_and_keeps_them(served: Served) -> None:
    assert {name for name, kind in ASSETS.items() if kind == "text/javascript"} == {*SCRIPTS}
    uses: set[str] = set()
    for person, paths in served.pages.items():
        with served.site.browser(person) if person else httpx.Client(base_url=served.site.address) as browser:
            for path in paths:
                page = browser.get(path, follow_redirects=True).text
                loaded = dict(re.findall(r'<script src="(/static/(\w+\.js)\?v=[^"]+)" defer>', page))
                needed = {name for name, mark in SCRIPTS.items() if re.search(mark, page, re.DOTALL)}
                assert needed <= {*loaded.values()}, path
                if path in ("/sign-in", "/account", "/marks", "/staff/log", "/staff/items"):
                    assert [*loaded.values()] == ["page.js"], path
                uses |= needed
                for address in loaded:
                    assert "max-age=31536000" in browser.get(address).headers["cache-control"]
    assert uses == {*SCRIPTS} - {"lti.js"}  # tests/web/lti


@pytest.mark.parametrize("person", ["ada", "ivy"])
def test_pages_say_the_same_without_a_script(person: str, served: Served, chrome: Any) -> None:
    page = person_page(chrome, served, person, java_script_enabled=False)
    for path in served.pages[person]:
        page.goto(served.site.address + path)
        assert page.locator("h1").count() == 1, path
        assert page.locator("main").inner_text().strip(), path
    page.context.close()


def test_the_menu_of_a_phone_opens_by_keyboard_and_leads_on(served: Served, chrome: Any) -> None:
    page = person_page(
        chrome, served, "ada", viewport={"width": 360, "height": 740}, java_script_enabled=False
    )
    page.goto(served.site.address + "/work")
    link = page.locator(".menu").get_by_role("link", name="My marks")
    assert not link.is_visible()
    for _ in range(3):  # past the way to the content and the course's name
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert link.is_visible()
    link.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/marks")
    page.context.close()


def test_paper_shows_no_buttons_and_no_navigation(served: Served, chrome: Any) -> None:
    page = person_page(chrome, served, "ada")
    page.emulate_media(media="print")
    page.goto(served.site.address + "/marks")
    assert not page.locator(".top nav").first.is_visible()
    assert page.locator("main h1").is_visible()
    page.goto(served.site.address + "/quiz/open/1")
    assert page.locator("main .button:visible").count() == 0
    page.context.close()
