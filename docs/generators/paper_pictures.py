"""Takes the pictures of printed exams and of the page of scans, for docs/paper.md and docs/scanning.md.

Usage: python -m docs.generators.paper_pictures, in the repository, after ``make browser``

A course is made in a temporary folder, so the numbers on the pages are new ones each time.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

import cv2
import numpy as np
import pypdfium2
from PIL import Image
from playwright.sync_api import sync_playwright

from benchmarks.scans.simulated_scans import DPI, MM
from docs.generators.web_pictures import small
from engine.commands import run
from engine.course import Course
from engine.model import Quiz
from engine.paper.print_record import PrintRecord, print_ids, read_record
from engine.paper.printing import EXAMS_FOLDER
from engine.paper.sheet_layout import SheetLayout
from tests.live.browser import chromium
from tests.live.printed_exam import Sheet, bubbles_of, filled_images, right_text, save

OUT = Path(__file__).parents[1] / "pictures"
_SCALE = 0.9
_COLOURS = 16
# Questions by their numbers: an option crossed out, a digit too many, a word in a box.
_CROSSED, _NUMBER, _WORD = 1, 2, 3
_MIDTERM = """title: Midterm
sections:
  - title: Attention
    items: [softmax-stability, scaled-dot-score, greedy-path, context-vector]
"""


def page(path: Path, number: int) -> Image.Image:
    """Return a page of a PDF as a picture."""
    picture: Image.Image = pypdfium2.PdfDocument(path)[number - 1].render(scale=_SCALE).to_pil()
    return picture.convert("RGB")


def save_pair(name: str, left: Image.Image, right: Image.Image) -> None:
    """Save two pages beside each other, on grey, with few colours."""
    gap = 14
    width, height = left.width + right.width + 3 * gap, max(left.height, right.height) + 2 * gap
    sheet = Image.new("RGB", (width, height), "#c8c8c8")
    sheet.paste(left, (gap, gap))
    sheet.paste(right, (left.width + 2 * gap, gap))
    sheet.quantize(_COLOURS).save(OUT / name, optimize=True)


def take_pictures() -> None:
    """Print a quiz for two students and take its pages."""
    with tempfile.TemporaryDirectory() as folder:
        course = Path(folder) / "course"
        run(["init", str(course), "--title", "Attention, summer term"])
        (course / "roster.csv").write_text(
            "id,name\n1001,Ada Lovelace\n1002,Emmy Noether\n", encoding="utf-8"
        )
        note = "One sheet of your own notes is allowed; a pocket calculator too."
        run(["print", "l16", "--minutes", "30", "--note", note, "--course", str(course)])
        (exam,) = course.glob("prints/*/exams/001-*.pdf")
        (key,) = course.glob("prints/*/keys/copy-001-*.pdf")
        pages = len(pypdfium2.PdfDocument(exam))
        save_pair("printed-exam.png", page(exam, 1), page(exam, 3))
        save_pair("printed-sheet.png", page(exam, pages - 1), page(key, 2))


def take_picture_of_scans() -> None:
    """Scan the sheet of a student who crossed out an option, and filled a digit too many."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        run(["init", "attention-2026", "--title", "Attention, summer term"])
        course = Course.open(Path("attention-2026"))
        (course.folder / "roster.csv").write_text("id,name\n1001,Ada Lovelace\n1002,Emmy Noether\n")
        (course.folder / "blueprints" / "midterm.yaml").write_text(_MIDTERM)
        run(["print", "midterm", "--keep-order", "--course", str(course.folder)])
        (name,) = print_ids(course.folder)
        record = read_record(course.folder / "prints" / name)
        with course.open_store() as store:
            quiz = store.load_quiz(record.copies[0].quiz, "1001")
        assert quiz is not None
        for number, sheet in enumerate(_filled(record, course.folder / "prints" / name, quiz)):
            save(f"monday-{number}.png", sheet)
        run(["scan", *map(str, Path().glob("monday-*.png")), "--course", str(course.folder)])
        page = (course.folder / "prints" / name / "scans.html").read_text(encoding="utf-8")
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
            shown = browser.new_page(viewport={"width": 1000, "height": 600})
            # The folder has a name of this moment; the print is called as in the page's examples.
            page = page.replace(f"{os.path.realpath(folder)}/", "").replace(name, "K7QF2MXA")
            shown.set_content(page)
            picture = shown.screenshot(full_page=True)
            browser.close()
    (OUT / "scans.png").write_bytes(small(picture))


def _filled(record: PrintRecord, folder: Path, quiz: Quiz) -> list[Sheet]:
    copy = record.copies[0]
    layout = SheetLayout.from_json(record.layout(copy))
    document = pypdfium2.PdfDocument(folder / EXAMS_FOLDER / copy.file)
    pages = [
        np.squeeze(document[place].render(scale=DPI / 72, grayscale=True).to_numpy()).astype(np.float32) / 255
        for place in range(copy.sheet - 1, copy.pages)
    ]
    answers = {q.number: right_text(q.variant.parts[0]) for q in quiz.questions if q.number != _WORD}
    options = quiz.questions[_CROSSED - 1].variant.parts[0].options
    wrong = next(option.id for option in options if not option.correct)
    crossed = tuple(bubbles_of(layout, _CROSSED, wrong))
    # Another number is filled on the print itself, so that one column has two digits.
    number = answers[_NUMBER]
    digit = number.lstrip("-")[0]
    other = number.replace(digit, str((int(digit) + 4) % 10), 1)
    for page, picture in zip(layout.pages, pages, strict=True):
        for bubble in bubbles_of(layout, _NUMBER, other):
            if bubble in page.bubbles:
                centre = (round(bubble.x * MM), round(bubble.y * MM))
                cv2.circle(picture, centre, round(layout.radius * MM), 0.3, -1, cv2.LINE_AA)
    return filled_images(layout, pages, answers, crossed=crossed, written=(_WORD,))


if __name__ == "__main__":
    take_pictures()
    take_picture_of_scans()
