"""Before a store of an earlier Softmark is migrated: what is going to happen, and a backup of it as it is.

Every command migrates a store when it opens it, in one transaction. A site runs unattended, and so says it
first and keeps the old state: :func:`outdated_schema` and :func:`back_up_outdated`.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
from contextlib import closing
from datetime import datetime
from pathlib import Path

import sqlalchemy as sa

from engine.errors import StoreError
from engine.store.database import open_database, schema_version
from engine.store.sql_tables import SCHEMA_VERSION
from engine.text.files import replacing, write_errors

_DUMP_S = (
    3600.0  # a store of a large course is dumped in seconds; a server that hangs isn't waited for forever
)


def outdated_schema(target: str | Path) -> str | None:
    """Return the revision of a store that would be migrated if it were opened; None if it wouldn't.

    Raises
    ------
    StoreError
        It can't be opened, or isn't a store.
    """
    if "://" not in str(target) and not Path(target).exists():
        return None
    database = open_database(target, migrate=False)
    try:
        with database.read() as connection:
            revision = schema_version(connection, database.where)
    finally:
        database.close()
    # One of a newer Softmark is refused when it is opened.
    return revision if revision is not None and revision < SCHEMA_VERSION else None


def back_up_outdated(target: str | Path, folder: Path, revision: str, now: datetime) -> Path:
    """Write a backup of a store that is going to be migrated, and return its file.

    An SQLite store is copied, and the copy checked; one on a PostgreSQL server is dumped by ``pg_dump``.

    Raises
    ------
    StoreError
        It can't be written; nothing was migrated.
    """
    is_server = "://" in str(target)
    path = folder / f"store-{revision}-{now:%Y%m%dT%H%M%S}.{'dump' if is_server else 'db'}"
    step = "make room, or back the store up otherwise and start with --no-backup"
    with write_errors("the backup can't be written", folder, next_step=step, kind=StoreError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with replacing(path, durable=True, private=True) as file:
            part = Path(file.name)
            if is_server:
                _dump(str(target), part)
            else:
                _copy(Path(target), part)
    return path


def _copy(source: Path, target: Path) -> None:
    database = open_database(source, migrate=False)
    try:
        database.save_as(target)
    finally:
        database.close()
    with closing(sqlite3.connect(target)) as copy:
        copy.execute("PRAGMA journal_mode = DELETE")
        lines = [line for (line,) in copy.execute("PRAGMA integrity_check")]
    if lines != ["ok"]:
        raise StoreError(
            "the store is damaged: it isn't migrated",
            where=str(source),
            got=lines[0],
            next_step="keep the file, and restore a backup",
        )


def _dump(target: str, path: Path) -> None:
    url = sa.make_url(target)
    program = shutil.which("pg_dump")
    no_backup = "back the database up otherwise, and start with --no-backup"
    if program is None:
        raise StoreError(
            "the store must be migrated, and pg_dump isn't installed here to back it up first",
            where=url.render_as_string(hide_password=True),
            next_step=f"install PostgreSQL's client programs (Debian: postgresql-client), or {no_backup}",
        )
    # A password in the command would be seen by everybody on the machine.
    environment = os.environ | ({"PGPASSWORD": str(url.password)} if url.password else {})
    address = url.set(drivername="postgresql", password=None).render_as_string(hide_password=False)
    command = [program, "--format=custom", f"--file={path}", f"--dbname={address}"]
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, timeout=_DUMP_S, check=False, text=True
        )
    except subprocess.TimeoutExpired:
        raise StoreError("pg_dump doesn't end", next_step=no_backup) from None
    if done.returncode != 0:
        raise StoreError(
            "pg_dump can't back the store up",
            where=url.render_as_string(hide_password=True),
            got=done.stderr.strip().splitlines()[0]
            if done.stderr.strip()
            else f"exit code {done.returncode}",
            next_step=no_backup,
        )
