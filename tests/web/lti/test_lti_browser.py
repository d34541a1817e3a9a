"""Launches in a real browser: in the learning system's page, with cookies blocked there, without script."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from playwright.sync_api import Browser as Chrome
from playwright.sync_api import BrowserContext, Frame, Page, sync_playwright

from engine.store import Store
from engine.web.site import Site
from tests.live.browser import chromium, needs_chromium
from tests.live.lms import Lms
from tests.web.lti.test_lti_pages import a_quiz

pytestmark = needs_chromium
PATIENCE_MS = 30_000
# Pages of the site for instructors.
PAGES = ("/staff/lms", "/staff/lms/new", "/staff/lms/members")


@pytest.fixture(scope="module")
def chrome() -> Iterator[Chrome]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        yield browser
        browser.close()


def context_of(chrome: Chrome, **options: object) -> BrowserContext:
    context = chrome.new_context(**options)  # type: ignore[arg-type]
    context.set_default_timeout(PATIENCE_MS)
    return context


def tool(page: Page) -> Frame:
    frame = page.frame("tool")
    assert frame is not None
    return frame


def test_a_student_works_inside_the_page_of_the_learning_system(
    chrome: Chrome, accepted: Lms, store: Store, served_site: Site
) -> None:
    a_quiz(store)
    link = store.lti.links()[0]
    store.lti.put_link(replace(link, assignment="week-1"))
    context = context_of(chrome)
    page = context.new_page()
    page.goto(f"{accepted.address}/course?user=u-ada&link=link-1")
    frame = tool(page)
    frame.wait_for_url("**/quiz/week-1")
    assert frame.locator("h1").inner_text() == "Softmax, by hand & more"
    names = {cookie["name"] for cookie in context.cookies()}
    assert "softmark-session" in names and not [n for n in names if n.startswith("softmark-lti-")]
    context.close()


def test_where_cookies_are_blocked_in_frames_a_window_of_its_own_works(
    chrome: Chrome, accepted: Lms, store: Store
) -> None:
    # For the browser this name is another site than the tool's address: the cookie is a third party's.
    foreign = accepted.address.replace("127.0.0.1", "localhost")
    accepted.launch = lambda launch: launch.set_launch_presentation_claim("iframe", f"{foreign}/course")
    for script in (True, False):
        context = context_of(chrome, java_script_enabled=script)
        page = context.new_page()
        page.goto(f"{foreign}/course?user=u-ivy&link=link-1")
        frame = tool(page)
        if not script:
            frame.get_by_role("button", name="Go on").click()
        way_out = frame.get_by_role("link", name="in a new window")
        with context.expect_page() as opened:
            way_out.click()
        window = opened.value
        if not script:
            window.get_by_role("button", name="Go on").click()
        window.wait_for_url("**/lti/choose/*")
        assert window.get_by_role("heading", name="Choose what the link opens").is_visible()
        context.close()


def test_a_choice_goes_back_by_itself_with_script_and_by_a_button_without(
    chrome: Chrome, accepted: Lms, store: Store
) -> None:
    accepted.launch = lambda launch: launch.set_dl(f"{accepted.address}/deep-link")
    for count, script in enumerate((True, False), start=1):
        context = context_of(chrome, java_script_enabled=script)
        page = context.new_page()
        page.goto(accepted.login_url("u-ivy"))
        if not script:
            page.get_by_role("button", name="Go on").click()
        page.get_by_role("searchbox").fill("kv cache")
        page.get_by_role("searchbox").press("Enter")
        page.get_by_role("button", name="Choose").first.press("Enter")
        if not script:
            page.get_by_role("button", name="Continue to the learning system").click()
        page.wait_for_url("**/deep-link")
        assert len(accepted.chosen) == count
        context.close()
    assert {item["custom"]["assignment"] for item in accepted.chosen} == {"kv-cache"}


@pytest.mark.parametrize("width", [1280, 360])
def test_pages_are_right_for_everybody_and_fit_a_phone(
    chrome: Chrome, accepted: Lms, store: Store, served_site: Site, width: int
) -> None:
    from importlib.resources import files

    from tests.live.axe import RULES

    store.lti.put_context(1, "course-8", title="Another course", accepted=None)
    context = context_of(chrome, viewport={"width": width, "height": 800})
    page = context.new_page()
    page.goto(accepted.login_url("u-ivy"))
    page.wait_for_url("**/lti/choose/*")
    addresses = [page.url, *(served_site.address + path for path in PAGES)]
    script = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    for address in addresses:
        page.goto(address)
        page.evaluate(script)
        found = page.evaluate(
            "rules => axe.run(document, {runOnly: {type: 'tag', values: rules}}).then(r => "
            "r.violations.map(v => v.id + ' ' + v.nodes.map(n => n.html).join(' | ')))",
            list(RULES),
        )
        assert found == [], address
        assert page.evaluate("document.documentElement.scrollWidth") <= width, address
    context.close()
