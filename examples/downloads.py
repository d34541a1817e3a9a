"""Packs what the example class handed in as learning systems pack it: a download of Canvas and one of Moodle.

Usage: python downloads.py SUBMISSIONS AGAIN ROSTER QUIZZES OUT

SUBMISSIONS holds a folder of code for each student, AGAIN the files that somebody handed in besides, ROSTER is
the course's, QUIZZES a folder with ``quiz.yaml`` for each student.  What comes out is as unruly as real ones:

- ``canvas.zip``, the code: files marked as late, a second hand-in, a notebook, ``softmax (1).py``, a ZIP in the
  ZIP, somebody whom the roster doesn't know, and a file that isn't code;
- ``moodle.zip``, the quizzes: names in full, some with letters and accents as two signs each (NFD);
- ``paper.csv``: answers from a sheet of paper that came two days late, typed in by the instructor.
"""

import csv
import io
import json
import sys
import unicodedata
import zipfile
from pathlib import Path

import yaml

LATE = {("s03", "softmax.py"), ("s04", "softmax.py")}
NOTEBOOK = {("s05", "softmax.py")}
CALLED = {("s06", "softmax.py"): "softmax (1).py"}
ZIPPED = {"s10"}
ON_PAPER = {"s18": "2026-11-15 10:00"}


def main(submissions, again, roster, quizzes, out):
    with open(roster, encoding="utf-8") as file:
        students = list(csv.DictReader(file))
    out = Path(out)
    write_canvas(out / "canvas.zip", students, Path(submissions), Path(again))
    write_moodle(out / "moodle.zip", students, Path(quizzes))
    write_paper(out / "paper.csv", Path(quizzes))


def write_canvas(path, students, submissions, again):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        numbers = iter(range(9001, 9999))

        def add(student, name, data, late=False):
            who = f"{slug(student['name'])}{'_LATE' if late else ''}_{student['canvas id']}_{next(numbers)}"
            put(archive, f"{who}_{name}", data)

        for student in students:
            folder, key = submissions / student["id"], student["id"]
            files = {file.name: file.read_bytes() for file in sorted(folder.glob("*.py"))}
            files |= {f.name.split("-")[1]: f.read_bytes() for f in again.glob(f"{key}-sdpa.py")}
            if key in ZIPPED:
                add(student, "homework.zip", packed({f"homework/{n}": data for n, data in files.items()}))
                continue
            for name, data in files.items():
                if (key, name) in NOTEBOOK:
                    name, data = "softmax.ipynb", notebook(data.decode())
                add(student, CALLED.get((key, name), name), data, late=(key, name) in LATE)
            for file in again.glob(f"{key}-softmax.py"):
                add(student, "softmax-1.py", file.read_bytes(), late=True)
        unknown = {"id": "", "name": "John Doe", "canvas id": 4799}
        add(unknown, "softmax.py", b"def softmax(x, axis=-1):\n    return x\n")
        add(students[16], "notes.docx", b"PK\x03\x04 no code")


def write_moodle(path, students, quizzes):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, student in enumerate(students, 30001):
            if student["id"] in ON_PAPER:
                continue
            name = " ".join(reversed(student["name"].split(", ")))
            name = unicodedata.normalize("NFD" if number % 2 else "NFC", name)
            data = (quizzes / student["id"] / "quiz.yaml").read_bytes()
            put(archive, f"{name}_{number}_assignsubmission_file_/quiz.yaml", data)


def write_paper(path, quizzes):
    heads, rows = {"student": None, "handed": None}, []
    for student, handed in ON_PAPER.items():
        quiz = yaml.safe_load((quizzes / student / "quiz.yaml").read_text(encoding="utf-8"))
        row = {"student": student, "handed": handed}
        for question in quiz["questions"]:
            for part in question.get("parts", [question]):
                head = f"{question['number']}.{part['part']}" if "part" in part else str(question["number"])
                row[head] = part["answer"]
        heads |= dict.fromkeys(row)
        rows.append(row)
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(heads), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


def slug(name):
    """Return a name as Canvas puts it before a file: the last name first, letters alone."""
    words = name.split(", ") if ", " in name else [name.split(" ", 1)[1], name.split(" ", 1)[0]]
    plain = unicodedata.normalize("NFKD", "".join(words)).encode("ascii", "ignore").decode()
    return "".join(filter(str.isalpha, plain)).lower()


def notebook(source):
    """Return a notebook with the text in one cell, as Jupyter saves it."""
    cell = {"cell_type": "code", "execution_count": 1, "metadata": {}, "outputs": []}
    cells = [{**cell, "source": source.splitlines(keepends=True)}]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


def packed(files):
    """Return a ZIP of these files, as bytes."""
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            put(archive, name, data)
        put(archive, "__MACOSX/._homework", b"left behind by the system")
    return whole.getvalue()


def put(archive, name, data):
    """Add one file; the time is always the same, so that the archive is."""
    archive.writestr(zipfile.ZipInfo(name, (2026, 11, 20, 12, 0, 0)), data)


if __name__ == "__main__":
    main(*sys.argv[1:])
