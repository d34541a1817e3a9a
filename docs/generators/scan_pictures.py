"""Takes the pictures of scanned sheets on the site for docs/scanning.md.

Usage: python -m docs.generators.scan_pictures, in the repository

A course is made in a temporary folder; its sheets are filled in and scanned by simulation.
"""

from __future__ import annotations

import io
import os
import sys
import tempfile
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from engine.commands import run
from tests.live.browser import chromium
from tests.live.printed_exam import PRINT, bubbles_of, filled_pages, print_class, right_text, save
from tests.live.site import LiveSite

OUT = Path(__file__).parents[1] / "pictures"
COLOURS = 160  # with fewer, the purple rings around what is unclear turn grey
BLUEPRINT = """title: Midterm
sections:
  - title: All
    items: [softmax-stability, who-introduced, why-scaled-scores]
"""
SINGLE, MATCHING, ESSAY = 1, 2, 3
NAMES = {"1001": "Ada Lovelace", "1002": "Emmy Noether"}
SCANS = "/staff/marking/scans"
# File → address and size of the window.
VIEWS = {
    "scans-site.png": (f"{SCANS}/of/{PRINT}/1~2F{SINGLE}~2Fanswer", 1180, 1060),
    "paper-answer.png": ("/staff/marking/of/mid~2Fwhy-scaled-scores/next", 1180, 800),
}


@dataclass(frozen=True)
class _Outcome:
    code: int


def _grade(*words: object) -> _Outcome:
    return _Outcome(run([str(word) for word in words]))


def _fill() -> None:
    """Make a course ``dl`` whose sheets leave something to a person."""
    printed = print_class(_grade, tuple(NAMES), blueprint=BLUEPRINT)
    rows = "".join(f"{student},{name}\n" for student, name in NAMES.items())
    Path("dl/roster.csv").write_text(f"id,name\n{rows}", encoding="utf-8")
    staff = "id,name,email,role\nweber,Prof. Weber,weber@example.edu,instructor\n"
    Path("dl/staff.csv").write_text(staff, encoding="utf-8")
    for student in NAMES:
        quiz, layout = printed.quizzes[student], printed.layouts[student]
        choice = quiz.questions[SINGLE - 1].variant.parts[0]
        right = {
            SINGLE: right_text(choice),
            MATCHING: right_text(quiz.questions[MATCHING - 1].variant.parts[0]),
        }
        wrong = next(option.id for option in choice.options if not option.correct)
        # One sheet waits for a decision; the other one is handed in, and its essay waits for a marker.
        crossed = tuple(bubbles_of(layout, SINGLE, wrong)) if student == "1001" else ()
        for number, page in enumerate(
            filled_pages(printed, student, right, crossed=crossed, written=(ESSAY,))
        ):
            save(f"in/{student}-{number}.png", page)
    run(["scan", "in", "--course", "dl"])


def take_pictures() -> None:
    """Take all pictures."""
    with tempfile.TemporaryDirectory(prefix="softmark-") as folder, chdir(folder):
        os.environ["SOFTMARK_HOME"] = str(Path(folder) / "home")
        _fill()
        with LiveSite(Path(folder) / "dl") as site, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium())
            for name, (path, width, height) in VIEWS.items():
                context = browser.new_context(viewport={"width": width, "height": height})
                cookie = site.cookie_of("weber")
                context.add_cookies([{"name": "softmark-session", "value": cookie, "url": site.address}])
                page = context.new_page()
                page.goto(site.address + path)
                page.wait_for_load_state("networkidle")
                picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
                picture.quantize(COLOURS, dither=Image.Dither.NONE).save(OUT / name, optimize=True)
                context.close()
                sys.stdout.write(f"{name}\n")


if __name__ == "__main__":
    take_pictures()
