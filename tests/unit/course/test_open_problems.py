"""Which problems of earlier batches are still open."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from engine.hand_ins import FileKind, HandedFile, IntakeProblem, IntakeResult, StudentFiles
from engine.marks.open_problems import OPEN_PROBLEMS_FILE, OpenProblems
from engine.model import CodeSubmission, GradeReport, Mode, Outcome
from engine.store import Attempt, Store, open_store

UNREAD = IntakeProblem("ada/softmax.py", "line 1: no code", "", "ada", known_as=("softmax.py", "softmax"))
NO_FILES = IntakeResult(students=())


@pytest.fixture
def store(tmp_path: Path):
    with open_store(tmp_path / "store.db") as opened:
        yield opened


def handed(name: str, sequence: int) -> HandedFile:
    known_as = ("softmax.py", "softmax")
    return HandedFile(Path(name), name, FileKind.CODE, "softmax", name, sequence=sequence, known_as=known_as)


def of_ada(*files: HandedFile) -> IntakeResult:
    return IntakeResult(students=(StudentFiles("ada", files),))


def graded(store: Store, item: str, outcome: Outcome, filename: str = "x.py", **more: datetime) -> None:
    score = None if outcome is Outcome.FORMAT_ERROR else 0.0
    report = GradeReport(item, "v1", outcome, score, 10.0, student="ada", mode=Mode.MARKS, tier="T1")
    submission = CodeSubmission("", filename, f"{item}{outcome}{filename}")
    attempt = Attempt.of_code("ada", submission, report, started=datetime.now(UTC))
    store.record(replace(attempt, **more))


def test_a_readable_attempt_afterwards_settles_it(store: Store, tmp_path: Path) -> None:
    kept = OpenProblems(tmp_path / OPEN_PROBLEMS_FILE)
    graded(store, "softmax", Outcome.WRONG, "before.py", started=datetime.now(UTC) - timedelta(hours=1))
    kept.update(NO_FILES, [UNREAD])
    graded(store, "softmax", Outcome.FORMAT_ERROR, "unreadable.py")
    graded(store, "sdpa", Outcome.RIGHT, "sdpa.py")
    assert kept.still_open(store) == (UNREAD,)
    graded(store, "softmax", Outcome.WRONG, "mended.py")
    assert kept.still_open(store) == ()
    kept.update(NO_FILES, [UNREAD])  # the old download again
    assert kept.still_open(store) == ()
    newer = replace(UNREAD, where="ada/softmax-2.py")
    kept.update(NO_FILES, [newer])
    assert kept.still_open(store) == (newer,)


@pytest.mark.parametrize("filename", ["hw 2/notes.py", "lovelaceada_47_9001_notes.py"])
def test_a_file_of_that_name_settles_it(store: Store, tmp_path: Path, filename: str) -> None:
    kept = OpenProblems(tmp_path / OPEN_PROBLEMS_FILE)
    notes = IntakeProblem("ada/notes.py", "there is no code exercise of this name", "", "ada")
    kept.update(NO_FILES, [replace(notes, known_as=("notes.py",)), replace(notes, where="ada/other.py")])
    graded(store, "softmax", Outcome.RIGHT, filename)
    assert [problem.where for problem in kept.still_open(store)] == ["ada/other.py"]


@pytest.mark.parametrize(("unread", "is_open"), [(1, False), (2, True)])
def test_of_two_files_in_one_download_the_later_one_holds(
    store: Store, tmp_path: Path, unread: int, is_open: bool
) -> None:
    kept = OpenProblems(tmp_path / OPEN_PROBLEMS_FILE)
    problem = replace(UNREAD, where=f"ada/{unread}.py")
    kept.update(of_ada(handed("ada/1.py", 1), handed("ada/2.py", 2)), [problem])
    assert kept.still_open(store) == ((problem,) if is_open else ())


def test_of_a_file_that_a_batch_sees_its_own_word_holds(store: Store, tmp_path: Path) -> None:
    kept = OpenProblems(tmp_path / OPEN_PROBLEMS_FILE)
    row = IntakeProblem("paper.csv:7", "nobody has this id")
    kept.update(NO_FILES, [UNREAD, row])
    stopped = of_ada(handed(UNREAD.where, 1))
    kept.update(stopped, [], tables=["paper.csv"], is_whole=False)
    assert kept.still_open(store) == (row, UNREAD)
    kept.update(NO_FILES, [], tables=["paper.csv"])
    assert kept.still_open(store) == (UNREAD,)
    kept.update(stopped, [])
    assert kept.still_open(store) == ()
    assert not (tmp_path / OPEN_PROBLEMS_FILE).exists()


def test_who_is_graded_without_a_line_in_the_roster_is_no_problem_that_stays(
    store: Store, tmp_path: Path
) -> None:
    kept = OpenProblems(tmp_path / OPEN_PROBLEMS_FILE)
    told = IntakeProblem("ada", "this student isn't in the roster; graded as ada", unjoined=True)
    refused = IntakeProblem("bob", "this student isn't in the roster", unjoined=True)
    kept.update(of_ada(handed("ada/1.py", 1)), [told, refused])
    assert kept.still_open(store) == (refused,)
