"""A student's quiz files are graded one after the other, in the order in which they were handed in."""

from __future__ import annotations

import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest

from engine.hand_ins import FileKind, HandedFile, IntakeResult, StudentFiles
from engine.runs import batch as local
from engine.runs import grade_batch
from engine.runs.grade_file import FileResult
from engine.store import Store, open_store


def quiz_file(name: str, hour: int | None = None, sequence: int = 0) -> HandedFile:
    handed = None if hour is None else datetime(2026, 3, 1, hour, tzinfo=UTC)
    return HandedFile(Path(name), name, FileKind.QUIZ, None, name, handed=handed, sequence=sequence)


class FakeGrader:
    """Writes down who is graded when, and that nobody's quizzes are graded twice at once."""

    order: dict[str, list[str]]
    busy: set[str]
    overlaps: list[str]
    lock = threading.Lock()

    def __init__(self, store: Store, *anything: object) -> None:
        self.store = store

    def graded_among(self, files: object) -> set[object]:
        return set()

    def grade(self, student: str, file: HandedFile, runner: object) -> FileResult:
        with self.lock:
            self.overlaps += [student] if student in self.busy else []
            self.busy.add(student)
            self.order.setdefault(student, []).append(file.name)
        time.sleep(0.005)
        with self.lock:
            self.busy.discard(student)
        return FileResult(student, file)


def test_quiz_files_go_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    FakeGrader.order, FakeGrader.busy, FakeGrader.overlaps = {}, set(), []
    monkeypatch.setattr(local, "FileGrader", FakeGrader)
    files = (
        quiz_file("undated-2", sequence=2),
        quiz_file("noon", 12),
        quiz_file("undated-1", sequence=1),
        quiz_file("morning-2", 9, 1),
        quiz_file("morning-1", 9, 0),
    )
    intake = IntakeResult(tuple(StudentFiles(student, files) for student in ("ada", "bob", "eve")))
    with open_store(tmp_path / "store.db") as store:
        result = grade_batch(
            intake,
            store=store,
            code=SimpleNamespace(),  # type: ignore[arg-type]
            workers=6,
        )
    assert result.graded == 15 and FakeGrader.overlaps == []
    expected = ["morning-1", "morning-2", "noon", "undated-1", "undated-2"]
    assert FakeGrader.order == {"ada": expected, "bob": expected, "eve": expected}
