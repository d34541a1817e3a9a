"""``grade store``: what is said, exit codes, and files."""

from __future__ import annotations

import json
import sqlite3
import zipfile
from pathlib import Path

import pytest

from engine.course import Course
from engine.store import HandMark, open_store
from engine.store.sql_tables import SCHEMA_VERSION
from tests.live.postgres import PASSWORD, server
from tests.unit.store.filled import EVERYTHING, NOW, ROWS, fill

STORE = "dl/.softmark/store.db"


@pytest.fixture
def course(grade) -> Course:
    assert grade("init", "dl").code == 0
    Path("dl/roster.csv").write_text('id,name,email\n007,"Nöther, Emmy",e@x\n7,Ada,\nnew,New,\n')
    opened = Course.open(Path("dl"))
    with opened.open_store() as store:
        fill(store)
    return opened


def listed(rows: dict[str, int]) -> str:
    lines = [("table", "rows"), *((name, str(count)) for name, count in rows.items())]
    width = max(len(name) for name, _ in lines)
    return "".join(f"{name:{width}}  {count}\n" for name, count in lines) + "\n"


def test_a_sound_store(grade, course: Course) -> None:
    said = grade("store", "check", "--course", "dl")
    assert (said.code, said.err) == (0, "")
    assert said.out == listed(EVERYTHING) + f"{STORE} is sound (schema {SCHEMA_VERSION})\n"
    told = grade("store", "check", "--course", "dl", "--json").json()
    assert told == {
        "where": STORE, "schema": SCHEMA_VERSION, "rows": EVERYTHING, "faults": []
    }  # fmt: skip


def test_tables_without_rows_arent_shown(grade) -> None:
    assert grade("init", "new").code == 0
    place = "new/.softmark/store.db"
    with Course.open(Path("new")).open_store() as store:
        said = grade("store", "check", "--course", "new")
        assert said.out == f"no rows yet\n\n{place} is sound (schema {SCHEMA_VERSION})\n"
        store.hand_marks.add(HandMark("7", "softmax", 9.5, False, "", "prof", NOW))
    said = grade("store", "check", "--course", "new")
    assert said.out == listed({"hand_marks": 1}) + f"{place} is sound (schema {SCHEMA_VERSION})\n"


def test_a_store_with_faults(grade, course: Course) -> None:
    raw = sqlite3.connect(STORE)
    raw.execute("UPDATE attempts SET score = 3.25 WHERE id = 2")
    raw.execute("UPDATE hand_marks SET score = 9e999 WHERE id = 1")
    raw.commit()
    raw.close()
    said = grade("store", "check", "--course", "dl")
    assert said.code == 1
    assert said.out.splitlines()[len(EVERYTHING) + 2 :] == [
        "fault: hand_marks 1: the score is inf",
        "fault: attempts 2: its column score says 3.25, its report 10.0",
        f"next: stop grading, keep a copy of {STORE}, and go back to the last backup",
    ]
    again = grade("store", "check", "--course", "dl", "--json")
    assert again.code == 1 and len(again.json()["faults"]) == 2


def test_no_store_is_made_by_looking_for_one(grade, course: Course) -> None:
    for words in (("check",), ("backup", "b.db"), ("copy", "c.db"), ("export-student", "7")):
        said = grade("store", *words, "--store", "typo.db")
        assert said.code == 2
        assert said.err.startswith("error: typo.db: there is no store\n  next: name it with --store")
    assert not Path("typo.db").exists() and not Path("b.db").exists() and not Path("c.db").exists()


def test_a_file_that_is_no_store(grade) -> None:
    Path("notes.db").write_text("these are notes " * 100)
    said = grade("store", "check", "--store", "notes.db")
    assert said.code == 3 and "the file isn't a Softmark store" in said.err


def test_a_backup_and_back(grade, course: Course) -> None:
    said = grade("store", "backup", "monday.db", "--course", "dl")
    assert (said.code, said.out) == (0, listed(EVERYTHING) + f"{STORE} is copied to monday.db\n")
    again = grade("store", "backup", "monday.db", "--course", "dl")
    assert again.code == 2 and "monday.db: a file of that name exists" in again.err
    assert grade("store", "check", "--store", "monday.db").code == 0
    Path(STORE).unlink()
    for left in Path("dl/.softmark").glob("store.db-*"):
        left.unlink()
    said = grade("store", "copy", STORE, "--store", "monday.db", "--json")
    assert said.json() == {"from": "monday.db", "to": STORE, "rows": EVERYTHING}
    assert grade("store", "check", "--course", "dl").code == 0


def test_a_move_to_a_server(grade, course: Course) -> None:
    url = server().new_database()
    said = grade("store", "copy", url, "--course", "dl")
    assert said.code == 0 and PASSWORD not in said.out and "%20secret" not in said.out
    assert f"{STORE} is copied to postgresql://softmark:***@/" in said.out
    assert grade("store", "check", "--store", url).code == 0
    refused = grade("store", "copy", url, "--course", "dl")
    assert refused.code == 3 and "the store to copy to isn't empty" in refused.err
    said = grade("store", "backup", "server.db", "--store", url)
    assert said.code == 0
    with open_store("server.db") as store:
        assert store.people.rows("007") == ROWS
    assert grade("store", "copy", "mysql://x", "--course", "dl").code == 2


def test_one_persons_data(grade, course: Course) -> None:
    said = grade("store", "export-student", "007", "--course", "dl")
    assert said.code == 0
    (path,) = Path().glob("*.zip")
    assert said.out == listed(ROWS) + f"{path}: everything stored about 007, 4 files of code\n"
    with zipfile.ZipFile(path) as archive:
        told = json.loads(archive.read("person.json"))
    assert told["roster"] == {"id": "007", "name": "Nöther, Emmy", "email": "e@x"}
    assert grade("store", "export-student", "007", "--course", "dl").code == 2, "nothing is replaced"
    said = grade("store", "export-student", "new", "--course", "dl", "--out", "n.zip", "--json")
    assert said.json() == {"student": "new", "file": "n.zip", "rows": dict.fromkeys(ROWS, 0), "code_files": 0}
    nobody = grade("store", "export-student", "0007", "--course", "dl")
    assert nobody.code == 2 and nobody.err == (
        f"error: {STORE}: nothing is stored about '0007'; did you mean Nöther, Emmy (007)?\n"
        "  next: ids are text as in roster.csv: 007 and 7 are two students\n"
    )


LEFT = """\
still to be done by you:
  the line in roster.csv, and policies in course.yaml that name the student
  the quiz files in quizzes/, and what was handed in: grading that again would store it again
  pages, gradebooks and tables that were written, and what was uploaded
  printed exams and pages of scans in prints/, and the scanned files
  texts about others that name the student by a part of the name, and their answers and code
  earlier rosters in .softmark/rosters, and mail in .softmark/mail or the folder that web.yaml names
  backups of the store, also in .softmark/backups, and those of the machine or the database server
"""


def test_one_person_is_erased_when_that_is_meant(grade, course: Course) -> None:
    said = grade("store", "erase-student", "007", "--course", "dl")
    assert said.code == 0
    assert said.out == listed(ROWS) + "nothing was erased: --yes erases all this\n" + LEFT
    with course.open_store() as store:
        assert store.people.rows("007") == ROWS
    said = grade("store", "erase-student", "007", "--course", "dl", "--yes")
    assert said.code == 0
    assert said.out == listed(ROWS) + f"007 is erased from {STORE}\n{LEFT}"
    with course.open_store() as store:
        assert store.people.rows("007") == dict.fromkeys(ROWS, 0)
        assert store.people.rows("7") == ROWS
    again = grade("store", "erase-student", "007", "--course", "dl", "--yes", "--json")
    assert again.code == 2 and again.json()["error"]["what"].startswith("nothing is stored about '007'")
    shown = grade("store", "erase-student", "7", "--course", "dl", "--json").json()
    assert (shown["erased"], shown["rows"]) == (False, ROWS)


@pytest.mark.parametrize(
    "command",
    [
        ("export", "csv", "--out", "marks.csv"),
        ("report", "--out", "r"),
        ("feedback", "--out", "f"),
        ("similar",),
        ("regrade", "--dry-run"),
    ],
    ids=lambda command: command[0],
)
def test_a_store_that_is_gone_is_never_taken_for_a_class_without_marks(grade, command) -> None:
    assert grade("init", "course").code == 0
    Path("course/roster.csv").write_text("id\nada\n", encoding="utf-8")
    assert grade("quiz", "new", "l16", "--course", "course").code == 0
    for path in Path("course/.softmark").glob("store.db*"):
        path.unlink()
    said = grade(*command, "--course", "course")
    assert said.code == 2, said
    assert "the store is gone, and this course has drawn quizzes" in said.err
    assert "put it back from its backup" in said.err
    assert not Path("course/.softmark/store.db").exists(), "none is made"
    assert not Path("marks.csv").exists()
