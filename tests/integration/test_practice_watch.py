"""``grade watch`` as a student runs it: a process of its own, the real sandbox, real saves, Ctrl-C."""

from __future__ import annotations

import json
import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import pytest

ROOT = Path(__file__).parents[2]
RIGHT = (ROOT / "problems/code/softmax/solution_numpy.py").read_text(encoding="utf-8")
NO_SHIFT = """
import numpy as np

def softmax(x, axis=-1):
    e = np.exp(x)
    return e / e.sum(axis=axis, keepdims=True)
"""
TRANSPOSED = NO_SHIFT.replace("axis=axis", "axis=0")
PATIENCE_S = 90.0
# runs the command on a machine whose kernel has no layer
WITHOUT_LAYERS = """
import sys
from engine.sandbox import tiers
missing = tiers.MissingLayer("landlock", "this kernel has none", "use another")
tiers.missing_layers = lambda tier: () if tier == "T3" else (missing,)
from engine.commands import main
main(sys.argv[1:])
"""


class Watch:
    """A running ``grade watch`` on a pipe."""

    def __init__(self, folder: Path, *arguments: str, program: tuple[str, ...] = ()) -> None:
        program = program or (str(ROOT / "cli.py"),)
        environment = os.environ | {"SOFTMARK_HOME": str(folder / "home"), "PYTHONPATH": str(ROOT)}
        self._process = subprocess.Popen(
            [sys.executable, *program, "watch", *arguments],
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        assert self._process.stdout and self._process.stderr
        self._lines: queue.Queue[str | None] = queue.Queue()
        self.told: list[str] = []
        self._threads = [
            threading.Thread(target=self._read, args=(self._process.stdout, self._lines.put)),
            threading.Thread(target=self._read, args=(self._process.stderr, self.told.append)),
        ]
        for thread in self._threads:
            thread.start()

    def _read(self, stream: IO[str], take: Callable[[str], object]) -> None:
        for line in stream:
            take(line.rstrip("\n"))
        stream.close()
        if stream is self._process.stdout:
            self._lines.put(None)

    def line(self) -> str:
        line = self._lines.get(timeout=PATIENCE_S)
        assert line is not None, self.told
        return line

    def block(self) -> list[str]:
        lines = []
        while line := self.line():
            lines.append(line)
        assert lines
        return lines

    def document(self) -> dict[str, Any]:
        document = json.loads(self.line())
        assert isinstance(document, dict)
        return document

    def nothing_for(self, seconds: float) -> bool:
        try:
            self._lines.get(timeout=seconds)
        except queue.Empty:
            return True
        return False

    def interrupt(self) -> int:
        self._process.send_signal(signal.SIGINT)
        return self._process.wait(PATIENCE_S)

    def stop(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        for thread in self._threads:
            thread.join(PATIENCE_S)


Starter = Callable[..., Watch]


@pytest.fixture
def watch(tmp_path: Path) -> Iterator[Starter]:
    started: list[Watch] = []

    def start(*arguments: str, **more: Any) -> Watch:
        started.append(Watch(tmp_path, *arguments, **more))
        return started[-1]

    yield start
    for found in started:
        found.stop()
        assert "Traceback" not in "\n".join(found.told)


def by_rename(path: Path, text: str | bytes) -> None:
    beside = path.with_name(f".{path.name}.swap")
    beside.write_bytes(text if isinstance(text, bytes) else text.encode())
    beside.replace(path)


def test_every_save_is_graded_and_tells_what_changed(watch: Starter, tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(NO_SHIFT)
    running = watch("softmax", "mine.py")
    first = running.block()
    assert "softmax: partial — 7.5 of 10 points" in first[0]
    assert [line.split()[2] for line in first if line.startswith("✗")] == ["shift", "stable", "rows-apart"]
    passing, total = next(re.findall(r"^  (\d+) of (\d+) checks pass$", line) for line in first[4:])[0]
    assert int(total) - int(passing) == 3
    assert any(line.startswith("→ no-max-shift: ") for line in first)
    assert first[-5:-2] == ["    import numpy as np", "    x = np.array([1000.0])", "    softmax(x)"]
    assert "nan" in first[-2]

    by_rename(path, RIGHT)
    second = running.block()
    assert "softmax: right — 10 of 10 points (was 7.5)" in second[0]
    assert second[1:] == ["  now pass: shift, stable, rows-apart"]

    path.write_text(TRANSPOSED)  # in place
    third = running.block()
    assert "(was 10)" in third[0]
    assert any(line.startswith("  no longer pass: ") and "values" in line for line in third)
    assert any(line.startswith("→ ") for line in third)
    assert running.nothing_for(0.5)
    assert running.interrupt() == 1
    assert running.told[0] == "watching mine.py; nothing is recorded; Ctrl-C ends"


def test_what_cannot_be_graded_is_told_and_the_next_save_mends_it(watch: Starter, tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("")
    running = watch("softmax", "mine.py")
    assert "not graded" in (said := running.block())[0]
    assert "the file is empty" in said[0]

    by_rename(path, RIGHT)
    assert "right" in running.block()[0]
    path.write_text(RIGHT[: RIGHT.index("softmax(") + 9])  # half written
    half = running.block()
    assert "unreadable — no mark" in half[0]
    assert "Python can't read the file" in half[1]
    assert not any("no longer pass" in line for line in half)

    by_rename(path, b"# na\xefve\n" + RIGHT.encode())
    assert "isn't valid UTF-8" in running.block()[0]
    path.unlink()
    assert "the file is gone" in running.block()[0]
    by_rename(path, RIGHT)
    # compared with the last result, not with what couldn't be read
    assert running.block()[1:] == ["  the same checks pass as before"]
    by_rename(path, RIGHT)
    assert running.block()[0].endswith("saved, but the file is as before")
    assert running.interrupt() == 0


def test_json_gives_one_object_a_line(watch: Starter, tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(RIGHT)
    running = watch("softmax", "mine.py", "--json")
    first = running.document()
    assert (first["event"], first["save"]) == ("graded", 1)
    assert first["changes"] == {"now_pass": [], "no_longer_pass": [], "score_before": None}
    assert (first["report"]["verdict"], first["report"]["mode"]) == ("right", "practice")
    assert first["milliseconds"] > 0

    by_rename(path, NO_SHIFT)
    second = running.document()
    assert second["changes"]["no_longer_pass"] == ["shift", "stable", "rows-apart"]
    assert [found["misconception"] for found in second["report"]["diagnosis"]] == ["no-max-shift"]
    assert second["report"]["counterexample"]["got"] == "array([nan])"

    path.write_bytes(b"")
    third = running.document()
    assert (third["event"], third["save"], third["error"]["kind"]) == ("unreadable", 3, "SubmissionError")
    assert running.interrupt() == 2
    assert running._lines.get(timeout=PATIENCE_S) is None


def test_an_endless_loop_is_stopped_by_its_limit_or_by_ctrl_c(watch: Starter, tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(NO_SHIFT)
    running = watch("softmax", "mine.py", "--json")
    assert running.document()["report"]["verdict"] == "partial"
    by_rename(path, "def softmax(x, axis=-1):\n    while True: pass\n")
    report = running.document()["report"]
    assert (report["verdict"], report["score"]) == ("wrong", 0)
    assert "timed_out" in {check["verdict"] for check in report["checks"]}
    by_rename(path, RIGHT)
    assert running.document()["report"]["verdict"] == "right"
    by_rename(path, "def softmax(x, axis=-1):\n    while 1: pass\n")
    time.sleep(0.7)  # it is being graded now
    assert running.interrupt() == 0  # of the last result


def test_a_notebook_is_started_and_watched(watch: Starter, tmp_path: Path) -> None:
    start = [sys.executable, str(ROOT / "cli.py"), "start", "softmax", "--notebook"]
    subprocess.run(start, cwd=tmp_path, check=True, capture_output=True)
    path = tmp_path / "softmax.ipynb"
    notebook = json.loads(path.read_text(encoding="utf-8"))
    running = watch("softmax", "softmax.ipynb")
    assert any("NotImplementedError: write me" in line for line in running.block())
    notebook["cells"][1]["source"] = ["%matplotlib inline\n", *RIGHT.splitlines(keepends=True)]
    by_rename(path, json.dumps(notebook))
    assert "right" in running.block()[0]
    assert running.interrupt() == 0


def test_without_a_sandbox_practice_goes_on_with_a_notice_in_a_course_for_marks_too(
    watch: Starter, tmp_path: Path
) -> None:
    from engine.course import Course

    course = Course.init(tmp_path, "a course")
    assert course.mode == "marks"
    path = tmp_path / "mine.py"
    path.write_text(NO_SHIFT)
    running = watch("softmax", "mine.py", "--json", program=("-c", WITHOUT_LAYERS))
    report = running.document()["report"]
    assert (report["verdict"], report["tier"], report["mode"]) == ("partial", "T3", "practice")
    by_rename(path, RIGHT)
    assert running.document()["report"]["verdict"] == "right"
    assert running.interrupt() == 0
    notice = [line for line in running.told if line.startswith("note: no sandbox (tier T3)")]
    assert len(notice) == 1
    assert "your own code only" in notice[0]
    # nothing was recorded: no store was even made
    assert not (tmp_path / course.settings.store).exists()
    assert list(tmp_path.rglob("*.db")) == []
