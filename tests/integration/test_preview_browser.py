"""The preview in a real browser: its script, its policy, the keyboard, a phone's width."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.authoring.scaffold import scaffold, write_new_files
from tests.live.browser import Browser, chromium, needs_chromium
from tests.live.preview import Preview

PROGRAM = chromium()
pytestmark = needs_chromium
LINTED = "document.getElementById('lint')?.textContent.startsWith('Lint finds nothing')"
TAB, ENTER = 9, 13


@pytest.fixture(scope="module")
def item(tmp_path_factory: pytest.TempPathFactory) -> Path:
    texts = scaffold("steps", "mine", None, tmp_path_factory.mktemp("preview"))
    write_new_files(texts)
    return next(iter(texts))


@pytest.fixture(scope="module")
def preview(item: Path) -> Iterator[Preview]:
    running = Preview(item.parent, item.name, "--seeds", "4")
    yield running
    running.end()


@pytest.fixture(scope="module")
def chrome(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    assert PROGRAM is not None
    found = Browser(PROGRAM, tmp_path_factory.mktemp("profile"))
    yield found
    found.close()


@pytest.fixture
def browser(chrome: Browser, preview: Preview) -> Browser:
    chrome.open(f"http://127.0.0.1:{preview.port}/")
    chrome.until(LINTED)
    chrome.events.clear()
    return chrome


def test_the_page_redraws_itself_and_stays_as_it_was(browser: Browser, preview: Preview, item: Path) -> None:
    text = item.read_text(encoding="utf-8")
    browser.run("window.stays = true")  # gone if the page were loaded again
    browser.run("document.getElementById('hints-1').open = false")
    browser.run("document.querySelector('#solution-2 summary').focus()")
    browser.run("window.scrollTo(0, 700)")
    height = browser.run("window.scrollY")
    assert height == 700

    item.write_text(text.replace("range: [-1, 2]", "range: [-1, 1]"), encoding="utf-8")
    browser.until("document.querySelectorAll('article.fresh').length > 0")
    assert browser.run("window.stays")
    assert browser.run("document.getElementById('hints-1').open") is False
    assert browser.run("document.getElementById('hints-2').open") is True
    assert browser.run("document.activeElement.parentElement.id") == "solution-2"
    assert browser.run("window.scrollY") == height
    browser.until(LINTED)

    item.write_text(text.replace("softmax(e)", "softmx(e)"), encoding="utf-8")
    browser.until("document.getElementById('faults')")
    assert browser.run("document.querySelectorAll('.cards.old article').length") == 4
    assert "did you mean" in browser.run("document.querySelector('.trouble').innerText")

    # saves that follow each other closely: the page ends with the last one
    for number in range(5):
        item.write_text(re.sub("title: .*", f"title: Save {number}", text), encoding="utf-8")
    browser.until("document.title.startsWith('Save 4')")
    browser.until(LINTED)
    assert browser.run("document.querySelector('h1').textContent") == "Save 4"
    assert browser.complaints() == [], "nothing breaks the policy, no script fails"
    item.write_text(text, encoding="utf-8")
    browser.until("document.title.startsWith('Mine')")


def test_the_page_says_when_the_preview_has_ended(chrome: Browser, item: Path) -> None:
    running = Preview(item.parent, item.name, "--seeds", "2")
    chrome.open(f"http://127.0.0.1:{running.port}/")
    chrome.until("document.getElementById('live').textContent === 'Redrawn whenever you save.'")
    assert running.interrupt() == 0
    chrome.until("document.getElementById('live').textContent.includes('has ended')")
    assert chrome.run("document.querySelectorAll('article').length") == 2
    assert "Traceback" not in running.end()


def test_an_inline_script_would_not_run(browser: Browser) -> None:
    browser.run(
        "const s = document.createElement('script'); s.textContent = 'window.ran = 1';"
        "document.body.append(s); document.body.insertAdjacentHTML('beforeend',"
        "'<img src=x onerror=\"window.ran = 2\">')"
    )
    assert browser.run("window.ran") is None
    assert len([text for text in browser.complaints() if "Content Security Policy" in text]) >= 2


@pytest.mark.parametrize("width", [360, 1200])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone_and_a_desk_in_light_and_dark(browser: Browser, width: int, scheme: str) -> None:
    browser.call(
        "Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=width < 500
    )
    browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    assert browser.run("document.documentElement.scrollWidth") <= width
    columns = browser.run(
        "getComputedStyle(document.querySelector('.cards')).gridTemplateColumns.split(' ').length"
    )
    assert columns == (1 if width == 360 else 3)
    light = browser.run(
        "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number).reduce((a, b) => a + b)"
    )
    assert (light > 600) == (scheme == "light")


def test_the_keyboard_reaches_everything_in_order(browser: Browser) -> None:
    reached = []
    for _ in range(12):
        browser.press("Tab", TAB)
        reached.append(
            browser.run(
                "document.activeElement.getAttribute('href') || document.activeElement.parentElement.id"
            )
        )
    seeds = [f"#seed-{seed}" for seed in range(4)]
    assert reached[:5] == ["#content", *seeds], "the skip link, then the links to the variants"
    assert reached[5:8] == ["hints-0", "solution-0", "values-0"]
    shown = browser.run(
        "const skip = document.querySelector('.skip'); skip.focus(); skip.getBoundingClientRect().x"
    )
    assert shown >= 0, "the skip link is seen when it has the focus"
    browser.press("Enter", ENTER)
    browser.until("document.activeElement.id === 'content'")
