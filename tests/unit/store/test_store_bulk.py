"""Many records in a row: nothing committed is lost by a kill, and at the end all of them are on the disk."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import sqlalchemy as sa

from engine.store.database import Database, open_database


def _synchronous(database: Database) -> int:
    """Return how writers wait: 1 is NORMAL, 2 is FULL."""
    with database.write() as connection:
        return int(connection.execute(sa.text("PRAGMA synchronous")).scalar_one())


def test_commits_wait_for_the_disk_but_in_bulk(tmp_path: Path) -> None:
    database = open_database(tmp_path / "store.db")
    assert _synchronous(database) == 2
    with database.bulk():
        assert _synchronous(database) == 1
    assert _synchronous(database) == 2
    with pytest.raises(ZeroDivisionError), database.bulk():
        raise ZeroDivisionError
    assert _synchronous(database) == 2
    database.close()


def test_at_the_end_the_log_is_written_into_the_database(tmp_path: Path) -> None:
    database = open_database(tmp_path / "store.db")
    log = tmp_path / "store.db-wal"
    with database.bulk():
        with database.write() as connection:
            connection.execute(sa.text("CREATE TABLE marks (n INTEGER)"))
        assert log.stat().st_size > 0
    assert log.stat().st_size == 0
    database.close()


def test_another_kind_of_store_has_nothing_to_hurry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.store.sqlite.is_local", lambda folder: False)  # no write-ahead log there
    database = open_database(tmp_path / "store.db")
    with database.bulk():
        assert _synchronous(database) == 2
    database.close()


_KILLED = """
import os, signal, sys
import sqlalchemy as sa
from engine.store.database import open_database

database = open_database(sys.argv[1])
with database.bulk():
    for number in range(50):
        with database.write() as connection:
            if number == 0:
                connection.execute(sa.text("CREATE TABLE marks (n INTEGER)"))
            connection.execute(sa.text(f"INSERT INTO marks VALUES ({number})"))
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_kill_takes_nothing_back(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    done = subprocess.run([sys.executable, "-c", _KILLED, str(path)], cwd=Path.cwd(), env=dict(os.environ))
    assert done.returncode == -signal.SIGKILL
    database = open_database(path)
    with database.read() as connection:
        assert connection.execute(sa.text("SELECT count(*) FROM marks")).scalar_one() == 50
    database.close()
