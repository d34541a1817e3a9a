"""A full or read-only disk, a store that somebody holds: said clearly, nothing lost, done later."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from tests.durability.disturbed import Class
from tests.durability.graders import End
from tests.live.postgres import server

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox of marks runs on Linux")


class Disk:
    """A small file system of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._filler = folder / "filler"

    def fill(self, left: int) -> None:
        """Leave only so many bytes."""
        free = os.statvfs(self.folder).f_bavail * os.statvfs(self.folder).f_frsize
        self._filler.write_bytes(b"\0" * (free - left))

    def make_room(self) -> None:
        self._filler.unlink()

    def remount(self, how: str) -> None:
        subprocess.run(["mount", "-o", f"remount,{how}", self.folder], check=True)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    folder = tmp_path / "disk"
    folder.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "none", folder], capture_output=True)
    if made.returncode:
        pytest.skip("this machine's tests may not mount")
    try:
        yield Disk(folder)
    finally:
        subprocess.run(["umount", folder], check=True)


class Elsewhere:
    """The class with its course or its results in another folder."""

    def __init__(self, a_class: Class, *, course: Path | None = None, out: Path | None = None) -> None:
        a_class.begin_again(on_server=False)
        self._class = a_class
        self.course = course or a_class.room.course
        if course is not None:
            shutil.copytree(a_class.room.course, course)
        self.out = out or a_class.room.out

    def grade(self, **how: object) -> End:
        words = ["grade", "batch", self._class.room.handed_in, "--course", self.course, "--out", self.out]
        return self._class.graders.run(*words, "--json", "--workers", 2, **how)

    def stored(self) -> int:
        """Return how many attempts are stored, each with the very report that it should have."""
        found = self._class.room.attempts(self.course / ".softmark" / "store.db")
        assert {key: a.report for key, a in found.items()} == {k: self._class.wanted[k].report for k in found}
        return len(found)

    def finish(self) -> None:
        end = self.grade()
        assert end.code == 0, end.said
        books = {name: (self.out / name).read_bytes() for name in self._class.books}
        assert books == self._class.books
        assert self.stored() == len(self._class.wanted)
        assert not [path for path in self.out.rglob("*") if path.name.endswith(".part")]


def test_a_full_disk_under_the_store(a_class: Class, disk: Disk) -> None:
    there = Elsewhere(a_class, course=disk.folder / "course")
    disk.fill(left=200_000)
    end = there.grade()
    assert end.code == 3
    assert "the disk is full" in end.said
    assert "make room and run again: nothing that was stored before is lost" in end.said
    disk.make_room()
    assert there.stored() < len(a_class.wanted)
    there.finish()


def test_a_full_disk_under_the_results(a_class: Class, disk: Disk) -> None:
    there = Elsewhere(a_class, out=disk.folder / "out")
    disk.fill(left=200_000)
    end = there.grade()
    assert end.code == 3
    assert "the report can't be written" in end.said and "the grades are in the store" in end.said
    assert there.stored() == len(a_class.wanted)
    disk.make_room()
    there.finish()


def test_a_limit_on_the_size_of_files(a_class: Class) -> None:
    there = Elsewhere(a_class)
    end = there.grade(file_bytes=400_000)
    assert end.code == 3
    assert "the disk is full" in end.said or "the disk can't be read or written" in end.said
    assert "nothing that was stored before is lost" in end.said
    before = there.stored()
    assert before < len(a_class.wanted)
    there.finish()
    assert max(path.stat().st_size for path in there.out.rglob("*")) > 33_000
    shutil.rmtree(there.out)
    end = there.grade(file_bytes=33_000)  # a file beside an open store has 32 KiB, pages have more
    assert end.code == 3 and "the grades are in the store" in end.said
    there.finish()


def test_a_read_only_folder_under_the_store(a_class: Class, disk: Disk) -> None:
    there = Elsewhere(a_class, course=disk.folder / "course")
    disk.remount("ro")
    end = there.grade()
    assert end.code == 3
    assert "the store is read-only" in end.said or "the store can't be opened" in end.said
    assert "next: " in end.said
    disk.remount("rw")
    assert there.stored() == 0
    there.finish()


def test_a_read_only_folder_under_the_results(a_class: Class, disk: Disk) -> None:
    there = Elsewhere(a_class, out=disk.folder / "out")
    disk.remount("ro")
    end = there.grade()
    assert end.code == 2, "said before anything is graded"
    assert "the folder for the results can't be made" in end.said
    assert there.stored() == 0
    disk.remount("rw")
    there.out.mkdir()
    disk.remount("ro")
    end = there.grade()
    assert end.code == 3 and "the grades are in the store" in end.said
    disk.remount("rw")
    there.finish()


def test_a_locked_file(a_class: Class) -> None:
    there = Elsewhere(a_class)
    holder = sqlite3.connect(there.course / ".softmark" / "store.db", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    end = there.grade(busy_timeout_s=0.3)
    assert end.code == 3
    assert "the store is locked by another program" in end.said and "run again" in end.said
    assert there.stored() == 0
    holder.execute("ROLLBACK")
    holder.close()
    there.finish()


def test_a_locked_table_on_a_server(a_class: Class) -> None:
    a_class.begin_again(on_server=True)
    assert isinstance(a_class.store, str)
    database = sa.create_engine(a_class.store.replace("postgresql:", "postgresql+psycopg:"))
    words = a_class.room.command("--workers", 2)
    with database.begin() as connection:
        connection.exec_driver_sql("LOCK TABLE attempts IN EXCLUSIVE MODE")
        end = a_class.graders.run(*words, store=a_class.store, busy_timeout_s=0.3)
    database.dispose()
    assert end.code == 3
    assert "the store is locked by another program" in end.said and "run again" in end.said
    a_class.finish()


def test_a_server_that_goes_away_in_the_middle(a_class: Class) -> None:
    a_class.begin_again(on_server=True)
    sandbox = a_class.graders.sandbox

    def stop() -> None:
        while len(sandbox.sources) < 3:
            time.sleep(0.005)
        server().stop(at_once=True)

    sandbox.sources.clear()
    stopper = threading.Thread(target=stop)
    stopper.start()
    try:
        words = a_class.room.command("--workers", 2)
        end = a_class.graders.run(*words, store=a_class.store)
        stopper.join()
        assert end.code == 3
        assert "database server" in end.said and "nothing that was stored before is lost" in end.said
    finally:
        stopper.join()
        server().start()
    a_class.finish()
