"""Pages in a real browser: axe-core, the keyboard, a phone, large text, paper, and no network at all."""

from __future__ import annotations

import base64
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.pages.render import style_sheet
from engine.store import open_store
from tests.live.axe import violations
from tests.live.browser import Browser, chromium, needs_chromium
from tests.live.pages import class_pages, feedback_pages

PROGRAM = chromium()
# where the tests must run, a browser that is missing is a failure and no reason to skip them
pytestmark = needs_chromium
TAB, ENTER = 9, 13
FEEDBACK = [
    *("right", "wrong", "ungraded", "unreadable", "excused", "dropped", "late", "hidden", "empty", "hostile")
]
PAGES = [*FEEDBACK, "summary", "quiz", "key"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    with open_store(folder / "store.db") as store:
        made = feedback_pages() | class_pages(store)
    assert sorted(made) == sorted(PAGES)
    for name, page in made.items():
        (folder / f"{name}.html").write_text(page, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def chrome(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    assert PROGRAM is not None, "these tests need Chromium"
    found = Browser(PROGRAM, tmp_path_factory.mktemp("profile"))
    yield found
    found.close()


def shown(
    chrome: Browser, folder: Path, name: str, *, width: int = 1200, scheme: str = "light", media: str = ""
) -> Browser:
    """Open a page from the disk."""
    chrome.show(folder / f"{name}.html", width=width, scheme=scheme, media=media)
    return chrome


def fits(browser: Browser) -> bool:
    return bool(browser.run("document.documentElement.scrollWidth <= window.innerWidth"))


@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (360, "dark")])
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing_and_nothing_is_wider_than_the_screen(
    chrome: Browser, folder: Path, name: str, width: int, scheme: str
) -> None:
    browser = shown(chrome, folder, name, width=width, scheme=scheme)
    dark = browser.run("matchMedia('(prefers-color-scheme: dark)').matches")
    assert dark == (scheme == "dark")
    assert fits(browser)
    browser.run("document.querySelectorAll('details').forEach(folded => { folded.open = true })")
    assert fits(browser), "with everything unfolded"
    assert violations(browser) == []
    assert browser.complaints() == []


def test_axe_would_find_something(chrome: Browser, folder: Path) -> None:
    browser = shown(chrome, folder, "right")
    browser.run("document.documentElement.removeAttribute('lang')")
    browser.run("document.querySelector('h1').style.color = '#ccc'")
    assert {line.split()[0] for line in violations(browser)} == {"html-has-lang", "color-contrast"}


LOW = """[...document.querySelectorAll('msub')].map(pair => {
    const [base, index] = [...pair.children].map(part => part.getBoundingClientRect());
    return index.bottom > base.bottom + 1;
})"""


def browser_has_one_of(fonts: list[str]) -> bool:
    listed = subprocess.run(["fc-list", ":", "family"], capture_output=True, text=True, check=False)
    return any(font in listed.stdout for font in fonts)


def test_an_index_stands_below_its_letter(chrome: Browser, folder: Path) -> None:
    """Without a font for formulas Chromium sets an index on the line: the style names all usual ones."""
    style = re.search(r"^math \{.*?font-family: (.*?), math;", style_sheet(), re.DOTALL | re.MULTILINE)
    assert style
    if not browser_has_one_of(re.findall(r'"(.*?)"', style[1])):
        pytest.skip("this machine has no font for formulas")
    browser = shown(chrome, folder, "quiz")
    low = browser.run(LOW)
    assert len(low) > 2 and all(low)
    browser.run("document.querySelectorAll('math').forEach(it => { it.style.fontFamily = 'sans-serif' })")
    assert not any(browser.run(LOW))


@pytest.mark.parametrize("name", PAGES)
def test_a_page_asks_for_nothing_else(chrome: Browser, folder: Path, name: str) -> None:
    browser = shown(chrome, folder, name)
    asked = [
        e["params"]["request"]["url"] for e in browser.events if e["method"] == "Network.requestWillBeSent"
    ]
    assert asked == [(folder / f"{name}.html").as_uri()]
    assert browser.run("document.querySelectorAll('script, link, img, iframe').length") == 0
    assert browser.run("getComputedStyle(document.body).fontFamily").startswith("system-ui"), "styles hold"


@pytest.mark.parametrize("name", ["wrong", "hostile", "summary"])
def test_the_keyboard_reaches_everything_in_order_and_shows_where_it_is(
    chrome: Browser, folder: Path, name: str
) -> None:
    browser = shown(chrome, folder, name)
    browser.run(
        "window.wanted = [...document.querySelectorAll('a[href], summary, [tabindex=\"0\"]')]"
        ".filter(e => e.checkVisibility({contentVisibilityAuto: true}))"
    )
    count = browser.run("wanted.length")
    assert count > 5
    reached = []
    for _ in range(count):
        browser.press("Tab", TAB)
        reached.append(
            browser.run(
                "(({outlineStyle: style, outlineWidth: width}) =>"
                " [wanted.indexOf(document.activeElement), style, parseFloat(width) >= 2]"
                ")(getComputedStyle(document.activeElement))"
            )
        )
    assert [place for place, _, _ in reached] == list(range(count)), "the order of the page"
    assert {(style, wide) for _, style, wide in reached} == {("solid", True)}, "the focus is seen"


def test_the_first_link_skips_to_the_content_and_details_unfold_by_enter(
    chrome: Browser, folder: Path
) -> None:
    browser = shown(chrome, folder, "wrong")
    browser.press("Tab", TAB)
    assert browser.run("document.activeElement.textContent") == "Skip to the content"
    assert browser.run("document.activeElement.getBoundingClientRect().x") >= 0, "seen when it has the focus"
    browser.press("Enter", ENTER)
    browser.until("document.activeElement.id === 'content'")
    browser.run("document.querySelector('summary').focus()")
    assert browser.run("document.querySelector('details').open") is False
    browser.press("Enter", ENTER)
    browser.until("document.querySelector('details').open")


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("width", [360, 1200])
def test_text_of_twice_the_size_still_fits(chrome: Browser, folder: Path, name: str, width: int) -> None:
    browser = shown(chrome, folder, name, width=width)
    browser.run("document.documentElement.style.fontSize = '200%'")
    assert fits(browser)


def test_paper_shows_what_is_folded_and_has_no_dark_ground(chrome: Browser, folder: Path) -> None:
    browser = shown(chrome, folder, "late", scheme="dark", media="print")
    receipt = "document.querySelector('dl[data-sha256] code')"
    assert browser.run(f"{receipt}.checkVisibility({{contentVisibilityAuto: true}})") is True
    assert browser.run(f"{receipt}.getBoundingClientRect().height") > 0
    assert browser.run("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert browser.run("getComputedStyle(document.querySelector('.skip')).display") == "none"
    assert browser.run("getComputedStyle(document.querySelector('.weights details')).display") == "none"
    checks = "document.querySelector('details.folded table')"
    assert browser.run(f"{checks}.checkVisibility({{contentVisibilityAuto: true}})") is False
    folded = shown(chrome, folder, "late")
    assert folded.run(f"{receipt}.checkVisibility({{contentVisibilityAuto: true}})") is False


@pytest.mark.parametrize(("name", "least", "most"), [("empty", 1, 1), ("hidden", 1, 2), ("wrong", 4, 12)])
def test_a_page_is_printed(chrome: Browser, folder: Path, name: str, least: int, most: int) -> None:
    browser = shown(chrome, folder, name)
    made = base64.b64decode(browser.call("Page.printToPDF", preferCSSPageSize=True)["data"])
    assert made.startswith(b"%PDF")
    assert least <= len(re.findall(rb"/Type /Page\b(?!s)", made)) <= most
