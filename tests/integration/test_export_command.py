"""``grade export`` from a course's store to the file, and what it refuses."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml
from openpyxl import load_workbook

from engine.course import Course
from engine.model import GradeReport, Mode, Outcome
from engine.store import Attempt, HandMark

NOW = datetime(2026, 11, 6, 12, tzinfo=UTC)
POLICIES = {"timezone": "Europe/Berlin", "excused": [{"student": "cleo", "assignment": "softmax"}]}
CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section,Write softmax (71),Current Score\n"
    "    Points Possible,,,,,10,(read only)\n"
    '"Lovelace, Ada",1,007,ada,A,,\n'
    '"Babbage, Bob",2,bob,bob,A,3,30\n'
    '"Guest, Gus",9,gus,gus,A,,\n'
)


def give(course: Course, student: str, score: float | None) -> None:
    outcome = Outcome.UNGRADED if score is None else Outcome.RIGHT if score == 10 else Outcome.PARTIAL
    report = GradeReport("softmax", "v", outcome, score, 10.0, student=student, mode=Mode.MARKS)
    with course.open_store() as store:
        store.record(Attempt(student, "a" * 64, report, NOW, NOW, source="x", reason="the machine stopped"))


@pytest.fixture
def course(grade) -> Course:
    made = Course.init(Path("c"), "Deep Learning")
    settings = Path("c/course.yaml")
    data = yaml.safe_load(settings.read_text())
    settings.write_text(yaml.safe_dump(data | {"policies": POLICIES}))
    Path("c/roster.csv").write_text(
        "id,name\n007,Ada Lovelace\nbob,Bob Babbage\ncleo,Cleo Clark\ndan,Dan D\n"
    )
    give(made, "007", 7.5)
    give(made, "bob", None)
    return made


def rows(path: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(Path(path).read_text(encoding="utf-8"), newline="")))


def test_marks_go_from_the_store_into_the_file_of_canvas(grade, course: Course) -> None:
    Path("canvas.csv").write_text(CANVAS)
    said = grade("export", "canvas", "--course", "c", "--into", "canvas.csv", "--out", "up.csv")
    assert said.code == 1
    assert said.out == (
        "column              holds\n"
        "Write softmax (71)  softmax\n"
        "\n"
        "listed    where         why\n"
        "unknown   canvas.csv:5  Guest, Gus: gus isn't in the roster\n"
        "absent    cleo          has marks and no row in the file\n"
        "ungraded  bob           Write softmax (71): not graded yet, no mark is written (3 was there)\n"
        "\n"
        "1 mark written: up.csv\n"
    )
    assert [row[5] for row in rows("up.csv")] == ["Write softmax (71)", "10", "7.5", "", ""]
    assert Path("canvas.csv").read_text() == CANVAS


def test_rules_and_marks_by_hand_are_in_the_file(grade, course: Course) -> None:
    with course.open_store() as store:
        store.hand_marks.add(HandMark("bob", "softmax", 9.0, False, "shown at the board", "prof", NOW))
    said = grade("export", "csv", "--course", "c", "--out", "m.csv", "--feedback")
    assert (said.code, said.err) == (0, "")
    by_hand = "set by prof: 9 of 10; shown at the board"
    assert rows("m.csv") == [
        ["student", "name", "softmax", "softmax (feedback)", "total", "total (feedback)"],
        ["007", "Ada Lovelace", "7.5", "", "7.5", ""],
        ["bob", "Bob Babbage", "9", by_hand, "9", by_hand],
        ["cleo", "Cleo Clark", "excused", "excused", "excused", "excused"],
        ["dan", "Dan D", "", "", "", ""],
    ]


def test_json_says_what_was_written_and_what_was_not(grade, course: Course) -> None:
    said = grade("export", "excel", "--course", "c", "--out", "m.xlsx", "--json")
    assert said.code == 1
    document = said.json()
    assert document | {"listed": None} == {
        "file": "m.xlsx",
        "marks": 4,
        "columns": {"softmax": "softmax", "total": "total"},
        "problems": [],
        "listed": None,
    }
    assert document["listed"]["ungraded"] == [
        {"where": "bob", "message": "softmax: not graded yet, no mark is written"},
        {"where": "bob", "message": "total: not graded yet, no mark is written"},
    ]
    assert load_workbook("m.xlsx")["marks"]["A2"].value == "007"


def test_faulty_rules_are_not_applied_and_that_is_told(grade, course: Course) -> None:
    settings = Path("c/course.yaml")
    settings.write_text(settings.read_text().replace("policies:", "policies:\n  late_days: -1"))
    said = grade("export", "csv", "--course", "c", "--out", "m.csv")
    assert said.code == 1
    assert "problem: c/course.yaml:" in said.out
    assert "no rule about marks was applied" in said.out
    assert rows("m.csv")[1][:3] == ["007", "Ada Lovelace", "7.5"]


def test_a_fault_in_the_roster_is_told_and_stops_nobody(grade, course: Course) -> None:
    with Path("c/roster.csv").open("a") as file:
        file.write("bob,Bob Two\n")
    said = grade("export", "csv", "--course", "c", "--out", "m.csv")
    assert said.code == 1
    assert "problem: c/roster.csv:6: id 'bob' is in line 3 already" in said.out
    assert rows("m.csv")[1][:3] == ["007", "Ada Lovelace", "7.5"]
    assert [row[0] for row in rows("m.csv")[1:]] == ["007", "bob", "cleo", "dan"]


@pytest.mark.parametrize("content", [b"PK\x03\x04\0\0\0", b"\0\0\0\0", "\u00e4".encode("latin-1") * 9])
def test_a_file_that_is_no_table_is_told(grade, course: Course, content: bytes) -> None:
    Path("canvas.csv").write_bytes(content)
    said = grade("export", "canvas", "--course", "c", "--into", "canvas.csv", "--out", "m.csv")
    assert said.code == 2
    assert said.err.startswith("error: canvas.csv: ")
    assert not Path("m.csv").exists()


def test_somebody_in_the_store_who_is_not_in_the_roster_is_not_left_out(grade, course: Course) -> None:
    give(course, "gus", 10.0)
    grade("export", "csv", "--course", "c", "--out", "m.csv")
    assert ["gus", "", "10", "10"] in rows("m.csv")


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["exel"], "there is no gradebook format 'exel'"),
        (["csv", "--into", "canvas.csv"], "--into isn't for csv"),
        (["canvas", "--delimiter", ";"], "--delimiter isn't for canvas"),
        (["excel", "--excel"], "--excel isn't for excel"),
        (["csv", "--delimiter", "|"], "--delimiter can't be used"),
        (["canvas", "--scale"], "--scale needs a file that says the full points"),
        (["moodle", "--key", "email", "--into", "canvas.csv"], "--key is for a new file"),
        (["canvas", "--into", "none.csv"], "there is no such file"),
        (["csv", "--column", "X=quiz-9"], "there is no mark for 'quiz-9'"),
        (["excel"], "--out isn't a file name for excel"),
    ],
)
def test_what_does_not_fit_is_refused_and_nothing_written(grade, course: Course, arguments, what) -> None:
    Path("canvas.csv").write_text(CANVAS)
    said = grade("export", *arguments, "--course", "c", "--out", "m.csv")
    assert said.code == 2
    assert what in said.err
    assert not Path("m.csv").exists()


def test_the_file_that_is_filled_is_never_overwritten(grade, course: Course) -> None:
    Path("canvas.csv").write_text(CANVAS)
    said = grade("export", "canvas", "--course", "c", "--into", "canvas.csv", "--out", "./canvas.csv")
    assert (said.code, said.err.splitlines()[0]) == (2, "error: --out is the file of --into")
    assert Path("canvas.csv").read_text() == CANVAS


def test_a_folder_that_is_not_there_is_told(grade, course: Course) -> None:
    said = grade("export", "csv", "--course", "c", "--out", "none/m.csv")
    assert (said.code, said.err.splitlines()[0]) == (2, "error: none/m.csv: the gradebook can't be written")
    assert "  next: name a file in a folder that you may write to: --out FILE" in said.err
    said = grade("export", "csv", "--course", "c", "--out", "..")
    assert said.code == 2 and "  got: it is a folder\n  next: " in said.err
    said = grade("export", "canvas", "--course", "c", "--into", "nix.csv", "--out", "m.csv")
    assert said.code == 2 and said.err.startswith("error: nix.csv: ") and "  next: check the path" in said.err
    Path("taken").write_text("", encoding="utf-8")
    Path("in", "ada").mkdir(parents=True)
    Path("in", "ada", "softmax.py").write_text("def softmax(x): return x\n", encoding="utf-8")
    said = grade("batch", "in", "--course", "c", "--out", "taken")
    assert said.code == 2 and "  got: a file of this name\n  next: choose a folder" in said.err


def test_practice_reaches_no_gradebook(grade) -> None:
    said = grade("export", "csv", "--out", "m.csv")
    assert (said.code, said.err.splitlines()[0]) == (2, "error: practice never reaches a gradebook")


def test_a_course_without_marks_is_told(grade) -> None:
    Course.init(Path("c"), "Deep Learning")
    said = grade("export", "csv", "--course", "c", "--out", "m.csv")
    assert said.code == 2
    assert "there are no marks yet" in said.err


def test_a_table_is_no_workbook(grade, course: Course) -> None:
    said = grade("export", "csv", "--course", "c", "--out", "m.xlsx")
    assert said.code == 2 and "--out isn't a file name for csv" in said.err
    assert not Path("m.xlsx").exists()
