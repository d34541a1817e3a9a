"""The example class of the demo: its two downloads, the sheet on paper, and the item whose key is wrong."""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
import sys
import unicodedata
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from engine.answers import right_response
from engine.course import Course

EXAMPLES = Path(__file__).parents[2] / "examples"
CLASS = EXAMPLES / "course"
ITEM = "same-number-added"


def played(script: str, *arguments: str | Path) -> str:
    done = subprocess.run(
        [sys.executable, EXAMPLES / script, *arguments], capture_output=True, text=True, check=True
    )
    return done.stdout


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the course, drawn, and with what the class handed in."""
    from engine.commands import run

    folder = tmp_path_factory.mktemp("demo")
    course = folder / "course"
    assert run(["init", str(course)]) == 0
    for name in ("roster.csv", "course.yaml"):
        shutil.copy(CLASS / name, course / name)
    for name in ("problems", "blueprints"):
        shutil.copytree(CLASS / name, course / name, dirs_exist_ok=True)
    assert run(["quiz", "new", "quiz-1", "--course", str(course)]) == 0
    quizzes = folder / "quizzes"
    played("answer_quizzes.py", course, "quiz-1", quizzes)
    given = (CLASS / "submissions", CLASS / "again", CLASS / "roster.csv")
    played("downloads.py", *given, quizzes, folder)
    return folder


def seen(grade: Any, demo: Path, archive: str, code: int) -> dict[str, Any]:
    done = grade("intake", demo / archive, "--course", demo / "course", "--json")
    assert done.code == code, done.err
    found = json.loads(done.out)
    assert isinstance(found, dict)
    return found


def test_the_course_is_free_of_contradictions(grade, demo: Path) -> None:
    done = grade("course", "check", "--course", demo / "course")
    assert (done.code, done.out) == (0, "nothing to report\n")


def test_the_canvas_download_is_as_unruly_as_it_says(grade, demo: Path) -> None:
    found = seen(grade, demo, "canvas.zip", 1)
    assert found["layout"] == "canvas"
    files = {(s["student"], f["file"]): f for s in found["students"] for f in s["files"]}
    assert {student for student, _ in files} == {f"s{n:02}" for n in range(1, 21)}
    assert len(files) == 37
    late = {student for (student, _), file in files.items() if file["marked_late"]}
    assert late == {"s02", "s03", "s04"}
    own = [name.split("_")[-1] for student, name in files if student == "s02"]
    assert own == ["sdpa.py", "softmax.py", "softmax-1.py"]
    assert ("s05", "nakamuraesi_4705_9010_softmax.ipynb") in files
    assert ("s06", "lindqvistfarid_4706_9012_softmax (1).py") in files
    assert ("s10", "petrovjun_4710_9018_homework.zip/homework/sdpa.py") in files
    assert [p["where"] for p in found["problems"]] == [
        "doejohn_4799",
        "doejohn_4799_9037_softmax.py",
        "daoquentin_4717_9038_notes.docx",
    ]


def test_the_moodle_download_has_every_quiz_but_one_under_both_forms_of_names(grade, demo: Path) -> None:
    found = seen(grade, demo, "moodle.zip", 0)
    assert found["layout"] == "moodle"
    assert {s["student"] for s in found["students"]} == {f"s{n:02}" for n in range(1, 21)} - {"s18"}
    names = zipfile.ZipFile(demo / "moodle.zip").namelist()
    forms = [unicodedata.is_normalized("NFC", name) for name in names]
    assert True in forms and False in forms


def test_the_paper_is_one_row_of_the_student_who_missed_the_date(demo: Path) -> None:
    with (demo / "paper.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["student"], row["handed"]) for row in rows] == [("s18", "2026-11-15 10:00")]
    # the first eight questions have one field; the last one has three
    assert list(rows[0])[2:] == [*map(str, range(1, 9)), "9.e", "9.w", "9.c"]


def test_one_student_answers_with_a_neighbours_key(demo: Path) -> None:
    with Course.open(demo / "course").open_store() as store:
        quizzes = {quiz.student: quiz for quiz in store.quizzes("quiz-1")}
    [question] = [q for q in quizzes["s05"].questions if q.variant.item == "context-vector"]
    written = yaml.safe_load((demo / "quizzes/s17/quiz.yaml").read_text(encoding="utf-8"))
    [answer] = [q["answer"] for q in written["questions"] if q["number"] == question.number]
    assert answer == right_response(question.variant.parts[0])


def test_the_correction_moves_the_key_and_both_files_pass_every_check(grade) -> None:
    keys = {}
    for folder in ("problems", "corrected"):
        path = CLASS / folder / f"{ITEM}.yaml"
        assert grade("lint", path).code == 0
        options = yaml.safe_load(path.read_text(encoding="utf-8"))["answer"]["options"]
        keys[folder] = [option["text"] for option in options if option.get("correct")]
    assert keys == {
        "problems": ["The largest weight grows, the others shrink."],
        "corrected": ["All weights stay as they are."],
    }


def test_staff_is_checked_too(grade) -> None:
    assert grade("init", "staffed").code == 0
    staff = Path("staffed/staff.csv")
    staff.write_text("id,name,email,role\nivy,Ivy,i@x,professor\n", encoding="utf-8")
    said = grade("course", "check", "--course", "staffed")
    assert said.code == 2
    assert "staff.csv:2:1" in said.out and "must be marker or instructor, not 'professor'" in said.out
    staff.write_text("id,name,email,role\nivy,Ivy,i@x,instructor\n", encoding="utf-8")
    assert grade("course", "check", "--course", "staffed").code == 0
