"""``grade batch`` with tables of answers: the same marks as from the students' own files."""

from __future__ import annotations

import csv
import zipfile
from pathlib import Path

import openpyxl
import pytest

from engine.answers import right_response, wrong_responses
from engine.course import Course
from engine.model import Quiz
from engine.store import open_store

ROSTER = (
    "id,name,email,login\n007,Emmy Nöther,emmy@b,enoe\nada,Ada Lovelace,ada@b,alove\nbob,Bob Smith,,bsmith\n"
)


def quizzes(course: Path, name: str = "week-1") -> dict[str, Quiz]:
    with Course.open(course).open_store() as store:
        return {quiz.student: quiz for quiz in store.quizzes(name)}


def key(quiz: Quiz, number: int, part: int = 0) -> str:
    return right_response(quiz.questions[number - 1].variant.parts[part])


def wrong(quiz: Quiz, number: int) -> str:
    return wrong_responses(quiz.questions[number - 1].variant.parts[0])[0][0]


@pytest.fixture
def course(grade) -> Path:
    assert grade("init", "c").code == 0
    folder = Path("c")
    (folder / "roster.csv").write_text(ROSTER, encoding="utf-8")
    (folder / "blueprints/week-1.yaml").write_text(
        "title: Week 1\nsections:\n  - items: [softmax-weights, l16-ex2-greedy-vs-beam, l16-full-pass]\n",
        encoding="utf-8",
    )
    assert grade("quiz", "new", "week-1", "--course", "c").code == 0
    return folder


def gradebook(out: str) -> dict[str, dict[str, str]]:
    with (Path(out) / "gradebook.csv").open(newline="", encoding="utf-8") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


def said(out: str) -> list[str]:
    """What was printed below the table, without the time it took, next steps and where the files lie."""
    below = [line for line in out.split("\n\n", 1)[1].splitlines() if not line.startswith("  next: ")]
    return [
        line.split(", in ")[0] for line in below if not line.startswith(("summary", "gradebook", "feedback"))
    ]


def write(name: str, rows: list[list[str]], **more: str) -> None:
    with Path(name).open("w", newline="", encoding=more.pop("encoding", "utf-8")) as file:
        csv.writer(file, **more).writerows(rows)  # type: ignore[arg-type]


def test_a_class_in_one_table(grade, course: Path) -> None:
    mine = quizzes(course)
    write(
        "week-1.csv",
        [
            ["login", "1", "l16-ex2-greedy-vs-beam", "3.e", "handed"],
            ["enoe", key(mine["007"], 1), wrong(mine["007"], 2), "", "2026-03-01 12:00"],
            ["alove", key(mine["ada"], 1), key(mine["ada"], 2), key(mine["ada"], 3), "2026-03-01 13:00"],
            ["stranger", "1", "a", "", ""],
        ],
        encoding="utf-16",
        delimiter="\t",
    )
    done = grade("batch", "week-1.csv", "--course", "c", "--out", "out")
    assert done.code == 1
    assert said(done.out) == [
        "2 files graded, 0 kept from before",
        "not graded: week-1.csv:4: no quiz week-1 was drawn for stranger",
    ]
    book = gradebook("out")
    assert [book[student]["week-1/l16-ex2-greedy-vs-beam"] for student in ("007", "ada", "bob")] == [
        "0",
        "1",
        "",
    ]
    assert book["007"]["week-1/softmax-weights"] == book["ada"]["week-1/softmax-weights"] != "0"
    assert "stranger" not in book, "who isn't known is listed, and no student"
    with Course.open(course).open_store() as store:
        kept = list(store.attempts(student="ada"))
    assert {attempt.filename for attempt in kept} == {"week-1.csv:3"}
    assert {attempt.handed.isoformat() for attempt in kept if attempt.handed} == {"2026-03-01T13:00:00+00:00"}
    again = grade("batch", "week-1.csv", "--course", "c", "--out", "out")
    assert said(again.out)[0] == "0 files graded, 2 kept from before"


def test_a_question_without_a_column_is_missing_and_not_0(grade, course: Path) -> None:
    mine = quizzes(course)
    write("a.csv", [["id", "2"], ["ada", key(mine["ada"], 2)], ["bob", ""]])
    assert grade("batch", "a.csv", "--course", "c", "--out", "out").code == 0
    book = gradebook("out")
    assert book["ada"]["week-1/l16-ex2-greedy-vs-beam"] == "1"
    assert not any("softmax-weights" in column for column in book["ada"])
    assert book["bob"]["week-1/l16-ex2-greedy-vs-beam"] == "", "a row without answers is no hand-in"


def test_tables_lie_beside_folders_and_in_archives(grade, course: Path) -> None:
    mine = quizzes(course)
    book = openpyxl.Workbook()
    for row in (["id", "1"], ["ada", key(mine["ada"], 1)], ["007", "[1, 2"]):
        book.active.append(row)
    book.save("excel.xlsx")
    fill_in = (course / "quizzes/week-1/week-1-bob.yaml").read_text(encoding="utf-8")
    with zipfile.ZipFile("in.zip", "w") as archive:
        archive.write("excel.xlsx", "excel.xlsx")
        archive.writestr("more.yaml", f"quiz: week-1\nada: {{2: {key(mine['ada'], 2)}}}\n")
        archive.writestr("bob/quiz.yaml", fill_in.replace("answer: ''", "answer: a", 1))
        archive.writestr("bob/table.csv", "id,1\nada,2\n")
    done = grade("batch", "in.zip", "--workers", "1", "--course", "c", "--out", "out")
    assert done.code == 1
    assert said(done.out) == [
        "3 files graded, 0 kept from before, 1 not graded",
        "not graded: bob/table.csv: a table isn't one student's",
        "not graded: excel.xlsx:3: the answer to question 1 can't be read",
        "graded in part: bob/quiz.yaml: the answer to question 1 can't be read; the rest was graded",
    ]
    row = gradebook("out")["ada"]
    assert (row["week-1/softmax-weights"] != "0", row["week-1/l16-ex2-greedy-vs-beam"]) == (True, "1")
    (line,) = [line for line in done.out.splitlines() if line.startswith("ada ")]
    assert line.endswith(" 2 of 2"), "out of what there is work for, as on the page"


def test_a_single_quiz_file_is_a_collection_too(grade, course: Path) -> None:
    text = (course / "quizzes/week-1/week-1-ada.yaml").read_text(encoding="utf-8")
    Path("ada.yaml").write_text(text.replace("answer: ''", f"answer: '{key(quizzes(course)['ada'], 1)}'", 1))
    done = grade("batch", "ada.yaml", "--course", "c", "--out", "out")
    assert done.code == 0 and said(done.out) == ["1 file graded, 0 kept from before"]


def test_attempts_earn_in_the_order_in_which_they_were_handed_in(grade, course: Path) -> None:
    (course / "blueprints/twice.yaml").write_text(
        "title: Twice\nattempts: 2\ncredit: [1.0, 0.5]\nsections:\n  - items: [softmax-weights]\n",
        encoding="utf-8",
    )
    assert grade("quiz", "new", "twice", "--course", "c").code == 0
    mine = quizzes(course, "twice")
    rows = [["id", "1", "time"]]
    for student in ("ada", "bob", "007"):
        rows.append([student, key(mine[student], 1), "2026-03-02 12:00"])
        rows.append([student, wrong(mine[student], 1), "2026-03-01 12:00"])
    write("t.csv", rows)
    done = grade("batch", "t.csv", "--quiz", "twice", "--workers", "4", "--course", "c", "--out", "out")
    assert done.code == 0
    scores = {row["twice/softmax-weights"] for row in gradebook("out").values()}
    assert scores == {"0.5"}, "the right one was the second: half of the point"
    with Course.open(course).open_store() as store:
        assert [a.sequence for a in store.attempts(student="ada")] == [0, 1]


def test_a_roster_at_fault_stops_only_who_is_concerned(grade, course: Path) -> None:
    mine = quizzes(course)
    with (course / "roster.csv").open("a", encoding="utf-8") as file:
        file.write("bob,Bobby Tables,,btab\n")
    write("t.csv", [["id", "2"], ["ada", key(mine["ada"], 2)], ["bob", "a"]])
    done = grade("batch", "t.csv", "--course", "c", "--out", "out")
    place = Path("c/roster.csv")
    assert done.code == 1
    assert said(done.out) == [
        "1 file graded, 0 kept from before",
        f"not graded: {place}:5: id 'bob' is in line 4 already",
        f"not graded: t.csv:3: this is unclear in the roster: {place}:5: id 'bob' is in line 4 already",
    ]
    assert gradebook("out")["ada"]["week-1/l16-ex2-greedy-vs-beam"] == "1"
    refused = grade("quiz", "new", "week-1", "--course", "c")
    assert refused.code == 2 and f"{place}:5:1: id 'bob' is in line 4 already" in refused.err


def test_a_quiz_that_there_isnt(grade, course: Path) -> None:
    Path("t.csv").write_text("id,1\nada,1\n")
    done = grade("batch", "t.csv", "--quiz", "week-9", "--course", "c", "--out", "out")
    assert done.code == 2
    assert done.err.splitlines()[:2] == [
        "error: no quiz 'week-9' was drawn",
        "  expected: --quiz with one of: week-1",
    ]


def test_hostile_cells_reach_no_table_as_formulas(grade, course: Path) -> None:
    Path("t.csv").write_text(
        'id,1\n"=cmd|1",2\nada,"=HYPERLINK(""http://x"")"\n\u202eada,3\n', encoding="utf-8"
    )
    done = grade("batch", "t.csv", "--course", "c", "--out", "out")
    assert done.code == 1 and "\u202e" not in done.out
    page = (Path("out") / "index.html").read_text(encoding="utf-8")
    assert "\u202e" not in page
    with open_store(course / ".softmark/store.db") as store:
        assert list(store.attempts()) == []


def test_a_file_that_cant_be_read_is_named_once_with_its_line_and_a_next_step(course, grade):
    bob = quizzes(course)["bob"]
    text = (course / f"quizzes/week-1/week-1-{bob.student}.yaml").read_text(encoding="utf-8")
    Path("in/bob").mkdir(parents=True)
    Path("in/bob/quiz.yaml").write_text(text.replace("answer: ''", "answer: [1, 2", 1), encoding="utf-8")
    ran = grade("batch", "in", "--course", "c", "--out", "out")
    assert ran.code == 1
    row = next(line for line in ran.out.splitlines() if line.startswith("not graded: "))
    assert row.startswith("not graded: bob/quiz.yaml: line ")
    assert row.count("quiz.yaml") == 1
    assert "  next: fix the file and hand it in again; this cost no attempt" in ran.out
    for page in ("out/index.html", "out/students/bob.html"):
        assert "fix the file and hand it in again" in Path(page).read_text(encoding="utf-8"), page
