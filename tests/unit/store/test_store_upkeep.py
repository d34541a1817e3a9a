"""Checks, backups and copies of a store, on both kinds of database."""

from __future__ import annotations

import sqlite3
import stat
import threading
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from engine.errors import InputError, StoreError
from engine.store import Store, open_store
from engine.store.sql_tables import SCHEMA_VERSION, metadata
from tests.live.postgres import server
from tests.unit.store.filled import EVERYTHING, fill

pytestmark = pytest.mark.slow


@pytest.fixture
def filled(store: Store) -> Store:
    fill(store)
    return store


def contents(store: Store) -> dict[str, list[Mapping[str, Any]]]:
    with store._database.read() as connection:
        return {
            table.name: sorted((dict(r) for r in connection.execute(sa.select(table)).mappings()), key=str)
            for table in metadata.sorted_tables
        }


def spoil(store: Store, *statements: str) -> None:
    with store._database.write() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)


# --- checks ---


def test_a_store_that_is_sound(filled: Store) -> None:
    before = contents(filled)
    found = filled.upkeep.check()
    assert found.faults == ()
    assert found.schema == SCHEMA_VERSION
    assert found.rows == EVERYTHING
    assert contents(filled) == before


def test_an_empty_store_is_sound(store: Store) -> None:
    assert store.upkeep.check().faults == ()


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("UPDATE attempts SET report = '{\"item\": 3}' WHERE id = 2", "attempts 2: a stored GradeReport"),
        ("UPDATE attempts SET variant = '[' WHERE id = 1", "attempts 1: a stored Variant can't be read"),
        ("UPDATE attempts SET modules = '[1]' WHERE id = 2", "attempts 2: a stored dict can't be read"),
        (
            "UPDATE attempts SET score = 9 WHERE id = 2",
            "attempts 2: its column score says 9.0",
        ),
        (
            "UPDATE attempts SET item_version = 'x' WHERE id = 2",
            "attempts 2: its column item_version",
        ),
        (
            "UPDATE attempts SET score = 99, report = replace(report, '\"score\":10.0', '\"score\":99.0')"
            " WHERE id = 2",
            "attempts 2: the score 99.0 isn't between 0 and 10.0",
        ),
        (
            "UPDATE quizzes SET name = 'other' WHERE student = '7'",
            "quizzes q-7, 7: its column name says",
        ),
        ("UPDATE quiz_retries SET variant = 'x' WHERE student = '7'", "quiz_retries q-7, 7, 1, 1: a stored"),
        ("UPDATE regrades SET old_report = '' WHERE id = 1", "regrades 1: a stored GradeReport"),
        ("UPDATE hand_marks SET score = 9e999 WHERE id = 1", "hand_marks 1: the score is inf"),
        ("UPDATE audit_log SET details = '[]' WHERE id = 2", "audit_log 2: its details aren't a JSON dict"),
        ("UPDATE audit_log SET details = '{' WHERE id = 2", "audit_log 2: Expecting property name"),
        (
            "UPDATE lti_platforms SET deployments = '{}'",
            "lti_platforms 1: its deployments aren't a JSON list",
        ),
        ("UPDATE lti_nonces SET data = '3'", f"lti_nonces {'0' * 64}: its data aren't a JSON dict"),
        (
            "UPDATE lti_grades SET maximum = 0 WHERE student = '7'",
            "lti_grades 1, li, s-7: the maximum is 0.0",
        ),
        (
            "UPDATE lti_grades SET score = 9e999 WHERE student = '7'",
            "lti_grades 1, li, s-7: the score is inf",
        ),
        (
            "UPDATE timed_sittings SET ends = '2020-01-01 00:00:00.000000' WHERE student = '7'",
            "timed_sittings q-7, 7: it ends before it starts",
        ),
        ("UPDATE waiting_hand_ins SET code = '' WHERE id = 1", "waiting_hand_ins 1: a stored CodeSubmission"),
        (
            "UPDATE waiting_hand_ins SET submission = 'x' WHERE id = 1",
            "waiting_hand_ins 1: its column submission says x",
        ),
    ],
)
def test_a_row_that_was_changed_is_named(filled: Store, statement: str, told: str) -> None:
    if filled._database.is_server:
        statement = statement.replace("9e999", "'Infinity'")
    spoil(filled, statement)
    faults = filled.upkeep.check().faults
    assert len(faults) == 1 and faults[0].startswith(told), faults


def test_rows_that_lost_what_they_belong_to(filled: Store) -> None:
    if filled._database.is_server:
        spoil(
            filled,
            "ALTER TABLE attempts DROP CONSTRAINT fk_attempts_quiz",
            "ALTER TABLE quiz_hints DROP CONSTRAINT fk_quiz_hints_quiz",
            "ALTER TABLE quiz_retries DROP CONSTRAINT fk_quiz_retries_quiz",
            "ALTER TABLE drafts DROP CONSTRAINT fk_drafts_quiz",
            "ALTER TABLE timed_sittings DROP CONSTRAINT fk_timed_sittings_quiz",
            "DELETE FROM quizzes WHERE student = '7'",
        )
    else:
        raw = sqlite3.connect(filled.where)
        raw.execute("DELETE FROM quizzes WHERE student = '7'")
        raw.commit()
        raw.close()
    assert sorted(filled.upkeep.check().faults) == [
        "attempts 4: its row of quizzes isn't there",
        "drafts q-7, 7, 1, 0, answer: its row of quizzes isn't there",
        "quiz_hints q-7, 7, 1, marks, 1: its row of quizzes isn't there",
        "quiz_retries q-7, 7, 1, 1: its row of quizzes isn't there",
        "timed_sittings q-7, 7: its row of quizzes isn't there",
    ]


def test_what_is_there_twice(filled: Store) -> None:
    if not filled._database.is_server:
        pytest.skip("SQLite can't drop a constraint")
    spoil(
        filled,
        "ALTER TABLE attempts DROP CONSTRAINT uq_attempts_submission CASCADE",
        "UPDATE attempts SET submission = repeat('0', 64) WHERE student = '7' AND item = 'softmax'",
    )
    assert any(
        fault == f"attempts: twice there: 7, softmax, {'0' * 64}, marks"
        for fault in filled.upkeep.check().faults
    )


def test_a_time_that_is_none(tmp_path: Path) -> None:
    with open_store(tmp_path / "store.db") as store:
        fill(store)
        spoil(store, "UPDATE attempts SET started = 'yesterday' WHERE id = 5")
        (fault,) = store.upkeep.check().faults
        assert fault.startswith("attempts 5: ") and "yesterday" in fault


def test_a_column_that_was_lost(filled: Store) -> None:
    spoil(filled, "ALTER TABLE attempts DROP COLUMN tier")
    assert filled.upkeep.check().faults == ("attempts: no column tier",)


def test_a_file_with_broken_pages(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with open_store(path) as store:
        fill(store)
    raw = sqlite3.connect(path, isolation_level=None)
    raw.execute("PRAGMA writable_schema = ON")
    root = raw.execute("SELECT rootpage FROM sqlite_master WHERE name = 'ix_attempts_outcome'").fetchone()[0]
    size = raw.execute("PRAGMA page_size").fetchone()[0]
    raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    raw.close()
    data = bytearray(path.read_bytes())
    start = (root - 1) * size
    data[start : start + size] = data[start : start + 8] + b"\0" * (size - 8)
    path.write_bytes(data)
    with open_store(path) as store:
        faults = store.upkeep.check().faults
    assert any(fault.startswith("the file: ") for fault in faults)


# --- backups ---


def test_a_backup_holds_the_same_rows_and_is_a_store(filled: Store, tmp_path: Path) -> None:
    path = tmp_path / "backup" / "monday.db"
    path.parent.mkdir()
    assert filled.upkeep.back_up(path) == EVERYTHING
    assert [p.name for p in path.parent.iterdir()] == ["monday.db"], "one file"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with open_store(path) as backup:
        assert contents(backup) == contents(filled)
        assert backup.upkeep.check().faults == ()


def test_a_backup_replaces_no_file(filled: Store, tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_text("mine")
    with pytest.raises(InputError, match="a file of that name exists"):
        filled.upkeep.back_up(path)
    link = tmp_path / "link.db"
    link.symlink_to(tmp_path / "nowhere")
    with pytest.raises(InputError, match="a file of that name exists"):
        filled.upkeep.back_up(link)
    assert path.read_text() == "mine" and not (tmp_path / "nowhere").exists()


def test_a_backup_that_cant_be_written_leaves_nothing(filled: Store, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="file can't be used"):
        filled.upkeep.back_up(tmp_path / "no" / "such" / "folder.db")
    before = sorted(tmp_path.iterdir())
    spoil(filled, "ALTER TABLE attempts DROP COLUMN tier")
    if filled._database.is_server:
        with pytest.raises(StoreError):
            filled.upkeep.back_up(tmp_path / "backup.db")
        assert sorted(tmp_path.iterdir()) == before


@pytest.fixture
def recording(filled: Store, target: str | Path) -> Iterator[None]:
    """Another program that records one attempt after the other, each with its own decision beside it."""
    stop = threading.Event()
    (first, *_) = filled.attempts(student="007", item="softmax")

    def work() -> None:
        number = 0
        with open_store(target) as store:
            while not stop.is_set():
                number += 1
                store.record_all(
                    [replace(first, student=s, submission=f"{number:064d}") for s in ("pair-1", "pair-2")]
                )

    thread = threading.Thread(target=work)
    thread.start()
    yield
    stop.set()
    thread.join()


def test_a_backup_while_others_record_is_one_moment(filled: Store, recording: None, tmp_path: Path) -> None:
    sizes: list[int] = []
    while len(sizes) < 4 or sizes[0] == sizes[-1]:  # until they went on meanwhile
        number = len(sizes)
        filled.upkeep.back_up(tmp_path / f"{number}.db")
        with open_store(tmp_path / f"{number}.db") as backup:
            assert backup.upkeep.check().faults == ()
            pairs = [
                {a.submission for a in backup.attempts(student=student)} for student in ("pair-1", "pair-2")
            ]
        assert pairs[0] == pairs[1], "what is recorded together is there together"
        sizes.append(len(pairs[0]))
    assert sizes == sorted(sizes)


# --- copies ---


def test_there_and_back_again(filled: Store, tmp_path: Path) -> None:
    url = server().new_database()
    assert filled.upkeep.copy_to(url)[0] == EVERYTHING
    with open_store(url) as there:
        assert contents(there) == contents(filled)
        assert there.upkeep.copy_to(tmp_path / "back.db") == (EVERYTHING, str(tmp_path / "back.db"))
        fill_more(there)
    with open_store(tmp_path / "back.db") as back:
        assert contents(back) == contents(filled)
        fill_more(back)


def fill_more(store: Store) -> None:
    """Record something new: its number must not be one that a copied row has."""
    (first, *_) = store.attempts(student="007", item="softmax")
    store.record(replace(first, submission="f" * 64))
    (mark,) = store.hand_marks.history(student="7")
    store.hand_marks.add(mark)
    assert len(store.hand_marks.history(student="7")) == 2
    entries = store.audit.newest(1)
    store.audit.add(entries[0][1])
    assert store.audit.newest(1)[0][0] == entries[0][0] + 1


def test_a_store_that_holds_something_is_never_copied_to(filled: Store, tmp_path: Path) -> None:
    with open_store(tmp_path / "other.db") as other:
        fill(other)
        before = contents(other)
    with pytest.raises(StoreError, match="isn't empty"):
        filled.upkeep.copy_to(tmp_path / "other.db")
    with open_store(tmp_path / "other.db") as other:
        assert contents(other) == before


def test_a_copy_that_isnt_the_same_is_taken_back(
    filled: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.store.upkeep._digest", lambda table, connection: (0, 1))
    with pytest.raises(StoreError, match="isn't what was copied"):
        filled.upkeep.copy_to(tmp_path / "other.db")
    with open_store(tmp_path / "other.db") as other:
        assert all(not rows for rows in contents(other).values())
