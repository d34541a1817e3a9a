"""A file that gets the grader killed, again and again, is set aside; all others are graded."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import textwrap
from collections import Counter
from pathlib import Path

import pytest

from engine.errors import RunnerLostError
from engine.hand_ins import FileKind, HandedFile, IntakeResult, StudentFiles
from engine.model import Outcome
from engine.runs.batch import InFlight
from engine.store import open_store
from tests.unit.runs.test_batch_local import FakeCode, a_class, run

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name != "posix", reason="SIGKILL")]

# the file of eve fills the memory until the kernel ends the grader: a crash point in its place
SCRIPT = """
import os, signal, sys, time
from pathlib import Path
sys.path.insert(0, {root!r})
from engine.store import open_store
from tests.unit.runs.test_batch_local import FakeCode, a_class, run

folder = Path(sys.argv[1])

class Deadly(FakeCode):
    def grade(self, item, submission, runner, student):
        with (folder / "calls.txt").open("a") as file:
            file.write(student + "\\n")
        if student == "eve":
            time.sleep(0.2)
            os.kill(os.getpid(), signal.SIGKILL)
        if sys.argv[2] == "slow":
            time.sleep(0.15)
        return super().grade(item, submission, runner, student)

with open_store(folder / "store.db") as store:
    intake = a_class(folder, ada="right", bob="partial", eve="right", joe="right", zoe="wrong")
    result = run(intake, store, Deadly(), workers=2, notes=folder / "notes.jsonl")
    aside = [u.student for u in result.ungraded if u.set_aside]
    print(result.graded, result.graded_before, result.remaining, result.exit_code, aside)
"""


def go(folder: Path, pace: str = "fast") -> tuple[int, str]:
    """Return exit status and output of one run of a grader."""
    code = textwrap.dedent(SCRIPT).format(root=str(Path(__file__).parents[3]))
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder), pace], capture_output=True, text=True, check=False
    )
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return done.returncode, done.stdout.strip()


def test_a_file_that_kills_the_grader_twice_is_set_aside_and_all_others_are_graded(tmp_path: Path) -> None:
    assert go(tmp_path, "slow")[0] == -signal.SIGKILL
    assert go(tmp_path)[0] == -signal.SIGKILL
    status, said = go(tmp_path)
    assert status == 0
    assert said.endswith("0 3 ['eve']"), said
    calls = Counter((tmp_path / "calls.txt").read_text().split())
    assert calls["eve"] == 2
    with open_store(tmp_path / "store.db") as store:
        assert {best.student for best in store.best_scores()} == {"ada", "bob", "joe", "zoe"}
        (attempt,) = store.attempts(student="eve")
    assert attempt.report.outcome is Outcome.UNGRADED
    assert attempt.report.score is None
    assert "set aside" in (attempt.reason or "")
    # and it stays so
    assert go(tmp_path)[1].endswith("0 3 ['eve']")
    assert Counter((tmp_path / "calls.txt").read_text().split())["eve"] == 2


def test_who_was_only_in_hand_is_graded_alone_and_keeps_no_note(tmp_path: Path) -> None:
    go(tmp_path, "slow")
    lost = [json.loads(line) for line in (tmp_path / "notes.jsonl").read_text().splitlines()]
    assert lost[-1][0] == "begin"
    go(tmp_path)
    calls = (tmp_path / "calls.txt").read_text().split()
    assert calls[-1] == "eve", "suspects come last"
    go(tmp_path)
    (noted,) = (tmp_path / "notes.jsonl").read_text().splitlines()
    assert json.loads(noted)[:2] == ["lost", "eve"]
    with open_store(tmp_path / "store.db") as store:
        assert {best.student for best in store.best_scores()} == {"ada", "bob", "joe", "zoe"}


def test_a_run_that_ends_by_itself_leaves_no_note(tmp_path: Path) -> None:
    notes = tmp_path / "notes.jsonl"
    with open_store(tmp_path / "store.db") as store:
        result = run(a_class(tmp_path, ada="right"), store, FakeCode(), notes=notes)
    assert result.exit_code == 0
    assert not notes.exists()


def test_notes_that_are_damaged_or_in_use_stop_nothing(tmp_path: Path) -> None:
    path = tmp_path / "notes.jsonl"
    path.write_bytes(
        b'\xff\n["begin", "ada"]\n[]\n["lost", "a", "", "x", "many"]\n["begin", "bob", "i", "s", 1]\n{'
    )
    first = InFlight(path)
    assert first.losses(("bob", "i", "s")) == 1
    second = InFlight(path)  # another run at the same time
    with second.noting(("joe", "i", "s")):
        assert "joe" not in path.read_text()
    second.close()
    with first.noting(("bob", "i", "s")):
        pass
    first.close()
    assert not path.exists()


def test_notes_that_can_not_be_written_stop_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_store(tmp_path / "store.db") as store:
        intake = a_class(tmp_path, ada="right")
        assert run(intake, store, FakeCode(), notes=tmp_path / "nowhere" / "notes.jsonl").exit_code == 0

    def full(fd: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("engine.runs.batch.os.write", full)
    flight = InFlight(tmp_path / "notes.jsonl")
    ran = False
    with flight.noting(("ada", "softmax", "s")):
        ran = True
    flight.close()
    assert ran
    assert not (tmp_path / "notes.jsonl").exists()


def test_a_file_stays_set_aside_and_is_recorded_once(tmp_path: Path) -> None:
    notes = tmp_path / "notes.jsonl"
    intake = a_class(tmp_path, eve="right", joe="right")
    (file,) = intake.students[0].files
    notes.write_text(json.dumps(["lost", "eve", "softmax", file.sha256, 2]) + "\n")
    code = FakeCode()
    stored = []
    with open_store(tmp_path / "store.db") as store:
        for _ in range(2):
            assert [(u.student, u.set_aside) for u in run(intake, store, code, notes=notes).ungraded] == [
                ("eve", True)
            ]
            stored.append(list(store.attempts(student="eve")))
        assert stored[0] == stored[1], "nothing was written again"
        assert code.calls == {("joe", "softmax"): 1}
        notes.unlink()
        assert run(intake, store, code, notes=notes).exit_code == 0
        assert {best.student for best in store.best_scores()} == {"eve", "joe"}


def test_a_quiz_file_after_one_that_is_set_aside_waits(tmp_path: Path) -> None:
    """As the first that is read, it would earn what only a first attempt earns."""
    notes = tmp_path / "notes.jsonl"
    paths = [tmp_path / name for name in ("a.yaml", "b.yaml")]
    files = []
    for number, path in enumerate(paths):
        path.write_text(f"# {path.name}\n")
        files.append(HandedFile(path, path.name, FileKind.QUIZ, None, f"{number}" * 64, sequence=number))
    notes.write_text(json.dumps(["lost", "ada", "", files[0].sha256, 2]) + "\n")
    with open_store(tmp_path / "store.db") as store:
        intake = IntakeResult((StudentFiles("ada", tuple(files)),))
        result = run(intake, store, FakeCode(), notes=notes)
        assert list(store.attempts()) == []
    assert [(u.name, u.set_aside) for u in result.ungraded] == [("a.yaml", True), ("b.yaml", False)]
    assert "handed in before this one is set aside" in result.ungraded[1].reason
    assert (result.remaining, result.exit_code) == (0, 3)


def test_what_is_ungraded_twice_is_told_to_be(tmp_path: Path) -> None:
    code = FakeCode()
    code.faults["ada"] = RunnerLostError("the machine is short of memory")
    with open_store(tmp_path / "store.db") as store:
        intake = a_class(tmp_path, ada="right", bob="right")
        (first,) = run(intake, store, code).ungraded
        (second,) = run(intake, store, code).ungraded
    assert not first.again
    assert second.again
    assert "short of memory" in second.reason
    assert "ungraded before, too" in second.reason
