"""SQLite as the store needs it: a safe journal, transactions that can wait, and faults with a next step.

The write-ahead log (WAL) lets readers go on beside one writer, but needs memory that all processes share,
which no network file system gives. So a file gets WAL only where its disk is known to be local, and a
rollback journal otherwise.
"""

from __future__ import annotations

import contextlib
import os
import platform
import re
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from engine.errors import StoreAwayError, StoreError, UnstorableError
from engine.store.postgres import NOTHING_LOST, passes_by_itself, server_fault

# File systems on local disks; an unknown one counts as network, which is slower and always safe.
_LOCAL = {
    "apfs", "bcachefs", "btrfs", "ext2", "ext3", "ext4", "f2fs", "fuseblk", "hfs", "jfs", "msdos", "exfat",
    "ntfs", "ntfs3", "overlay", "ramfs", "reiserfs", "tmpfs", "ufs", "vfat", "xfs", "zfs", "erofs", "aufs",
}  # fmt: skip


def mount_type(folder: Path, mountinfo: str) -> str | None:
    """Return the type of the file system that `folder` lies on.

    Parameters
    ----------
    folder : Path
        Absolute and resolved.
    mountinfo : str
        Text in the form of ``/proc/self/mountinfo``; of several mounts on one point the last counts.
    """
    best: tuple[int, str] | None = None
    for line in mountinfo.splitlines():
        # 36 35 98:0 /root /mount/point rw,noatime shared:1 - ext4 /dev/sda1 rw
        mounted, _, rest = line.partition(" - ")
        fields = mounted.split()
        if len(fields) < 5 or not rest:
            continue
        # Blanks in a path are written as \040.
        point = Path(re.sub(r"\\([0-7]{3})", lambda escape: chr(int(escape.group(1), 8)), fields[4]))
        if folder.is_relative_to(point) and (best is None or len(point.parts) >= best[0]):
            best = (len(point.parts), rest.split()[0])
    return best[1] if best else None


def is_local(folder: Path) -> bool:
    """Return whether `folder` is known to be on a local disk."""
    folder = folder.resolve()
    kind = platform.system()
    if kind == "Linux":
        return _linux(folder)
    if kind == "Windows":
        return _windows(folder)
    return _bsd(folder)


def _linux(folder: Path) -> bool:
    try:
        kind = mount_type(folder, Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return False
    return kind in _LOCAL


def _windows(folder: Path) -> bool:
    import ctypes

    kernel: Any = ctypes.__dict__["windll"].kernel32  # there on Windows only
    remote = 4  # DRIVE_REMOTE
    return not folder.drive.startswith("\\\\") and kernel.GetDriveTypeW(folder.anchor) != remote


def _bsd(folder: Path) -> bool:
    # A line of macOS reads: /dev/disk3s1 on /System/Volumes/Data (apfs, local, journaled)
    try:
        mounts = subprocess.run(
            ["/sbin/mount"], capture_output=True, text=True, timeout=10, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return False
    best: tuple[int, bool] = (-1, False)
    for line in mounts.splitlines():
        place, _, options = line.rpartition(" (")
        point = Path(place.partition(" on ")[2])
        if place and folder.is_relative_to(point) and len(point.parts) >= best[0]:
            best = (len(point.parts), "local" in options.rstrip(")").split(", "))
    return best[1]


# By SQLite's primary result code: the fault and the next step.
_SQLITE: dict[int, tuple[str, str]] = {
    sqlite3.SQLITE_BUSY: (
        "the store is locked by another program",
        "wait for the other `grade` command to end, or find the program that holds the file, and run again",
    ),
    sqlite3.SQLITE_LOCKED: (
        "the store is locked by another program",
        "wait for the other `grade` command to end and run again",
    ),
    sqlite3.SQLITE_READONLY: (
        "the store is read-only",
        "make the file and its folder writable for this user, or choose another folder, and run again",
    ),
    sqlite3.SQLITE_PERM: ("the store may not be opened", "check the rights of the file and its folder"),
    sqlite3.SQLITE_FULL: ("the disk is full", f"make room and run again: {NOTHING_LOST}"),
    sqlite3.SQLITE_IOERR: (
        "the disk can't be read or written",
        f"check the disk, its quota and the file size limit, and run again: {NOTHING_LOST}",
    ),
    sqlite3.SQLITE_CANTOPEN: (
        "the store can't be opened",
        "check that the folder exists and that this user may write in it",
    ),
    sqlite3.SQLITE_CORRUPT: (
        "the store is damaged",
        "make a copy of the file, then restore a backup or recover it with `sqlite3 FILE .recover`",
    ),
    sqlite3.SQLITE_NOTADB: (
        "the file isn't a Softmark store",
        "give the path of a store, or move the file away so that a new store can be made",
    ),
}


def _sqlite_fault(error: sqlite3.Error, where: str) -> StoreError:
    code = getattr(error, "sqlite_errorcode", None)
    fallback = ("the store failed", "run `grade doctor`; the attempt stays ungraded and can be run again")
    # The low byte is the primary code; the others say more, which the error's text does too.
    message, next_step = _SQLITE.get((code or 0) & 0xFF, fallback)
    return StoreError(message, where=where, got=str(error), next_step=next_step)


def _server_fault(error: BaseException | None, where: str) -> StoreError:
    text = str(error).strip()
    fault = server_fault(getattr(error, "sqlstate", None), text, where)
    message, next_step = fault
    kind = StoreAwayError if passes_by_itself(fault) else StoreError
    return kind(message, where=where, got=text.splitlines()[0] if text else None, next_step=next_step)


@contextmanager
def store_faults(where: str) -> Iterator[None]:
    """Raise every database or file error inside as a :class:`StoreError` about `where`."""
    try:
        yield
    except StoreError:
        raise
    except sa.exc.IntegrityError as error:
        raise UnstorableError(
            "the attempt doesn't fit what the store holds",
            where=where,
            got=str(error.orig).strip().splitlines()[0],
            next_step="report this: a score without its outcome, or a quiz that was never saved",
        ) from error
    except sa.exc.DBAPIError as error:
        if isinstance(error.orig, sqlite3.Error):
            raise _sqlite_fault(error.orig, where) from error
        raise _server_fault(error.orig, where) from error
    except sa.exc.StatementError as error:  # a value that its column refuses
        raise UnstorableError(
            "something can't be stored",
            where=where,
            got=str(error.orig).splitlines()[0],
            next_step="give it another id or name; nothing was stored",
        ) from error
    except sqlite3.Error as error:
        raise _sqlite_fault(error, where) from error
    except (UnicodeError, ValueError, TypeError) as error:  # a row, or an error's text, that isn't UTF-8
        message, next_step = _SQLITE[sqlite3.SQLITE_CORRUPT]
        got = str(error).splitlines()[0][:200]
        raise StoreError(message, where=where, got=got, next_step=next_step) from error
    except sa.exc.SQLAlchemyError as error:
        raise StoreError("the store failed", where=where, got=str(error).splitlines()[0]) from error
    except OSError as error:
        raise StoreError(
            "the store's file can't be used",
            where=where,
            got=error.strerror or str(error),
            next_step="check that the folder exists and that this user may write in it",
        ) from error


_WRITE = "softmark_write"
_KEPT_CONNECTIONS = 16  # with 2 MiB of pages each, made when they are needed
_MORE_CONNECTIONS = 48  # in a rush, so that no thread of a server waits for one


@dataclass
class CommitPace:
    """Whether commits wait for the disk; shared by the connections of one database."""

    hurried: bool = False


def write_option(write: bool) -> Mapping[str, bool]:
    """Return the execution option that says whether a transaction is going to write."""
    return {_WRITE: write}


def sqlite_engine(path: Path, busy_timeout_s: float) -> tuple[sa.Engine, CommitPace | None]:
    """Return the connections of a file, made if it isn't there, and the pace of its commits.

    The pace is None without the write-ahead log, where commits always wait.

    Raises
    ------
    StoreError
        It can't be opened, or isn't a database.
    """
    with store_faults(str(path)):
        if path.is_dir():
            raise StoreError("the store is a folder", where=str(path), expected="a file")
        journal = "WAL" if is_local(path.parent) else "DELETE"
        _make_or_check(path, journal)
        pace = CommitPace() if journal == "WAL" else None
        engine = sa.create_engine(
            sa.URL.create("sqlite", database=str(path)),
            connect_args={"timeout": busy_timeout_s},
            # A new connection costs more than what it is mostly asked, and each keeps pages of its own.
            pool_size=_KEPT_CONNECTIONS,
            max_overflow=_MORE_CONNECTIONS,
        )

        @sa.event.listens_for(engine, "connect")
        def on_connect(connection: sqlite3.Connection, _record: Any) -> None:
            # We begin transactions ourselves: sqlite3's own deferred BEGIN fails at its first write if
            # another program has written meanwhile, and can't be retried; BEGIN IMMEDIATE waits.
            connection.isolation_level = None
            # Off by default in SQLite, and set per connection.
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA synchronous = FULL")
            # Otherwise some builds of SQLite only unlink rows, and their bytes stay in the file: also those
            # of a saved text that a later one replaced, which erasing its student couldn't find any more.
            connection.execute("PRAGMA secure_delete = ON")

        @sa.event.listens_for(engine, "begin")
        def on_begin(connection: sa.Connection) -> None:
            write = connection.get_execution_options().get(_WRITE, False)
            if write and pace is not None:
                connection.exec_driver_sql(f"PRAGMA synchronous = {'NORMAL' if pace.hurried else 'FULL'}")
            connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")

        try:
            _set_journal(engine, journal)
        except BaseException:
            engine.dispose()
            raise
        return engine, pace


def _make_or_check(path: Path, journal: str) -> None:
    """Make a new file where there is none; refuse a file of 0 bytes, which somebody has emptied."""
    if path.exists():
        if path.stat().st_size == 0:
            raise StoreError(
                "the store is empty: the file has 0 bytes",
                where=str(path),
                next_step="restore it from a backup; if nothing was ever stored here, delete the file, and a "
                "new store is made",
            )
        return
    # What fails here is done, or refused with a reason, when the file is opened. The file gets its name only
    # when it has a first page, so that an empty file is never a new store of ours.
    with contextlib.suppress(OSError, sqlite3.Error), tempfile.TemporaryDirectory(dir=path.parent) as name:
        new = Path(name) / "store.db"
        begin_file(new, journal)
        os.link(new, path)  # fails where another process was faster


def begin_file(path: Path, journal: str) -> None:
    """Write the first page of a database without tables; an empty file keeps its permissions."""
    connection = sqlite3.connect(path)
    try:
        connection.execute(f"PRAGMA journal_mode = {journal}")
        connection.execute("PRAGMA user_version = 1")  # writes the first page
    finally:
        connection.close()


def _set_journal(engine: sa.Engine, journal: str) -> None:
    raw = engine.raw_connection()
    try:
        cursor = raw.cursor()
        if cursor.execute("PRAGMA journal_mode").fetchone()[0].upper() != journal:
            cursor.execute(f"PRAGMA journal_mode = {journal}")
        cursor.close()
    finally:
        raw.close()
