"""When and in which order code was handed in reaches the store; the same file again is no other attempt."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from unittest import mock

import engine.sandbox
from engine.hand_ins import FileKind, HandedFile, IntakeResult, StudentFiles
from engine.marks.student_marks import in_order
from engine.model import CodeSubmission, GradeReport, Outcome
from engine.runner import Runner, SandboxOptions
from engine.runs import CodeExercises, grade_batch
from engine.store import Attempt, Store, open_store


class NoRunner:
    tier = "T1"

    def __call__(self, options: SandboxOptions, *, slots: int, sources: Iterable[str]) -> NoRunner:
        return self

    def __enter__(self) -> NoRunner:
        return self

    def __exit__(self, *error: object) -> None:
        pass


class Marking(CodeExercises):
    """Gives full marks, and notes what it was given."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def grade(self, item: str, submission: CodeSubmission, runner: Runner, student: str) -> GradeReport:
        self.seen.append(submission.source)
        return GradeReport(item, "v1", Outcome.RIGHT, 2.0, 2.0, (), student=student, tier="T1")

    def blank(self, item: str) -> tuple[str, float]:
        return "v1", 2.0


def handed(folder: Path, text: str, **more: object) -> HandedFile:
    data = text.encode()
    path = folder / f"{len(list(folder.iterdir())):03}.py"
    path.write_bytes(data)
    sha256 = hashlib.sha256(data).hexdigest()
    return HandedFile(path, path.name, FileKind.CODE, "softmax", sha256, **more)  # type: ignore[arg-type]


def grade(folder: Path, store: Store, files: list[HandedFile], workers: int = 1) -> tuple[Marking, int, int]:
    code = Marking()
    intake = IntakeResult((StudentFiles("ada", tuple(files)),))
    with mock.patch.object(engine.sandbox, "open_runner", NoRunner()):
        result = grade_batch(intake, store=store, code=code, workers=workers)
    return code, result.graded, result.graded_before


def attempts(store: Store) -> dict[str, Attempt]:
    return {attempt.filename: attempt for attempt in store.attempts(student="ada")}


def test_when_a_file_came_is_kept_with_its_attempt(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    moment = datetime(2026, 3, 1, 12, 30, 5, 113_384, UTC)
    files = [
        handed(folder, "a = 1\n", handed=moment, sequence=4),
        handed(folder, "a = 2\n", marked_late=True, sequence=7),
        handed(folder, "\0", handed=moment, marked_late=True, sequence=9),
    ]
    with open_store(tmp_path / "store.db") as store:
        grade(folder, store, files)
        found = {name: (a.handed, a.marked_late, a.sequence) for name, a in attempts(store).items()}
        unreadable = attempts(store)["002.py"].report.outcome
    assert found == {
        "000.py": (moment, False, 4),
        "001.py": (None, True, 7),
        "002.py": (moment, True, 9),
    }
    assert unreadable is Outcome.FORMAT_ERROR


def test_hand_ins_without_a_time_are_attempts_in_their_order(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    files = [handed(folder, f"a = {n}\n", sequence=n) for n in range(40)]
    with open_store(tmp_path / "store.db") as store:
        code, graded, kept = grade(folder, store, files[::-1], workers=8)
        ordered = [attempt.sequence for attempt in in_order(list(store.attempts(student="ada")))]
    assert (graded, kept) == (40, 0)
    assert code.seen == [f"a = {n}\n" for n in range(40)]
    assert ordered == list(range(40))


def test_the_same_file_again_counts_as_it_came_first(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    files = [
        handed(folder, "a = 1\n", sequence=0),
        handed(folder, "a = 1\n", sequence=1, marked_late=True),
        handed(folder, "a = 2\n", sequence=2),
    ]
    with open_store(tmp_path / "store.db") as store:
        code, graded, kept = grade(folder, store, files, workers=4)
        late = {name: attempt.marked_late for name, attempt in attempts(store).items()}
    assert (graded, kept) == (2, 1)
    assert code.seen == ["a = 1\n", "a = 2\n"]
    assert late == {"000.py": False, "002.py": False}
