"""Looking after a store: checks, backups, moves to another database."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Mapping
from pathlib import Path

from engine.errors import InputError, StoreError
from engine.files import replacing
from engine.store.checking import StoreCheck, check_database
from engine.store.copying import copy_rows
from engine.store.database import Database, open_database
from engine.store.faults import store_faults
from engine.store.sqlite_file import begin_file
from engine.store.tables import metadata

__all__ = ["Upkeep"]


class Upkeep:
    """Checks and copies of one store; others may go on grading meanwhile."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def check(self) -> StoreCheck:
        """Return whether everything in the store is sound; nothing is changed."""
        return check_database(self._database)

    def back_up(self, path: Path) -> Mapping[str, int]:
        """Write an SQLite store with the same rows, as they are at one moment; return the rows by table.

        The file is there whole and checked or not at all, and nobody but its owner may read it.

        Raises
        ------
        InputError
            A file of that name is there; it is left as it is.
        StoreError
            It can't be written, or the store is damaged.
        """
        if path.exists() or path.is_symlink():
            raise InputError(
                "a file of that name is there",
                where=str(path),
                next_step="choose another name; it is left as it is",
            )
        with store_faults(str(path)), replacing(path, durable=True, private=True) as file:
            part = Path(file.name)
            try:
                if self._database.is_server:
                    begin_file(part, "DELETE")  # a store without a byte is taken for one that was emptied
                    self.copy_to(part)
                else:
                    self._database.save_as(part)
                return _finished(part)
            finally:
                for kind in ("wal", "shm", "journal"):
                    with contextlib.suppress(OSError):
                        part.with_name(f"{part.name}-{kind}").unlink()

    def copy_to(self, target: str | Path) -> tuple[Mapping[str, int], str]:
        """Copy everything to another store, which must be empty or not there.

        Returns
        -------
        rows : mapping of str to int
            By table.
        where : str
            The other store, without a password.

        Raises
        ------
        StoreError
            As :func:`engine.store.copying.copy_rows`.
        """
        database = open_database(target)
        try:
            return copy_rows(self._database, database), database.where
        finally:
            database.close()


def _finished(part: Path) -> Mapping[str, int]:
    """Bring a new store to one file without a log beside it, and return its rows if the file is sound."""
    raw = sqlite3.connect(part, isolation_level=None)
    try:
        raw.execute("PRAGMA journal_mode = DELETE")
        said = [line for (line,) in raw.execute("PRAGMA integrity_check")]
        if said != ["ok"]:
            raise StoreError(
                "the store is damaged: a backup of it would be too",
                got=said[0],
                next_step="keep the file, and recover what can be with `sqlite3 FILE .recover`",
            )
        return {
            table.name: raw.execute(f'SELECT count(*) FROM "{table.name}"').fetchone()[0]
            for table in metadata.sorted_tables
        }
    finally:
        raw.close()
