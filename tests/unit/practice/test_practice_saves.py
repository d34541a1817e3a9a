"""Every way of saving is one reading, whatever the editor does on the way."""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.practice import session as saves
from engine.practice.session import SavedFile, readings
from engine.text.watch import LOOK_EVERY_MS

PATIENCE_S = 60.0


class Following:
    """Readings of one file, taken by a thread as the command takes them."""

    def __init__(self, path: Path) -> None:
        self._found: queue.Queue[SavedFile] = queue.Queue()
        self._ended = False
        self._path = path
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        self.first = self.next()

    def _run(self) -> None:
        for reading in readings(self._path):
            if self._ended:
                return
            self._found.put(reading)

    def next(self) -> SavedFile:
        return self._found.get(timeout=PATIENCE_S)

    def source(self) -> str:
        reading = self.next()
        assert reading.fault is None
        assert reading.submission is not None
        return reading.submission.source

    def nothing_for(self, seconds: float) -> bool:
        try:
            self._found.get(timeout=seconds)
        except queue.Empty:
            return True
        return False

    def end(self) -> None:
        """Save once more, which ends the thread."""
        self._ended = True
        self._path.parent.mkdir(exist_ok=True)
        self._path.write_text(f"# the end {time.monotonic_ns()}\n")
        self._thread.join(PATIENCE_S)
        assert not self._thread.is_alive()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "folder" / "mine.py"
    path.parent.mkdir()
    path.write_text("a = 0\n")
    return path


@pytest.fixture
def following(path: Path) -> Iterator[Following]:
    found = Following(path)
    yield found
    found.end()


def by_rename(path: Path, text: str) -> None:
    beside = path.with_name(".mine.swap")
    beside.write_text(text)
    beside.replace(path)


def test_the_first_reading_is_what_is_there(following: Following) -> None:
    assert following.first.submission is not None
    assert following.first.submission.source == "a = 0\n"
    assert not following.first.is_repeat


def test_a_save_in_place_and_one_by_rename_are_noticed(following: Following, path: Path) -> None:
    for number in range(1, 6):
        save = path.write_text if number % 2 else lambda text: by_rename(path, text)
        save(f"a = {number}\n")
        assert following.source() == f"a = {number}\n"
    assert following.nothing_for(0.2)


def test_an_editor_that_empties_the_file_first_is_waited_for(following: Following, path: Path) -> None:
    with path.open("w") as file:
        file.flush()
        time.sleep(0.1)
        file.write("a = 1\n")
    assert following.source() == "a = 1\n"


def test_a_file_that_is_emptied_between_a_look_and_the_reading_is_read_again(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = saves.read_code_file
    sizes: list[int] = []

    def interrupted(file: Path) -> object:
        sizes.append(file.stat().st_size)
        if len(sizes) == 1:
            file.write_text("")
            threading.Timer(0.05, file.write_text, ["a = 11\n"]).start()
        return read(file)

    monkeypatch.setattr(saves, "read_code_file", interrupted)
    first = next(readings(path))
    assert first.submission is not None
    assert first.submission.source == "a = 11\n"
    assert len(sizes) > 1


def test_an_editor_that_moves_the_file_away_first_is_waited_for(following: Following, path: Path) -> None:
    path.rename(path.with_suffix(".py~"))
    time.sleep(0.1)
    path.write_text("a = 1\n")
    assert following.source() == "a = 1\n"


def test_a_file_that_stays_away_is_told_once_and_noticed_when_it_is_back(
    following: Following, path: Path
) -> None:
    path.unlink()
    gone = following.next()
    assert gone.submission is None
    assert gone.fault is not None
    assert gone.fault.what == "the file is gone"
    assert following.nothing_for(1.2)
    path.write_text("a = 1\n")
    assert following.source() == "a = 1\n"


def test_a_folder_that_is_made_anew_is_watched_again(following: Following, path: Path) -> None:
    path.unlink()
    path.parent.rmdir()
    assert following.next().fault is not None
    path.parent.mkdir()
    path.write_text("a = 1\n")
    assert following.source() == "a = 1\n"


def test_what_cannot_be_read_is_a_reading_too(following: Following, path: Path) -> None:
    for content, word in ((b"", "empty"), (b"# \xff", "UTF-8"), (b"x" * 2**21, "too large")):
        by_rename(path, "a = 1\n")
        assert following.source() == "a = 1\n"
        path.write_bytes(content)
        fault = following.next().fault
        assert fault is not None
        assert word in fault.what
        path.write_text("a = 0\n")
        assert following.source() == "a = 0\n"


def test_a_save_without_a_change_is_a_repeat(following: Following, path: Path) -> None:
    by_rename(path, "a = 0\n")
    reading = following.next()
    assert reading.is_repeat
    assert reading.submission == following.first.submission


def test_other_files_in_the_folder_are_no_saves(following: Following, path: Path) -> None:
    (path.parent / "notes.txt").write_text("x")
    (path.parent / "other.py").write_text("x = 1\n")
    assert following.nothing_for(1.2)


def test_a_file_beside_it_that_it_imports_counts_as_a_save(path: Path) -> None:
    path.write_text("from other import a\n")
    other = path.with_name("other.py")
    other.write_text("a = 1\n")
    following = Following(path)
    assert following.first.submission is not None
    assert following.first.submission.modules == {"other": "a = 1\n"}
    by_rename(other, "a = 2\n")
    reading = following.next()
    assert reading.submission is not None
    assert reading.submission.modules == {"other": "a = 2\n"}
    following.end()


def test_a_save_while_the_one_before_is_graded_is_not_lost(path: Path) -> None:
    found = readings(path)
    next(found)
    by_rename(path, "a = 1\n")  # nobody waits for events now
    second = next(found)
    assert second.submission is not None
    assert second.submission.source == "a = 1\n"


def test_a_link_is_followed_to_the_folder_of_its_file(tmp_path: Path, path: Path) -> None:
    link = tmp_path / "link.py"
    link.symlink_to(path)
    following = Following(link)
    by_rename(path, "a = 1\n")
    assert following.source() == "a = 1\n"
    following.end()


@pytest.mark.parametrize("fault", [OSError("too many watches"), RuntimeError("no events here")])
def test_without_events_the_file_is_looked_at(
    path: Path, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    import watchfiles

    def refuse(*folders: object, **options: object) -> Iterator[object]:
        raise fault

    monkeypatch.setattr(watchfiles, "watch", refuse)
    following = Following(path)
    by_rename(path, "a = 1\n")
    assert following.source() == "a = 1\n"
    following.end()


def test_network_folders_without_events_are_looked_at_too(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import watchfiles

    def silent(*folders: object, **options: object) -> Iterator[set[object]]:
        while True:
            time.sleep(0.02)
            yield set()

    monkeypatch.setattr(watchfiles, "watch", silent)
    following = Following(path)
    by_rename(path, "a = 1\n")
    assert following.source() == "a = 1\n"
    os.utime(path, (1, 1))
    assert following.next().is_repeat
    following.end()
    assert LOOK_EVERY_MS <= 1000
