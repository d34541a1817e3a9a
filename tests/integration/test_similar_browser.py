"""Pages of similar hand-ins in a real browser: accessibility, a phone's width, the keyboard, the policy."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.hand_ins import IntakeProblem
from engine.similarity.answers import AnswerComparison, ClassmateMatch, MatchedAnswer
from engine.similarity.findings import SimilarityFindings, find
from engine.similarity.gather import CollectedFiles, ComparedFile, FileLabels
from engine.similarity.page import write_similarity_pages
from tests.live.browser import chromium, needs_chromium
from tests.unit.similarity.disguises import everything
from tests.unit.similarity.measure import solutions, starter

PROGRAM = chromium()
pytestmark = needs_chromium


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import random

    out = tmp_path_factory.mktemp("alike")
    collected = CollectedFiles()
    for item in ("sdpa", "softmax"):
        sources = list(solutions(item).values())
        for i, source in enumerate(sources):
            collected.add(item, ComparedFile(f"student-{i}", source, f"{'a-long-folder-name/' * 6}{item}.py"))
        for who in ("copy-a", "copy-b"):
            collected.add(item, ComparedFile(who, everything(sources[3], random.Random(who)), "x.py"))
    collected.problems.append(IntakeProblem("who.txt", "this kind of file isn't graded"))
    found = find(collected, handouts=lambda item: [starter(item)])
    answer = MatchedAnswer(
        "softmax-weights", "answer", "Weights", "[0.1, 0.2, 0.7]", "[0.1, 0.2, 0.7]", 1e-5, 1
    )
    copied_answers = AnswerComparison(
        9, 90, (ClassmateMatch("student-1", "student-2", (answer,), 1e-5, 9e-4),), 2
    )
    write_similarity_pages(
        out,
        SimilarityFindings(found.exercises, copied_answers, found.problems),
        FileLabels(),
        title="Attention 2026",
    )
    return out


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        running = play.chromium.launch(executable_path=PROGRAM, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1200])
@pytest.mark.parametrize("name", ["index.html", "pairs/01-structure-001.html"])
def test_it_is_accessible_and_fits_the_width(
    browser: Any, folder: Path, name: str, width: int, scheme: str
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.goto((folder / name).as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true })")
    assert complaints == [], "nothing breaks the policy"
    found = Axe().run(page)
    told = [(v["id"], [n["html"][:120] for n in v["nodes"]][:3]) for v in found.response["violations"]]
    assert told == [] and found.response["passes"]
    assert page.evaluate("document.documentElement.scrollWidth") == width
    page.close()


def test_the_keyboard_goes_from_a_passage_to_its_other_side(browser: Any, folder: Path) -> None:
    page = browser.new_page(viewport={"width": 360, "height": 800})
    page.goto((folder / "pairs/01-structure-001.html").as_uri())
    page.focus("#a1")
    page.keyboard.press("Enter")
    assert page.evaluate("location.hash") == "#b1"
    top = page.evaluate("document.getElementById('b1').getBoundingClientRect().top")
    assert 0 <= top < 800
    outline = page.evaluate("getComputedStyle(document.getElementById('b1').closest('li')).outlineStyle")
    assert outline == "solid", "where one has come to can be seen"
    page.close()


def test_the_sides_stand_beside_each_other_where_there_is_room(browser: Any, folder: Path) -> None:
    for width, beside in ((1200, True), (360, False)):
        page = browser.new_page(viewport={"width": width, "height": 800})
        page.goto((folder / "pairs/01-structure-001.html").as_uri())
        first, second = (page.locator(f"#{name}").bounding_box() for name in ("first", "second"))
        assert (abs(first["y"] - second["y"]) < 5) is beside
        page.close()
