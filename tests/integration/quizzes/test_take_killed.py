"""A quiz that is killed while it is taken goes on where it was."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[3]
PLAN = """title: W
credit: [1, 0.5]
hint_cost: 0.1
sections:
- {items: [t-sum, t-pick, t-only]}
"""


@pytest.fixture
def week(classroom, grade):
    classroom.plan(PLAN)
    assert grade("quiz", "new", "week", "--course", "course").code == 0
    return classroom


class Terminal:
    """``grade quiz take`` in a process of its own."""

    def __init__(self, path: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(ROOT / "cli.py"), "quiz", "take", str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"},
        )

    def type(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def read_until(self, pattern: str) -> str:
        """Read what is printed up to a pattern, one character at a time: prompts end without a new line."""
        assert self.process.stdout is not None
        text = ""
        while not re.search(pattern, text):
            character = self.process.stdout.read(1)
            assert character, f"it ended before {pattern!r}: {text}"
            text += character
        return text

    def end(self, number: int | None = None) -> int:
        if number is not None:
            self.process.send_signal(number)
        code = self.process.wait(timeout=120)
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            stream.close()
        return code


def saved(path: Path) -> list[str]:
    return [q["answer"] for q in yaml.safe_load(path.read_text(encoding="utf-8"))["questions"]]


def test_kill_9_loses_no_answer_and_no_hint(week, grade, typing) -> None:
    path = week.file("007")
    one = Terminal(path)
    one.read_until("answer: ")
    one.type("?")
    one.read_until("Take it")
    one.type("y")
    one.read_until("Begin with the ones")
    one.type(week.key("007", 1))
    one.read_until("Question 2 of 3")  # asked for only after the first answer is on the disk
    assert one.end(signal.SIGKILL) == -signal.SIGKILL
    assert saved(path) == [week.key("007", 1), "", ""]
    assert [entry.name for entry in path.parent.glob(".*")] == []

    typing(week.key("007", 2), week.key("007", 3), "")
    said = grade("quiz", "take", path)
    assert said.code == 0, said
    assert "1 of 3 questions is answered already." in said.out
    assert "Question 1 of 3" not in said.out
    assert "This counts 90 % (1 hint taken)." in said.out
    assert "Total: 2.9 of 3 points" in said.out


def test_kill_9_after_handing_in_keeps_the_marks_and_the_variant_of_the_retry(week, grade, typing) -> None:
    path = week.file("007")
    one = Terminal(path)
    for answer in (week.key("007", 1), week.wrong("007", 2), week.key("007", 3), ""):
        one.type(answer)
    one.read_until("Another attempt is possible: 2")
    one.type("2")
    one.read_until("Question 2 of 3 · 1 point · attempt 2 of 2")
    one.end(signal.SIGKILL)
    assert [score for _, score, _ in week.scores("007")] == [1.0, 0.0, 1.0]
    before = week.variants("007", 2)
    assert len(before) == 2

    typing(week.key("007", 2, retry=1), "", "")
    said = grade("quiz", "take", path)
    assert said.code == 0, said
    assert "Total: 2.5 of 3 points" in said.out
    assert week.variants("007", 2) == before
    assert len(week.scores("007")) == 4


def test_ctrl_c_says_how_to_go_on(week) -> None:
    one = Terminal(week.file("007"))
    one.read_until("answer: ")
    one.type("7")
    one.read_until("Question 2 of 3")
    one.read_until("answer: ")
    time.sleep(0.1)  # the prompt is out; let it wait for the line
    one.process.send_signal(signal.SIGINT)
    told = one.read_until("next: .*\n")
    assert one.end() == 1
    assert "stopped; your answers are in" in told and "Traceback" not in told
    assert saved(week.file("007")) == ["7", "", ""]
