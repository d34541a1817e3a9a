"""``grade serve --cluster`` with real workers: what students and staff see, whatever works or doesn't."""

from __future__ import annotations

import functools
import html
import os
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import sqlalchemy as sa
from playwright.sync_api import Browser, Page, sync_playwright
from playwright.sync_api import expect as expect_soon

from engine.cluster.queue_tables import make_queue, open_queue_database
from engine.course import Course
from engine.model import Mode
from engine.web.visit import SESSION_COOKIE
from tests.integration.test_cluster_command import started, waiting
from tests.live.browser import chromium, needs_chromium
from tests.live.changed_softmax import SOFTMAX, change_softmax
from tests.live.code_visitor import CodeVisitor
from tests.live.postgres import server
from tests.live.site import LiveSite, form_token, new_course

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="the sandbox of marks runs on Linux"),
    needs_chromium,
]

RIGHT = (SOFTMAX / "solution_numpy.py").read_text(encoding="utf-8")
PATIENCE_S = 120.0
HEARTBEAT_S = 0.5


def expect(place: Any) -> Any:
    """Return what is expected of a place before long: workers load torch first."""
    return PatientExpectation(place)


class PatientExpectation:
    """Expectations of Playwright's that wait as long as all here do."""

    def __init__(self, place: Any) -> None:
        self._expect = expect_soon(place)

    def __getattr__(self, name: str) -> Callable[..., None]:
        return functools.partial(getattr(self._expect, name), timeout=PATIENCE_S * 1000)


@pytest.fixture(scope="module")
def chrome() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def course(tmp_path: Path) -> Path:
    students = ("ada,Ada Lovelace,ada@example.edu", "bob,Bob Moran,bob@example.edu")
    return new_course(tmp_path / "course", students=students, store=server().new_store())


def address_of(course: Path) -> str:
    return str(Course.open(course).store_place)


def worker(course: Path, *words: object) -> Any:
    # A worker ends where there is no queue yet, and the site makes it with what is handed in first.
    with closing(open_queue_database(address_of(course))) as database:
        make_queue(database)
    return started("worker", "--store", address_of(course), "--heartbeat", HEARTBEAT_S, "--slots", 1, *words)


@contextmanager
def open_page(chrome: Browser, site: LiveSite, person: str, width: int = 1280) -> Iterator[Page]:
    context = chrome.new_context(viewport={"width": width, "height": 900})
    context.set_default_timeout(PATIENCE_S * 1000)
    context.add_cookies([{"name": SESSION_COOKIE, "value": site.cookie_of(person), "url": site.address}])
    yield context.new_page()
    context.close()


def text_of(answer: httpx.Response) -> str:
    assert answer.status_code == 200, answer.text
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", answer.text)))


def post(browser: httpx.Client, page: str, address: str, **fields: str) -> httpx.Response:
    return browser.post(address, data={"csrf": form_token(browser.get(page).text), **fields})


def until(holds: Callable[[], object], what: str) -> None:
    end = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < end, what
        time.sleep(0.1)


def test_a_hand_in_from_the_first_wait_to_its_feedback(course: Path, chrome: Browser) -> None:
    with LiveSite(course, "--cluster") as site, open_page(chrome, site, "ada") as page:
        staff, bob = site.browser("ivy"), CodeVisitor(site, "bob")
        page.goto(f"{site.address}/code/softmax")
        page.get_by_label("Your code").fill(RIGHT)
        page.get_by_role("button", name="Hand in this code").click()
        progress = page.locator("[data-progress]")
        # Nobody grades: that is said, and nothing turns.
        expect(progress).to_contain_text("No machine is grading for this course at the moment")
        expect(page.locator(".busy")).to_have_count(0)
        waits = text_of(staff.get("/staff/waiting"))
        assert "No worker takes this course's programs" in waits and "no worker is running" in waits
        assert "Ada Lovelace" in waits and "in the queue, 0 ahead" in waits
        # Bob's comes after hers.
        later = bob.hand_in("softmax", f"{RIGHT}\n# bob\n")
        until(lambda: waiting(address_of(course)) == 2, "it isn't handed over")
        assert post(staff, "/staff/waiting", "/staff/waiting/pause", paused="yes").status_code == 303
        expect(progress).to_contain_text("Grading is paused for this course")
        with worker(course) as running:
            until(lambda: "waits" in text_of(staff.get("/staff/waiting")), "no worker came")
            time.sleep(1.0)
            assert waiting(address_of(course)) == 2
            assert "Resume this course" in staff.get("/staff/waiting").text
            page.evaluate("window.sameDocument = true")
            assert post(staff, "/staff/waiting", "/staff/waiting/pause", paused="no").status_code == 303
            expect(page.locator("#result")).to_contain_text("10 of 10 points")
            assert page.evaluate("window.sameDocument")
            assert "10 of 10 points" in bob.feedback("softmax", later)
            shown = text_of(staff.get("/staff/waiting"))
            assert "T1" in shown or "T2" in shown
            (number,) = set(re.findall(r'name="worker" value="(\d+)"', staff.get("/staff/waiting").text))
            assert post(staff, "/staff/waiting", "/staff/waiting/drain", worker=number).status_code == 303
            assert running.wait(PATIENCE_S) == 0
        with Course.open(course).open_store() as store:
            actions = {entry.action for _, entry in store.audit.newest(20)}
        assert {"queue.pause", "queue.resume", "queue.drain"} <= actions
        staff.close()
        bob.close()


def test_a_worker_that_dies_over_a_hand_in(course: Path, chrome: Browser) -> None:
    slow = f"import time\nfor _ in range(40): time.sleep(0.1)\n{RIGHT}"
    with LiveSite(course, "--cluster") as site, open_page(chrome, site, "ada") as page:
        with worker(course) as first:
            page.goto(f"{site.address}/code/softmax")
            page.get_by_label("Your code").fill(slow)
            page.get_by_role("button", name="Hand in this code").click()
            progress = page.locator("[data-progress]")
            expect(progress).to_have_text("Your code is being graded.")
            os.killpg(first.pid, signal.SIGKILL)
        database = open_queue_database(address_of(course))
        with database.write() as connection:  # as it will be in a minute
            connection.execute(
                sa.text("UPDATE procrastinate_workers SET last_heartbeat = now() - interval '1 minute'")
            )
        database.close()
        expect(progress).to_contain_text(
            "The machine that was grading your code stopped. No machine is grading"
        )
        expect(page.locator(".busy")).to_have_count(0)
        with worker(course):
            expect(page.locator("#result")).to_contain_text("10 of 10 points")


def begin_regrade(staff: httpx.Client) -> str:
    answer = post(staff, "/staff/regrade", "/staff/regrade/start", item="softmax")
    assert answer.status_code == 303, answer.text
    return str(answer.headers["location"])


def held(staff: httpx.Client, page: str) -> str:
    state = re.search(r'data-job="([^"]+)"', staff.get(page).text)
    return str(staff.get(state[1]).json()["held"]) if state else ""


def test_a_regrade_goes_to_the_workers_and_outlives_the_site(course: Path, chrome: Browser) -> None:
    half = RIGHT.replace("return", "return 1.0 *", 1).replace("/ ", "/ 2.0 / ", 1)
    with LiveSite(course, "--cluster") as site:
        ada, bob = CodeVisitor(site, "ada"), CodeVisitor(site, "bob")
        with worker(course):
            ada.feedback("softmax", ada.hand_in("softmax", RIGHT))
            bob.feedback("softmax", bob.hand_in("softmax", half))
        change_softmax(course)
        staff = site.browser("ivy")
        until(lambda: "Changed since work was marked" in staff.get("/staff/regrade").text, "not read again")
        plan = begin_regrade(staff)
        until(lambda: "no worker is running" in held(staff, plan), "nothing says why")
        with open_page(chrome, site, "ivy", width=360) as page:
            page.goto(site.address + plan)
            expect(page.locator("[data-held]")).to_contain_text("no worker is running")
            page.get_by_role("button", name="Stop").click()
            page.goto(site.address + plan)
            expect(page.get_by_text("It was stopped.")).to_be_visible()
        again = begin_regrade(staff)
        until(lambda: "no worker is running" in held(staff, again), "it isn't begun again")
        assert waiting(address_of(course)) == 2
        site.kill()
        for client in (staff, ada, bob):
            client.close()
    with worker(course):  # the site is away: they are graded all the same
        until(lambda: waiting(address_of(course)) == 0, "nothing is graded")
    with LiveSite(course, "--cluster") as site:  # and no worker is
        staff = site.browser("ivy")
        assert staff.get(again).status_code == 404
        plan = begin_regrade(staff)
        until(lambda: "would change" in staff.get(plan).text, "the reports weren't collected")
        assert post(staff, plan, f"{plan}/apply", reason="other points").status_code == 303
        with Course.open(course).open_store() as store:
            marks = {a.student: a.report.item_version for a in store.attempts(mode=Mode.MARKS)}
            assert len(marks) == 2 and len(set(marks.values())) == 1
            (run,) = {change.run for change in store.regrades.history()}
            assert run in text_of(staff.get(plan))
        staff.close()


def test_a_site_that_ends_waits_for_no_worker(course: Path) -> None:
    with LiveSite(course, "--cluster") as site:
        ada = CodeVisitor(site, "ada")
        ada.hand_in("softmax", RIGHT)
        until(lambda: waiting(address_of(course)) == 1, "it isn't handed over")
        ada.close()
        began = time.monotonic()
        assert site.stop() == 0
        assert time.monotonic() - began < 60
    with LiveSite(course, "--cluster") as site, worker(course):
        ada = CodeVisitor(site, "ada")
        assert "10 of 10 points" in ada.feedback("softmax", "/code/softmax")
        ada.close()
