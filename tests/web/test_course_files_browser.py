"""The course's own files in a real browser: without a script, by keyboard, and with line numbers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.course.roster import read_roster
from tests.live.browser import chromium, needs_chromium
from tests.live.site import LiveSite, new_course

pytestmark = needs_chromium
FILES = "/staff/course/files/"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveSite]:
    with LiveSite(new_course(tmp_path_factory.mktemp("site") / "course")) as live:
        yield live


@pytest.fixture(scope="module")
def chrome() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as running:
        browser = running.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        yield browser
        browser.close()


def page_of(chrome: Any, site: LiveSite, **more: Any) -> Any:
    context = chrome.new_context(**more)
    context.set_default_timeout(60_000)
    cookie = site.cookie_of("ivy")
    context.add_cookies([{"name": "softmark-session", "value": cookie, "url": site.address}])
    return context.new_page()


def test_a_student_is_added_by_keyboard_without_a_script(site: LiveSite, chrome: Any) -> None:
    page = page_of(chrome, site, java_script_enabled=False)
    path: Path = site.folder / "roster.csv"
    before = path.read_bytes().replace(b"\n", b"\r\n")
    path.write_bytes(before)
    page.goto(site.address + "/staff/course")
    page.get_by_role("link", name="roster.csv").press("Enter")
    page.get_by_label("Text").focus()
    page.keyboard.press("Control+End")
    page.keyboard.type("ada,Another,x@example.edu\n")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # Check without saving
    assert "roster.csv:4:1" in page.get_by_role("region", name="Faults").inner_text()
    assert path.read_bytes() == before
    page.get_by_label("Text").focus()
    page.keyboard.press("Control+End")
    page.keyboard.press("ArrowUp")
    page.keyboard.type("c")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # Save
    assert "roster.csv is saved: 3 students" in page.locator("[role=status]").first.inner_text()
    assert path.read_bytes() == before + b"cada,Another,x@example.edu\r\n"
    page.context.close()


def test_lines_have_numbers_and_an_upload_ends_in_the_roster(site: LiveSite, chrome: Any) -> None:
    page = page_of(chrome, site)
    page.goto(site.address + FILES + "staff.csv")
    assert page.locator(".line-numbers").inner_text().split() == ["1", "2", "3", "4"]
    page.goto(site.address + "/staff/course")
    table = '"Student","SIS User ID"\n"Дарья, ""D""",dar\n'.encode()
    page.get_by_label("CSV file").set_input_files({"name": "c.csv", "mimeType": "text/csv", "buffer": table})
    page.get_by_role("button", name="Compare with roster.csv").click()
    page.get_by_label("They are removed").check()
    page.get_by_role("button", name="Update the roster").click()
    page.get_by_role("heading", name="Course files").wait_for()
    assert [(s.id, s.name) for s in read_roster(site.folder / "roster.csv").students] == [
        ("dar", 'Дарья, "D"')
    ]
    page.context.close()
