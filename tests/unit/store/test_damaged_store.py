"""A store that was damaged says so, whatever was done to it, and nothing takes it for a new one."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from engine.course import Course
from engine.errors import CourseError, StoreError
from engine.model import GradeReport, Mode, Outcome
from engine.store import Attempt, Store, open_store

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def fill(path: Path) -> None:
    with open_store(path) as store:
        for number in range(40):
            student = f"s{number}"
            report = GradeReport("softmax", "1", Outcome.RIGHT, 1.0, 1.0, student=student, mode=Mode.MARKS)
            store.record(
                Attempt(
                    student=student,
                    submission=f"{number:064d}",
                    report=report,
                    started=NOW,
                    finished=NOW,
                    filename="softmax.py",
                )
            )


def use(store: Store) -> None:
    list(store.attempts())
    store.students(Mode.MARKS)
    store.best_scores()
    store.ungraded()
    store.quizzes()


def rows(statement: str) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        connection = sqlite3.connect(path)
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute(statement)
        connection.commit()
        connection.close()

    return change


def overwrite(seed: int, begin: int) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        data = bytearray(path.read_bytes())
        data[begin:] = random.Random(seed).randbytes(len(data) - begin)
        path.write_bytes(data)

    return change


DAMAGE: dict[str, Callable[[Path], None]] = {
    "nothing left": lambda path: path.write_bytes(b""),
    "half": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "a page": lambda path: path.write_bytes(path.read_bytes()[:4096]),
    "a header": lambda path: path.write_bytes(path.read_bytes()[:60]),
    "random": overwrite(1, 0),
    "random behind the mark": overwrite(2, 16),
    "random behind the header": overwrite(3, 100),
    "random schema": overwrite(4, 200),
    "random pages": overwrite(5, 4096),
    "text": lambda path: path.write_bytes(b"quiz: 1\n" * 1000),
    "bytes for a student": rows("UPDATE attempts SET student = CAST(x'ff80fe' AS TEXT)"),
    "bytes for a report": rows("UPDATE attempts SET report = CAST(x'ff80fe7b7d' AS TEXT)"),
    "no json": rows("UPDATE attempts SET report = '{'"),
    "another json": rows("UPDATE attempts SET report = '[1, {\"a\": null}]'"),
    "no time": rows("UPDATE attempts SET started = 'yesterday'"),
    "a number for a time": rows("UPDATE attempts SET finished = 12.5"),
    "a schema of bytes": rows("UPDATE softmark_schema SET version_num = CAST(x'ff' AS TEXT)"),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_damage_is_one_store_error_with_a_next_step(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "store.db"
    fill(path)
    DAMAGE[kind](path)
    for wal in tmp_path.glob("store.db-*"):
        wal.unlink()
    with pytest.raises(StoreError) as told, open_store(path) as store:
        use(store)
    assert told.value.next_step and told.value.exit_code == 3
    assert told.value.where and str(path) in told.value.where


def test_a_new_store_is_made_where_no_file_is_and_is_never_seen_empty(tmp_path: Path) -> None:
    with open_store(tmp_path / "new.db") as store:
        use(store)
    assert (tmp_path / "new.db").stat().st_size > 0
    assert {path.name for path in tmp_path.iterdir()} <= {"new.db", "new.db-wal", "new.db-shm"}


def test_another_secret_is_noticed_and_can_be_taken_deliberately(tmp_path: Path) -> None:
    course = Course.init(tmp_path / "dl", "DL")
    path = course.folder / ".softmark" / "secret"
    kept = path.with_name("secret-fingerprint")
    made = kept.read_bytes()
    first = course.secret()
    assert course.secret() == first, "the fingerprint that was made with it fits"
    assert kept.read_bytes() == made
    assert kept.stat().st_mode & 0o077 == 0 and first.hex() not in kept.read_text()
    path.write_bytes(bytes(32))
    with pytest.raises(CourseError) as told:
        course.secret()
    assert "begun with" in told.value.what and str(kept) in str(told.value.next_step)
    path.write_bytes(first)
    assert course.secret() == first
    path.write_bytes(bytes(32))
    kept.unlink()
    assert course.secret() == bytes(32)
