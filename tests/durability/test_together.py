"""Several graders of one class at the same time, and one with a sandbox of its own that is killed."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from engine.store import open_store
from tests.durability.disturbed import Class

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox of marks runs on Linux")


@pytest.mark.parametrize("on_server", [False, True])
def test_two_instructors_grade_the_same_class(a_class: Class, on_server: bool) -> None:
    for _ in range(2):
        a_class.begin_again(on_server=on_server)
        outs = [a_class.room.folder / f"out-{name}" for name in "ab"]
        words = ["grade", "batch", a_class.room.handed_in, "--course", a_class.room.course, "--workers", 2]
        ends = a_class.graders.run_all([[*words, "--out", out] for out in outs], store=a_class.address)
        assert [end.code for end in ends] == [0, 0], [end.said for end in ends]
        stored = a_class.attempts()  # each once, with the report that it should have
        assert stored.keys() == a_class.wanted.keys()
        for out in outs:
            books = {name: (out / name).read_bytes() for name in a_class.books}
            assert books == a_class.books


def test_one_is_killed_while_the_other_goes_on(a_class: Class) -> None:
    a_class.begin_again(on_server=True)
    words = a_class.room.command("--workers", 2)
    ends = a_class.graders.run_all([words, words], store=a_class.address, crash_at="after-record:6")
    assert any(end.was_killed for end in ends)
    a_class.finish()


def descendants(pid: int) -> set[tuple[int, str]]:
    """Return the processes below one, each with the time of its start: a number alone is used again."""
    found = set()
    for child in Path(f"/proc/{pid}/task").glob("*/children"):
        for number in map(int, child.read_text().split()):
            found |= {(number, started(number))} | descendants(number)
    return found


def started(pid: int) -> str:
    """Return when a process was started; "gone" if it has ended, even if nobody has asked for its end yet."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return "gone"
    return "gone" if fields[0] in "ZX" else fields[19]


def test_a_grader_that_is_killed_takes_its_sandbox_with_it(a_class: Class) -> None:
    a_class.begin_again(on_server=False)
    words = [str(word) for word in a_class.room.command("--workers", 2)[1:]]
    grader = subprocess.Popen(
        [sys.executable, ROOT / "cli.py", *words],
        env=os.environ | {"SOFTMARK_CRASH_AT": "after-record:14", "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    below: set[tuple[int, str]] = set()
    while grader.poll() is None:
        try:
            below |= descendants(grader.pid)
        except OSError:  # it ended while we looked
            continue
        time.sleep(0.01)
    assert grader.returncode == -9, grader.communicate()
    assert len(below) >= 2, "two zygotes, and children of theirs"
    end = time.monotonic() + 60
    while any(started(pid) == since for pid, since in below if since != "gone"):
        assert time.monotonic() < end, "a sandbox outlives its grader"
        time.sleep(0.05)
    grader.communicate()
    with open_store(a_class.room.store) as store:
        assert len(list(store.attempts())) >= 14
    a_class.finish()
