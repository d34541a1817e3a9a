"""Takes the pictures of printed exams for docs/paper.md.

Usage: python -m docs.generators.paper_pictures, in the repository

A course is made in a temporary folder, so the numbers on the pages are new ones each time.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import pypdfium2
from PIL import Image

from engine.commands import run

OUT = Path(__file__).parents[1] / "pictures"
_SCALE = 0.9
_COLOURS = 16


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


if __name__ == "__main__":
    take_pictures()
