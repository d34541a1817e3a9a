"""A file is replaced in one step or stays as it was."""

from __future__ import annotations

import fcntl
import io
import os
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from pathlib import Path

import pytest

from engine.errors import UsageError
from engine.text import files
from engine.text.files import (
    check_target,
    keep_work,
    read_bounded,
    replace_text,
    replacing,
    utf16_as_utf8,
    work_folder,
    zip_bytes,
)


@pytest.mark.parametrize("durable", [False, True])
def test_the_text_is_replaced_and_nothing_else_is_left(tmp_path: Path, durable: bool) -> None:
    path = tmp_path / "page.html"
    path.write_text("old")
    replace_text(path, "neu: \u00fc \ud800", durable=durable)
    assert path.read_bytes() == "neu: ü ?".encode()
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_replacement_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "page.html"
    path.write_text("old")

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(OSError, match="No space"):
        replace_text(path, "new", durable=True)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_block_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "pages.zip"
    path.write_bytes(b"old")
    with pytest.raises(KeyError), replacing(path) as file:
        file.write(b"half of it")
        raise KeyError
    assert path.read_bytes() == b"old"
    with replacing(path) as file:
        file.write(b"new")
        assert path.read_bytes() == b"old", "it takes the place at the end"
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


HOLDS = """
import time
import zipfile
from engine.text.files import work_folder
with work_folder() as folder:
    (folder / "hand-in.py").write_text("x = 1")
    print(folder, flush=True)
    time.sleep(100)
"""


def test_the_folder_of_a_killed_process_goes_and_a_live_ones_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    holders = [
        subprocess.Popen([sys.executable, "-c", HOLDS], stdout=subprocess.PIPE, text=True) for _ in range(2)
    ]
    try:
        folders = [Path(holder.stdout.readline().strip()) for holder in holders if holder.stdout]
        assert all((folder / "hand-in.py").exists() and tmp_path in folder.parents for folder in folders)
        holders[0].send_signal(signal.SIGKILL)
        holders[0].wait()
        assert folders[0].exists(), "nobody was there to remove it"
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        (tmp_path / "softmark-link").symlink_to(elsewhere)
        (tmp_path / "softmark-new").mkdir()  # made by a process that hasn't locked it yet
        (tmp_path / "softmark-old").mkdir()
        os.utime(tmp_path / "softmark-old", (time.time() - 10**6,) * 2)
        with work_folder() as own:
            assert own.is_dir() and not any(own.iterdir())
        left = {path.name for path in tmp_path.iterdir()}
        assert left == {"elsewhere", "softmark-link", "softmark-new", folders[1].parent.name}
        assert (folders[1] / "hand-in.py").exists()
    finally:
        for holder in holders:
            holder.kill()
            holder.communicate()


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="isn't a regular file"):
        read_bounded(tmp_path / "pipe", 10)
    with pytest.raises(IsADirectoryError):
        read_bounded(tmp_path, 10)
    (tmp_path / "file").write_bytes(b"0123456789ab")
    assert read_bounded(tmp_path / "file", 10) == b"0123456789a"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf16_is_known_with_and_without_its_mark(encoding: str) -> None:
    text = "quiz: week-1\nname: Zo\u00eb\n"
    assert utf16_as_utf8(text.encode(encoding)).decode("utf-8-sig") == text
    assert utf16_as_utf8(text.encode()) == text.encode()
    assert utf16_as_utf8(b"a\0\0\0" * 20) == b"a\0\0\0" * 20


def test_nobody_takes_a_folder_for_abandoned_while_it_is_being_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process starts, and looks round, at the worst moment: just before the lock is taken."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    lock, inside = fcntl.flock, False

    def flock(file: int, kind: int) -> None:
        nonlocal inside
        if not inside:
            inside = True
            with files.work_folder():
                pass
        lock(file, kind)

    monkeypatch.setattr(files.fcntl, "flock", flock)
    with files.work_folder() as folder:
        assert inside and folder.is_dir()


def test_no_fault_names_the_unfinished_file(tmp_path: Path) -> None:
    with pytest.raises(OSError) as missing:
        replace_text(tmp_path / "none" / "a.txt", "x")
    assert missing.value.filename == str(tmp_path / "none" / "a.txt") and ".part" not in str(missing.value)
    with pytest.raises(IsADirectoryError, match="it is a folder"):
        replace_text(tmp_path / ".." / tmp_path.name, "x")
    assert list(tmp_path.iterdir()) == []


def test_a_link_stays_a_link_and_what_is_no_file_stays_what_it_is(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    target, link = tmp_path / "far" / "a.txt", tmp_path / "link.txt"
    link.symlink_to("far/a.txt")
    replace_text(link, "one")  # it leads to nothing yet
    replace_text(link, "two")
    assert link.is_symlink() and target.read_text() == "two"
    # Nobody else's link decides where a key lands.
    replace_text(link, "key", private=True)
    assert not link.is_symlink() and target.read_text() == "two"
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for private in (False, True):
        with pytest.raises(OSError, match="isn't a regular file"):
            replace_text(pipe, "x", private=private)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["a.txt", "far", "link.txt", "pipe"]


@pytest.mark.parametrize("name", ["e" * 255, "\U0001f600" * 63])
def test_a_name_may_be_as_long_as_the_system_lets_it(tmp_path: Path, name: str) -> None:
    replace_text(tmp_path / name, "x")
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_two_threads_write_one_file_whole(tmp_path: Path) -> None:
    path, seen = tmp_path / "a", set[str]()

    def write(letter: str) -> None:
        for _ in range(30):
            with replacing(path) as file:
                for _ in range(8):
                    file.write(letter.encode() * 1000)
                    file.flush()
            seen.add(path.read_text())

    threads = [threading.Thread(target=write, args=(letter,)) for letter in "xy"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen <= {"x" * 8000, "y" * 8000}


def test_a_target_that_cant_be_written_is_known_before(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "taken").write_text("x")
    for name, reason in (
        ("-", "standard output"),
        ("pipe", "regular file"),
        ("none/a.txt", "no such folder"),
        ("taken/a.txt", "no such folder"),
        (".", "a folder"),
    ):
        with pytest.raises(OSError, match=reason):
            check_target(tmp_path / name)
    check_target(tmp_path / "taken")
    check_target(tmp_path / "new")


def test_work_is_kept_unless_it_is_the_same(tmp_path: Path) -> None:
    path = tmp_path / "a"
    keep_work(path, "x", next_step="another name")
    path.write_text("x")
    keep_work(path, "x", next_step="another name")
    for other in ("y", "xx", ""):
        path.write_text(other)
        with pytest.raises(UsageError, match="nothing is overwritten"):
            keep_work(path, "x", next_step="another name")
    path.unlink()
    for make in (Path.mkdir, lambda path: path.symlink_to("nowhere"), os.mkfifo):
        make(path)
        with pytest.raises(UsageError, match="nothing is overwritten"):
            keep_work(path, "x", next_step="another name")
        if path.is_dir():
            path.rmdir()
        else:
            path.unlink()


def test_an_archive_depends_on_nothing_but_its_files(monkeypatch: pytest.MonkeyPatch) -> None:
    contents = {"b/run.sh": b"#!/bin/sh\n", "a.txt": "\u00e4 \ud800"}
    data = zip_bytes(contents, modes={"b/run.sh": 0o755})
    monkeypatch.setattr(time, "time", lambda: 2e9)
    assert zip_bytes(contents, modes={"b/run.sh": 0o755}) == data
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.namelist() == list(contents), "in their order"
        assert archive.read("a.txt") == "\u00e4 ?".encode()
        entries = [(entry.external_attr >> 16, entry.date_time[0]) for entry in archive.infolist()]
    assert entries == [(stat.S_IFREG | 0o755, 1980), (stat.S_IFREG | 0o644, 1980)]
