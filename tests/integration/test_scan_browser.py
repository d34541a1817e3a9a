"""The page of scans in a real browser: accessibility, a phone's width, the keyboard, the policy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.live.browser import chromium, needs_chromium
from tests.live.printed_exam import PRINT, bubbles_of, filled_pages, print_class, right_text, save

pytest.importorskip("typst")
PROGRAM = chromium()
pytestmark = needs_chromium


def test_open_places_are_accessible_by_eye_ear_and_keyboard(grade) -> None:
    from axe_playwright_python.sync_playwright import Axe
    from playwright.sync_api import sync_playwright

    printed = print_class(grade)
    quiz = printed.quizzes["bob"]
    answers = {q.number: right_text(q.variant.parts[0]) for q in quiz.questions if q.number != 5}
    wrong = next(option.id for option in quiz.questions[0].variant.parts[0].options if not option.correct)
    layout = printed.layouts["bob"]
    # Of a number too, whose picture is larger than any text that a page shows.
    digit = next(b for b in bubbles_of(layout, 4, answers[4]) if b.value != "-")
    crossed = (*bubbles_of(layout, 1, wrong), digit)
    for i, sheet in enumerate(filled_pages(printed, "bob", answers, crossed=crossed, written=(5,))):
        save(f"in/{i}.png", sheet)
    Path("in/notes.pdf").write_bytes(b"hello")
    assert grade("scan", "in", "--course", "dl").code == 1
    place = Path("dl/prints", PRINT, "scans.html").resolve()
    assert place.stat().st_mode & 0o077 == 0, "for its owner alone"
    with sync_playwright() as play:
        running = play.chromium.launch(executable_path=PROGRAM, args=["--no-sandbox"])
        for width, scheme in ((360, "light"), (1200, "dark")):
            page = running.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
            complaints: list[str] = []
            page.on("console", lambda message, to=complaints: to.append(message.text))
            page.goto(place.as_uri())
            assert complaints == [], "nothing breaks the policy"
            shown = page.evaluate("[...document.images].map(i => [i.naturalWidth, i.alt])")
            assert len(shown) == 3 and all(size > 100 and alt for size, alt in shown)
            found: Any = Axe().run(page)
            told = [
                (v["id"], [n["html"][:120] for n in v["nodes"]][:3]) for v in found.response["violations"]
            ]
            assert told == [] and found.response["passes"]
            assert page.evaluate("document.documentElement.scrollWidth") == width
            # A picture wider than a phone is scrolled by its keys.
            for _ in range(3):
                page.keyboard.press("Tab")
            assert page.evaluate("document.activeElement.tagName") in ("FIGURE", "BODY")
        running.close()
