"""Several changes in one transaction: all of them are stored or none, whatever ends the block."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest

from engine.errors import InputError
from engine.store import Store, open_store
from engine.store.allowances import Allowance, AllowanceKind
from engine.store.audit import AuditEntry
from tests.unit.store.test_hand_marks_whole import MARK

NOW = datetime(2026, 11, 27, 12, 0, tzinfo=UTC)
ENTRY = AuditEntry(NOW, "ivy", "instructor", "allowance.add", "week-1", "ada")
DAYS = Allowance("ada", AllowanceKind.DEADLINE, "Ivy", NOW, "week-1", days=2)
DECIDE = """
import sys
from engine.store import open_store
from tests.unit.store.test_one_transaction import DAYS, ENTRY
with open_store(sys.argv[1]) as store, store.one_transaction():
    store.allowances.add(DAYS)
    store.audit.add(ENTRY)
"""


def counts(store: Store) -> tuple[int, int]:
    return len(store.allowances.history()), len(store.audit.newest(10))


def test_both_are_there_after_the_block_and_nothing_before(store: Store, target: str | Path) -> None:
    with open_store(target) as other:
        with store.one_transaction():
            store.allowances.add(DAYS)
            store.hand_marks.add(MARK, after=0)
            assert counts(store) == (1, 0)  # what was written in the block is read in it
            assert counts(other) == (0, 0)
            with store.one_transaction():  # a part of the one around it
                store.audit.add(ENTRY)
        assert counts(store) == counts(other) == (1, 1)
        assert len(other.hand_marks.history()) == 1


@pytest.mark.parametrize("error", [InputError("no"), ValueError("no"), KeyboardInterrupt("no")])
def test_an_error_takes_everything_back_and_stays_what_it_is(store: Store, error: BaseException) -> None:
    with pytest.raises(type(error), match="no"), store.one_transaction():
        store.allowances.add(DAYS)
        store.audit.add(ENTRY)
        raise error
    assert counts(store) == (0, 0)
    store.audit.add(ENTRY)  # the store works on
    assert counts(store) == (0, 1)


def test_a_part_that_fails_takes_nothing_else_with_it(store: Store) -> None:
    with store.one_transaction():
        store.allowances.add(DAYS)
        with pytest.raises(InputError):
            store.allowances.withdraw(77, NOW)
        store.audit.add(ENTRY)
    assert counts(store) == (1, 1)


def test_changes_of_other_threads_are_no_part_of_it(store: Store) -> None:
    begun = threading.Event()
    done: list[Allowance] = []

    def change() -> None:
        begun.set()
        done.append(store.allowances.add(DAYS))

    thread = threading.Thread(target=change)
    with pytest.raises(InputError), store.one_transaction():
        store.audit.add(ENTRY)
        thread.start()
        begun.wait()
        raise InputError("no")
    thread.join()
    assert len(done) == 1
    assert counts(store) == (1, 0)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
def test_a_kill_between_a_decision_and_its_line_leaves_neither(store: Store, target: str | Path) -> None:
    def decide(**environment: str) -> int:
        command = [sys.executable, "-c", DECIDE, str(target)]
        root = str(Path(__file__).parents[3])
        return subprocess.run(command, env=os.environ | environment, cwd=root, timeout=300).returncode

    assert decide(SOFTMARK_CRASH_AT="before-log") == -signal.SIGKILL
    assert counts(store) == (0, 0)
    assert decide() == 0
    assert counts(store) == (1, 1)
