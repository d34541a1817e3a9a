"""What is stored on one person is handed out whole, without keys, and erased whole."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import zipfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from engine.errors import InputError, StoreError
from engine.store import Store, open_store
from engine.store.audit import AuditEntry
from engine.store.person_data import write_person
from engine.store.sql_tables import metadata
from engine.store.web_tables import IMPERSONAL, whose
from tests.unit.store.filled import EVERYTHING, ROWS, SECRETS, SHARED, fill

MOMENT, HOUR = datetime(2026, 3, 1, 12, tzinfo=UTC), timedelta(hours=1)
# What the site has stored about a student.
SITE_TEXTS = ("draft by {}", "# waiting, by {}", "allowed for {}", "asked by {}", "comment for {}")


@pytest.fixture
def filled(store: Store) -> Store:
    fill(store)
    return store


def test_every_table_says_whose_its_rows_are() -> None:
    personal = {table.name for table in metadata.sorted_tables if whose(table) is not None}
    assert personal == metadata.tables.keys() - IMPERSONAL
    assert (ROWS.keys(), SHARED.keys()) == (personal, IMPERSONAL), "the tests fill every table"


def test_everything_on_one_person_and_nothing_on_another(filled: Store) -> None:
    found = filled.people.everything_on("007")
    assert {table: len(rows) for table, rows in found.items()} == ROWS == filled.people.rows("007")
    shown = json.dumps(found)
    assert "typed by 007" in shown and "# code 1 by 007" in shown and "for 007" in shown
    for mine in (*SITE_TEXTS, "name of {}", "lms name of {}"):
        assert mine.format("007") in shown
    assert '"7"' not in shown and "by 7" not in shown and "of 7" not in shown and "for 7" not in shown
    assert filled.people.rows("07") == dict.fromkeys(ROWS, 0)


def test_answers_marks_and_times_are_in_it(filled: Store) -> None:
    found = filled.people.everything_on("007")
    answer = found["attempts"][0]
    assert answer["response"] == {"answers": {"answer": "typed by 007"}}
    assert (answer["score"], answer["outcome"], answer["marked_late"]) == (1.5, "partial", True)
    assert answer["handed"] == "2026-10-24T23:30:15.123456+00:00"
    assert answer["report"]["checks"][0]["message"] == "half of it"
    assert answer["variant"]["text"] == "Add ½ and ½."
    assert answer["variant"]["parts"][0]["options"] == {"a": "first", "b": "second"}
    (change,) = found["regrades"]
    assert (change["old_report"]["score"], change["new_report"]["score"]) == (1.0, 1.5)
    assert found["quizzes"][0]["quiz"]["questions"][0]["number"] == 1
    assert found["quiz_retries"][0]["variant"]["id"] == "later"


def test_no_key_is_in_it(filled: Store) -> None:
    shown = json.dumps(filled.people.everything_on("007"))
    assert [secret for secret in SECRETS if secret in shown] == []
    with filled._database.read() as connection:
        stored = str(connection.exec_driver_sql("SELECT quiz FROM quizzes").scalars().all())
    assert [secret for secret in SECRETS if secret not in stored] == [], "the store has them"


def test_hashes_of_links_and_cookies_stay_in_the_store(filled: Store) -> None:
    stored = filled.people.everything_on("007")
    for table in ("sessions", "sign_in_secrets"):
        (row,) = stored[table]
        assert row["id"] is None and row["expires"]


def test_what_a_student_does_is_about_that_student(filled: Store) -> None:
    mine, about = filled.people.everything_on("007")["audit_log"]
    assert (mine["by"], mine["student"]) == ("007", "007")
    assert (about["by"], about["student"], about["details"]) == ("prof", "007", {"score": 9.5})


def test_the_archive(filled: Store, tmp_path: Path) -> None:
    path = tmp_path / "007.zip"
    listed = {"id": "007", "name": "Nöther", "email": ""}
    assert write_person(path, "007", listed, filled.people.everything_on("007")) == 4
    assert path.stat().st_mode & 0o777 == 0o600
    with zipfile.ZipFile(path) as archive:
        texts = {name: archive.read(name).decode() for name in archive.namelist()}
    numbers = [row["id"] for row in filled.people.everything_on("007")["attempts"]][1:]
    folders = [f"code/{number:05d}-softmax" for number in numbers]
    assert set(texts) == {
        "README.txt",
        "person.json",
        *(f"{folder}/submission.py" for folder in folders),
        *(f"{folder}/beside/helpers.py" for folder in folders),
    }
    assert texts[f"{folders[0]}/submission.py"] == "# code 0 by 007\n"
    assert texts[f"{folders[1]}/beside/helpers.py"] == "# beside, by 007"
    told = json.loads(texts["person.json"])
    assert (told["student"], told["roster"]) == ("007", listed)
    assert told["attempts"][1]["code"] == [f"{folders[0]}/submission.py", f"{folders[0]}/beside/helpers.py"]
    assert told["attempts"][0]["code"] == [] and "source" not in told["attempts"][1]
    assert {name: len(told[name]) for name in ROWS} == ROWS


def test_names_in_the_archive_lead_nowhere_else(tmp_path: Path) -> None:
    row = {"id": 1, "item": "../../x", "source": "s", "modules": {"../evil": "m", "ok_2": "n"}}
    write_person(tmp_path / "x.zip", "x", None, {"attempts": [row]})
    with zipfile.ZipFile(tmp_path / "x.zip") as archive:
        assert {name for name in archive.namelist() if name.startswith("code")} == {
            "code/00001-______x/beside/module-1.py",
            "code/00001-______x/beside/ok_2.py",
            "code/00001-______x/submission.py",
        }
        assert len(archive.namelist()) == 5


def test_an_archive_replaces_no_file_and_says_why_it_cant_be_written(tmp_path: Path) -> None:
    (tmp_path / "x.zip").write_text("mine")
    with pytest.raises(InputError, match="a file of that name exists"):
        write_person(tmp_path / "x.zip", "x", None, {"attempts": []})
    assert (tmp_path / "x.zip").read_text() == "mine"
    with pytest.raises(StoreError, match="the archive can't be written"):
        write_person(tmp_path / "no" / "x.zip", "x", None, {"attempts": []})


def test_a_person_is_erased_from_every_table_and_nobody_else_is(filled: Store) -> None:
    before = filled.people.everything_on("7")
    assert filled.people.erase("007") == ROWS
    assert filled.people.rows("007") == dict.fromkeys(ROWS, 0)
    assert filled.people.everything_on("7") == before
    check = filled.upkeep.check()
    assert check.faults == ()
    assert check.rows == {name: count - ROWS.get(name, 0) for name, count in EVERYTHING.items()}
    assert filled.people.erase("007") == dict.fromkeys(ROWS, 0)


def test_no_byte_of_it_is_left_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    marks = (
        *(b"typed by 007", b"code 1 by 007", b"beside, by 007", b"for 007", b"name of 007"),
        *(text.format("007").encode() for text in SITE_TEXTS),
    )
    with open_store(path) as store:
        fill(store)
        store._database.checkpoint()
        assert all(mark in path.read_bytes() for mark in marks)
        store.people.erase("007")
        for file in tmp_path.iterdir():
            assert [mark for mark in marks if mark in file.read_bytes()] == [], file
    assert b"typed by 7" in path.read_bytes()


def test_no_byte_is_left_of_what_was_replaced_or_forgotten_before(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    members = {"members": ["name of a member " + 90_000 * "."]}
    with open_store(path) as store:
        for name in ("one", "two", "three"):
            store.lti.begin("members", name, members, now=MOMENT, expires=MOMENT + HOUR)
        store._database.checkpoint()
        assert b"name of a member" in path.read_bytes()
        assert store.lti.use("members", "one", MOMENT)
        assert store.lti.forget_expired(MOMENT + HOUR) == 3
        store.people.erase("007")
        assert not any(b"name of a member" in file.read_bytes() for file in tmp_path.iterdir())


_ERASE = """
import sys
from engine.store import open_store

with open_store(sys.argv[1]) as store:
    store.people.erase("007")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="kills itself as POSIX systems do")
@pytest.mark.parametrize("table", [1, len(ROWS)])
def test_an_erasure_that_is_killed_erases_nothing(filled: Store, target: str | Path, table: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _ERASE, str(target)],
        env=os.environ | {"SOFTMARK_CRASH_AT": f"in-erase:{table}"},
    )
    assert done.returncode == -signal.SIGKILL
    assert filled.people.rows("007") == ROWS


def test_a_name_in_texts_about_others_is_replaced(filled: Store) -> None:
    reason = "as for Emmy Nöther; emmy nöthers and Emmy stay"
    entry = AuditEntry(
        MOMENT, "prof", "instructor", "allowance.add", "week", "7", {"reason": reason, "n": [1]}
    )
    filled.audit.add(entry)
    filled.saved_comments.add("Like Emmy Nöther did.", item=None, by="prof", at=MOMENT)
    unchanged = filled.people.everything_on("7")["attempts"]
    filled.people.erase("007", ["Emmy Nöther"])
    ((_, kept),) = filled.audit.newest(1)
    assert kept.details == {"reason": "as for [erased]; emmy nöthers and Emmy stay", "n": [1]}
    assert "Like [erased] did." in [comment.text for comment in filled.saved_comments.of("softmax")]
    assert filled.people.everything_on("7")["attempts"] == unchanged
    assert filled.upkeep.check().faults == ()
