"""Turn what databases throw into :class:`engine.errors.StoreError` with a next step."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy as sa

from engine.errors import StoreError, UnstorableError
from engine.store.server_faults import KEPT, server_fault

__all__ = ["store_faults"]

# By SQLite's primary result code: what is wrong, and what to do.
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
    sqlite3.SQLITE_FULL: ("the disk is full", f"make room and run again: {KEPT}"),
    sqlite3.SQLITE_IOERR: (
        "the disk can't be read or written",
        f"check the disk, its quota and the file size limit, and run again: {KEPT}",
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
        "the file is no Softmark store",
        "give the path of a store, or move the file away so that a new store can be made",
    ),
}


def _sqlite_fault(error: sqlite3.Error, where: str) -> StoreError:
    code = getattr(error, "sqlite_errorcode", None)
    fallback = ("the store failed", "run `grade doctor`; the attempt stays ungraded and can be run again")
    what, next_step = _SQLITE.get((code or 0) & 0xFF, fallback)
    return StoreError(what, where=where, got=str(error), next_step=next_step)


def _server_fault(error: BaseException | None, where: str) -> StoreError:
    text = str(error).strip()
    what, next_step = server_fault(getattr(error, "sqlstate", None), text)
    return StoreError(what, where=where, got=text.splitlines()[0] if text else None, next_step=next_step)


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
    except (UnicodeError, ValueError, TypeError) as error:  # a row, or the file's own words, of other bytes
        what, next_step = _SQLITE[sqlite3.SQLITE_CORRUPT]
        got = str(error).splitlines()[0][:200]
        raise StoreError(what, where=where, got=got, next_step=next_step) from error
    except sa.exc.SQLAlchemyError as error:
        raise StoreError("the store failed", where=where, got=str(error).splitlines()[0]) from error
    except OSError as error:
        raise StoreError(
            "the store's file can't be used",
            where=where,
            got=error.strerror or str(error),
            next_step="check that the folder exists and that this user may write in it",
        ) from error
