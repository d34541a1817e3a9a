"""Takes the pictures of docs/web-pictures: the site of the demo's class, on a phone and on a desk.

Usage: python -m docs.generators.web_pictures [DEMO [OUT]], in the repository, after ``make demo``

The demo's course is copied, and gets one quiz more that is still open. Pictures have few colours, so that the
files are small.
"""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import sys
import tempfile
from datetime import timedelta
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from engine.quiz.rules import now
from tests.live.browser import chromium
from tests.live.site import LiveSite

STUDENT, INSTRUCTOR = "s02", "weber"
WIDTHS = {360: 740, 1280: 860}  # with the height that is shown
MOST = 90_000  # bytes of a file
COLOURS = 64

# name: who looks, which page
VIEWS = {
    "sign-in": (None, "/sign-in"),
    "my-work": (STUDENT, "/work"),
    "question": (STUDENT, "/quiz/quiz-2/5"),
    "code": (STUDENT, "/code/softmax"),
    "marks": (STUDENT, "/marks"),
    "class": (INSTRUCTOR, "/staff/class"),
    "student": (INSTRUCTOR, "/staff/students/s02"),
    "quizzes": (INSTRUCTOR, "/staff/quizzes"),
}


def prepared(demo: Path, folder: Path) -> Path:
    """Return a copy of the demo's course with an open quiz."""
    course = folder / "course"
    shutil.copytree(demo / "course", course)
    blueprint = (course / "blueprints" / "quiz-1.yaml").read_text(encoding="utf-8")
    text = re.sub("(?m)^title:.*$", 'title: "Quiz 2: attention again"', blueprint)
    (course / "blueprints" / "quiz-2.yaml").write_text(text, encoding="utf-8")
    (course / "web.yaml").write_text("mail: {folder: mails}\n", encoding="utf-8")
    settings = course / "course.yaml"
    text = settings.read_text(encoding="utf-8")
    soon, later = ((now() + timedelta(days=days)).date() for days in (9, 16))
    more = f"    quiz-2: {{due: {soon}, group: quizzes}}\n    layer-norm: {{due: {later}T18:00}}\n"
    settings.write_text(text.replace("    quiz-1: {", more + "    quiz-1: {"), encoding="utf-8")
    for words in (["new", "quiz-2"], ["publish", "quiz-1"], ["publish", "quiz-2"]):
        command = [sys.executable, "cli.py", "quiz", *words, "--course", str(course)]
        subprocess.run(command, check=True, capture_output=True)
    return course


def small(png: bytes) -> bytes:
    """Return the same picture in few colours."""
    picture = Image.open(io.BytesIO(png)).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    out = io.BytesIO()
    picture.save(out, "PNG", optimize=True)
    return out.getvalue()


def main(demo: str = ".demo", out: str = "docs/web-pictures") -> None:
    """Take all pictures."""
    Path(out).mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory(prefix="softmark-") as folder,
        LiveSite(prepared(Path(demo), Path(folder))) as site,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=chromium())
        for width, height in WIDTHS.items():
            for name, (person, path) in VIEWS.items():
                context = browser.new_context(viewport={"width": width, "height": height})
                if person is not None:
                    cookie = site.cookie_of(person)
                    context.add_cookies([{"name": "softmark-session", "value": cookie, "url": site.address}])
                page = context.new_page()
                page.goto(site.address + path)
                data = small(page.screenshot())
                context.close()
                if len(data) > MOST:
                    sys.exit(f"{name}: {len(data)} bytes, {MOST} at most")
                (Path(out) / f"{name}-{width}.png").write_bytes(data)
                sys.stdout.write(f"{name}-{width}.png: {len(data) // 1024} KiB\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
