"""The page of a report in a real browser: axe-core, a phone, dark mode, paper, and the page's own policy."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.analysis.report_page import write_report
from engine.course import StudentLabels
from engine.store import open_store
from tests.live.axe import violations
from tests.live.browser import Browser, chromium, needs_chromium
from tests.unit.analysis.hostile import HOSTILE, fill, made

PROGRAM = chromium()
pytestmark = needs_chromium
OPEN_ALL = "document.querySelectorAll('details').forEach(one => { one.open = true })"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    with open_store(folder / "store.db") as store:
        fill(store, 210)
        report = made(store)
    return write_report(folder, report, StudentLabels({f"{HOSTILE}1": "Ada " * 20}))[0]


@pytest.fixture(scope="module")
def chrome(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    assert PROGRAM is not None, "these tests need Chromium"
    found = Browser(PROGRAM, tmp_path_factory.mktemp("profile"))
    yield found
    found.close()


@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (1200, "dark"), (360, "light")])
def test_it_is_accessible_and_fits(chrome: Browser, page: Path, width: int, scheme: str) -> None:
    chrome.show(page, width=width, scheme=scheme)
    chrome.run(OPEN_ALL)
    assert chrome.complaints() == []
    assert violations(chrome) == []
    assert chrome.run("document.documentElement.scrollWidth") <= width


def test_figures_take_the_colours_of_the_scheme(chrome: Browser, page: Path) -> None:
    fills = []
    for scheme in ("light", "dark"):
        chrome.show(page, scheme=scheme)
        fills.append(chrome.run("getComputedStyle(document.querySelector('svg text')).fill"))
    assert fills[0] != fills[1]
    assert all(fill.startswith("rgb(") for fill in fills)


def test_figures_are_as_large_as_their_place(chrome: Browser, page: Path) -> None:
    chrome.show(page, width=360)
    widths = chrome.run(
        "[...document.querySelectorAll('figure svg')].map(one => one.getBoundingClientRect().width)"
    )
    assert widths and all(240 < width < 340 for width in widths)
    # no label is cut off at the edge of its figure
    outside = """[...document.querySelectorAll('figure svg')].flatMap(figure => {
        const box = figure.getBoundingClientRect();
        return [...figure.querySelectorAll('text')].filter(text => {
            const own = text.getBoundingClientRect();
            return own.left < box.left - 1 || own.right > box.right + 1 || own.bottom > box.bottom + 1;
        }).map(text => text.textContent);
    })"""
    assert chrome.run(outside) == []


def test_on_paper_everything_is_unfolded(chrome: Browser, page: Path) -> None:
    chrome.show(page, width=794, scheme="dark", media="print")
    assert chrome.run("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    # the table that is folded on the screen has a height on paper
    assert chrome.run("document.querySelector('details table').getBoundingClientRect().height") > 50
    assert chrome.run("document.documentElement.scrollWidth") <= 794
    printed = base64.b64decode(chrome.call("Page.printToPDF", preferCSSPageSize=True)["data"])
    assert printed.startswith(b"%PDF")
