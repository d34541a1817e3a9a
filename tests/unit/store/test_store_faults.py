"""A store that can't be used says what is wrong and loses nothing."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from engine.errors import StoreError
from engine.store import open_store
from engine.store.sqlite import is_local, mount_type

# A record of about 8 kB, written by a process of its own.
FILL = """
import sys
from datetime import UTC, datetime
from engine.errors import StoreError
from engine.model import GradeReport, Mode, Outcome
from engine.store import Attempt, open_store
now = datetime.now(UTC)
kept = 0
with open_store(sys.argv[1]) as store:
    {limit}
    try:
        for n in range(10_000):
            report = GradeReport("softmax", "v", Outcome.RIGHT, 1.0, 1.0, mode=Mode.MARKS)
            store.record(Attempt("ada", f"{{n:064d}}", report, now, now, source="x" * 8000))
            kept += 1
    except StoreError as error:
        print(error)
    print("kept", kept)
"""


def fill(path: Path, limit: str = "pass", **more) -> tuple[str, int]:
    code = textwrap.dedent(FILL.format(limit=limit))
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True, **more
    )
    return done.stdout, int(done.stdout.split("kept ")[1])


def stored(path: Path) -> int:
    with open_store(path) as store:
        return len(list(store.attempts()))


def test_a_file_size_limit_stops_with_a_message_and_keeps_every_record(tmp_path: Path) -> None:
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))"
    out, kept = fill(tmp_path / "store.db", limit)
    assert "next: " in out and ("disk is full" in out or "disk can't be" in out)
    assert 0 < kept < 10_000
    assert stored(tmp_path / "store.db") == kept


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="mounts a small file system as root")
def test_a_disk_that_is_really_full(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(disk)], capture_output=True
    )
    if mounted.returncode:
        pytest.skip("this container may not mount")
    try:
        out, kept = fill(disk / "store.db")
        assert "the disk is full" in out and "make room and run again" in out
        assert 0 < kept < 200
        assert stored(disk / "store.db") == kept
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_locked_store_says_so(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    open_store(path).close()
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with open_store(path, busy_timeout_s=0.05) as store:
        assert list(store.attempts()) == [], "readers go on"
        with pytest.raises(StoreError, match="locked by another program") as caught, store._database.write():
            pass
    assert "run again" in str(caught.value.next_step)
    holder.rollback()
    holder.close()


READ_ONLY = """
import os, sys
import alembic.command, alembic.config, alembic.script, sqlalchemy.dialects.sqlite, engine.store
from engine.errors import StoreError
if os.geteuid() == 0:
    # Imported first: the interpreter itself may lie in a folder that only root can read.
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
try:
    engine.store.open_store(sys.argv[1])
    print("opened")
except StoreError as error:
    print(error)
"""


def as_ordinary_user(path: Path) -> str:
    command = [sys.executable, "-B", "-c", READ_ONLY, str(path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(os.name != "posix", reason="POSIX rights")
def test_a_folder_that_may_not_be_written(tmp_path: Path) -> None:
    folder = tmp_path / "course"
    folder.mkdir(mode=0o755)
    for parent in (tmp_path, *tmp_path.parents):
        if parent.stat().st_uid == os.geteuid() and not parent.stat().st_mode & stat.S_IXOTH:
            parent.chmod(parent.stat().st_mode | stat.S_IXOTH)
    folder.chmod(0o555)
    shown = as_ordinary_user(folder / "store.db")
    assert "the store can't be opened" in shown and "next: " in shown
    folder.chmod(0o755)
    open_store(folder / "store.db").close()
    (folder / "store.db").chmod(0o444)
    folder.chmod(0o555)
    shown = as_ordinary_user(folder / "store.db")
    assert "next: " in shown and "Traceback" not in shown
    folder.chmod(0o755)


def test_other_files_are_refused_and_left_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    path.write_bytes(b"these are my notes, not a database " * 100)
    before = path.read_bytes()
    with pytest.raises(StoreError, match="isn't a Softmark store"):
        open_store(path)
    assert path.read_bytes() == before


def test_a_damaged_store_says_so(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    fill(path, "range = lambda n: [i for i in (0, 1, 2, 3, 4, 5, 6, 7)]")
    data = bytearray(path.read_bytes())
    for page in range(2, len(data) // 4096):
        data[page * 4096 : page * 4096 + 64] = b"\xff" * 64
    path.write_bytes(data)
    with pytest.raises(StoreError, match="damaged") as caught, open_store(path) as store:
        list(store.attempts())
    assert "recover" in str(caught.value.next_step)


def test_a_row_that_something_else_changed_is_named(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    fill(path, "range = lambda n: [0]")
    raw = sqlite3.connect(path)
    raw.execute("UPDATE attempts SET report = '{\"item\": 3}'")
    raw.commit()
    raw.close()
    with open_store(path) as store, pytest.raises(StoreError, match="stored GradeReport can't be read"):
        list(store.attempts())


def test_folders_and_missing_folders(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is a folder"):
        open_store(tmp_path)
    with pytest.raises(StoreError, match="can't be opened"):
        open_store(tmp_path / "no" / "such" / "store.db")


@pytest.mark.parametrize(
    ("url", "what"),
    [
        ("sqlite:///x.db", "given by its path"),
        ("nonsense://", "address can't be read|driver for this database"),
        ("nonsense://host/db", "driver for this database"),
    ],
)
def test_addresses_that_cant_be_used(url: str, what: str) -> None:
    with pytest.raises(StoreError, match=what):
        open_store(url)


def test_a_password_is_never_shown() -> None:
    with pytest.raises(StoreError) as caught:
        open_store("nonsense://me:secret-word@host/db")
    assert "secret-word" not in str(caught.value)


# --- where WAL is safe ---

MOUNTS = r"""
22 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw
40 22 0:30 / /home rw shared:2 - nfs4 server:/home rw
41 40 0:31 / /home/local\040dïsk rw - xfs /dev/sdb1 rw
42 22 0:32 / /mnt/s rw - fuse.sshfs me@host:/ rw
"""


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/srv/course", "ext4"),
        ("/home/ada/course", "nfs4"),
        ("/home/local dïsk/course", "xfs"),
        ("/mnt/s", "fuse.sshfs"),
        ("/homestead", "ext4"),
    ],
)
def test_the_mount_nearest_to_the_folder_counts(folder: str, kind: str) -> None:
    assert mount_type(Path(folder), MOUNTS) == kind


def test_what_isnt_known_counts_as_network() -> None:
    assert mount_type(Path("/x"), "") is None
    assert mount_type(Path("/x"), "no mountinfo at all\n- -") is None


@pytest.mark.parametrize(("local", "journal"), [(True, "wal"), (False, "delete")])
def test_wal_on_local_disks_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, local: bool, journal: str
) -> None:
    path = tmp_path / "store.db"
    open_store(path).close()  # a store that was in WAL before it moved to the network
    monkeypatch.setattr("engine.store.sqlite.is_local", lambda folder: local)
    with open_store(path) as store, store._database.read() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == journal
        assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar() == 1
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_this_machine_is_understood(tmp_path: Path) -> None:
    assert is_local(tmp_path) in {True, False}
    assert is_local(Path("/proc")) is False
