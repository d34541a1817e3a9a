"""A test that hangs fails with the stacks of its threads, and those after it run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
HANGING = """
import threading
import time

import pytest


@pytest.fixture
def slow_end():
    yield
    threading.Event().wait()


def test_waits_for_a_lock():
    threading.Thread(target=waits_elsewhere, daemon=True).start()
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()


def waits_elsewhere():
    time.sleep(1000)


def test_takes_every_error_for_a_fault_of_its_own():
    while True:
        try:
            time.sleep(1000)
        except Exception:
            pass


def test_puts_away_for_ever(slow_end):
    pass


def test_ends():
    pass
"""


def test_what_hangs_is_stopped(tmp_path: Path) -> None:
    (tmp_path / "test_hanging_ones.py").write_text(HANGING)
    command = ["-m", "pytest", "-n0", "-p", "no:cacheprovider", "-p", "tests.conftest", tmp_path]
    done = subprocess.run(
        [sys.executable, *command],
        cwd=ROOT,
        env=os.environ | {"SOFTMARK_LONGEST_TEST_S": "4"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert "2 failed, 2 passed, 1 error" in done.stdout, done.stdout + done.stderr
    for name in ("test_waits_for_a_lock", "test_takes_every_error_for_a_fault_of_its_own"):
        assert f"in {name}" in done.stdout
    assert "in waits_elsewhere" in done.stdout  # another thread
