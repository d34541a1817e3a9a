"""A code exercise in a real browser: the editor's keys, drafts, waiting, files, and without script."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
import uvicorn
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from engine.course import Course
from engine.quiz import rules as quiz_rules
from engine.web.application import application
from engine.web.serving import bind
from engine.web.site import Site
from engine.web.visit import SESSION_COOKIE
from tests.live.browser import chromium, needs_chromium
from tests.web.grading import Grading

pytestmark = needs_chromium
PATIENCE_MS = 30_000
expect.set_options(timeout=PATIENCE_MS)  # of itself it waits for five seconds


@pytest.fixture(scope="module")
def chrome() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def served(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Site, Grading]]:
    """The course on a free port, with a grader that obeys the first line of a program."""
    listening = bind("127.0.0.1", 0)
    address = f"http://127.0.0.1:{listening.getsockname()[1]}"
    with Course.open(folder).open_store() as store:
        site = Site(folder, store, address)
        grading = Grading(site, monkeypatch)
        site.hand_in_desk.slots = 0  # the grader runs already; the application needn't start one
        server = uvicorn.Server(uvicorn.Config(application(site), log_level="warning", lifespan="off"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        end = time.monotonic() + 30
        while not server.started:
            assert time.monotonic() < end
            time.sleep(0.02)
        yield site, grading
        grading.stop()
        server.should_exit = True
        thread.join()
        listening.close()


def opened(
    chrome: Browser, site: Site, *, person: str = "ada", width: int = 1280, script: bool = True
) -> BrowserContext:
    context = chrome.new_context(viewport={"width": width, "height": 800}, java_script_enabled=script)
    context.set_default_timeout(PATIENCE_MS)
    cookie = site.store.sessions.begin(person, way="mail", now=quiz_rules.now(), lasts=timedelta(hours=1))
    context.add_cookies([{"name": SESSION_COOKIE, "value": cookie, "url": site.address}])
    return context


@pytest.fixture
def page(chrome: Browser, served: tuple[Site, Grading]) -> Iterator[Page]:
    site, _ = served
    context = opened(chrome, site)
    tab = context.new_page()
    complaints: list[str] = []
    tab.on("pageerror", lambda error: complaints.append(str(error)))
    tab.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
    tab.goto(f"{site.address}/code/softmax")
    yield tab
    context.close()
    assert complaints == []


def typed(page: Page, text: str) -> None:
    area = page.get_by_label("Your code")
    area.fill("")
    area.focus()
    page.keyboard.type(text)


def test_the_editor_indents_and_lets_the_keyboard_out(page: Page) -> None:
    area = page.get_by_label("Your code")
    typed(page, "# right\ndef softmax(x):\nif x:\nreturn 1")
    assert area.input_value() == "# right\ndef softmax(x):\n    if x:\n        return 1"
    expect(page.locator(".line-numbers")).to_have_text("1\n2\n3\n4")
    for width in (1280, 360):  # on a phone the text is larger
        page.set_viewport_size({"width": width, "height": 800})
        numbers, text = (
            place.evaluate("e => getComputedStyle(e).lineHeight")
            for place in (page.locator(".line-numbers"), area)
        )
        assert numbers == text, width
    area.focus()
    page.keyboard.press("Shift+Tab")
    assert area.input_value().endswith("\n    return 1")
    page.keyboard.press("Control+a")
    page.keyboard.press("Tab")
    assert area.input_value() == "    # right\n    def softmax(x):\n        if x:\n        return 1"
    page.keyboard.press("Shift+Tab")
    assert area.input_value().startswith("# right\ndef softmax")
    page.keyboard.press("Control+z")
    assert area.input_value().startswith("    # right"), "what keys do can be undone"
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent.trim()") == "Hand in this code"


def test_a_draft_is_kept_until_it_is_handed_in(page: Page, served: tuple[Site, Grading]) -> None:
    site, grading = served
    area = page.get_by_label("Your code")
    typed(page, "# wrong\nx = 1")
    expect(page.locator(".saved")).to_contain_text("not handed in yet")
    page.reload()
    assert area.input_value() == "# wrong\nx = 1"
    page.get_by_role("button", name="Discard it").click()
    assert "def softmax" in area.input_value()
    typed(page, "# wrong\nx = 2")
    page.get_by_role("button", name="Hand in this code").click()
    expect(page.get_by_role("heading", name="Feedback on your hand-in")).to_be_visible()
    page.goto(f"{site.address}/code/softmax")
    assert area.input_value() == "# wrong\nx = 2"
    expect(page.locator(".saved")).to_have_text("")
    # While it waits, the page has no editor: the draft goes all the same.
    grading.gate.clear()
    typed(page, "# right\nx = 3")
    page.get_by_role("button", name="Hand in this code").click()
    expect(page.locator("[data-progress]")).to_be_visible()
    grading.gate.set()
    expect(page.locator("#result")).to_contain_text("10 of 10 points")
    assert area.input_value() == "# right\nx = 3"
    expect(page.locator(".saved")).to_have_text("")


def test_the_result_is_announced_when_it_arrives(page: Page, served: tuple[Site, Grading]) -> None:
    _, grading = served
    grading.gate.clear()
    typed(page, "# partial\n")
    page.get_by_role("button", name="Hand in this code").click()
    expect(page.locator("[data-progress]")).to_have_text("Your code is being graded.")
    region = page.locator("[data-announce]")
    expect(region).to_have_attribute("role", "status")
    page.evaluate("window.sameDocument = true")
    grading.gate.set()
    expect(region).to_have_text(re.compile("Graded: .*partly right 7.5 of 10 points"))
    assert page.evaluate("window.sameDocument"), "nothing was reloaded under the reader"
    expect(page.locator("#result")).to_contain_text("It overflows.")
    assert page.url.endswith("/code/softmax")


def test_a_file_is_dropped(page: Page) -> None:
    data = page.evaluate_handle(
        "() => { const data = new DataTransfer();"
        "data.items.add(new File(['# right\\n'], 'mine.py')); return data; }"
    )
    field = page.locator("[data-drop]").first
    field.dispatch_event("dragover", {"dataTransfer": data})
    expect(field).to_have_class(re.compile("over"))
    field.dispatch_event("drop", {"dataTransfer": data})
    page.get_by_role("button", name="Hand in the files").click()
    expect(page.locator("#result")).to_contain_text("10 of 10 points")
    expect(page.get_by_role("table", name="Your hand-ins, newest first")).to_contain_text("mine.py")


def test_without_script(chrome: Browser, served: tuple[Site, Grading], tmp_path: Path) -> None:
    site, grading = served
    (tmp_path / "mine.py").write_text("# wrong\n")
    context = opened(chrome, site, script=False)
    page = context.new_page()
    page.goto(f"{site.address}/code/softmax")
    page.get_by_label("Drop files here, or choose them").set_input_files(tmp_path / "mine.py")
    grading.gate.clear()
    page.get_by_role("button", name="Hand in the files").click()
    expect(page.get_by_text("Your code is being graded.")).to_be_visible()
    expect(page.get_by_role("link", name="Reload the page")).to_be_visible()
    grading.gate.set()
    expect(page.locator("#result")).to_contain_text("0 of 10 points", timeout=PATIENCE_MS)  # by itself
    context.close()


@pytest.mark.parametrize("width", [360, 1280])
def test_axe_and_a_phone(chrome: Browser, served: tuple[Site, Grading], width: int) -> None:
    from axe_playwright_python.sync_playwright import Axe

    site, grading = served
    context = opened(chrome, site, width=width)
    page = context.new_page()

    def looks_right(state: str) -> None:
        found = Axe().run(page).response["violations"]
        assert [(rule["id"], [node["html"] for node in rule["nodes"]]) for rule in found] == [], state
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), state

    page.goto(f"{site.address}/code/softmax")
    looks_right("empty")
    typed(page, "# partial\n" + "x = 1  # " + "long " * 60)
    page.get_by_role("button", name="Hand in this code").click()
    expect(page.locator("#result")).to_be_visible()
    looks_right("feedback")
    grading.gate.clear()
    typed(page, "# right\n")
    page.get_by_role("button", name="Hand in this code").click()
    expect(page.locator("[data-progress]")).to_be_visible()
    looks_right("waiting")
    grading.gate.set()
    expect(page.locator("#result")).to_contain_text("10 of 10 points")
    typed(page, "x = 1\0")
    page.evaluate("document.querySelector('#code').value = ''")
    page.get_by_role("button", name="Hand in this code").click()
    expect(page.get_by_role("alert")).to_contain_text("This wasn't handed in")
    looks_right("refused")
    context.close()
