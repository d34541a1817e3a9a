"""Changes of several threads in one transaction: each is made whole or not at all, whatever others do."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from engine.errors import StoreError, UnstorableError
from engine.store.database import Database, open_database

NUMBERS = sa.table("numbers", sa.column("n"), sa.column("text"))


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    database = open_database(tmp_path / "store.db")
    create = "CREATE TABLE numbers (n INTEGER PRIMARY KEY, text VARCHAR)"
    database.change(lambda connection: connection.exec_driver_sql(create))
    yield database
    database.close()


@pytest.fixture
def commits(database: Database) -> list[int]:
    """How many rows there were after each commit."""
    seen: list[int] = []

    @sa.event.listens_for(database._engine, "commit")
    def on_commit(connection: sa.Connection) -> None:
        seen.append(int(connection.exec_driver_sql("SELECT count(*) FROM numbers").scalar() or 0))

    return seen


def insert(n: int) -> Callable[[sa.Connection], int]:
    def work(connection: sa.Connection) -> int:
        connection.execute(sa.insert(NUMBERS).values(n=n, text=str(n)))
        return n

    return work


def numbers(database: Database) -> list[int]:
    with database.read() as connection:
        return sorted(connection.execute(sa.select(NUMBERS.c.n)).scalars())


def change_together(database: Database, works: list[Callable[[sa.Connection], Any]]) -> list[Any]:
    """Let each of `works` come from a thread of its own while a first change holds the turn."""
    hold, is_held = threading.Event(), threading.Event()

    def first(connection: sa.Connection) -> None:
        is_held.set()
        assert hold.wait(60)

    outcomes: dict[int, Any] = {}

    def call(number: int, work: Callable[[sa.Connection], Any]) -> None:
        try:
            outcomes[number] = database.change(work)
        except Exception as error:
            outcomes[number] = error

    threads = [threading.Thread(target=call, args=(-1, first))]
    threads[0].start()
    assert is_held.wait(60)
    assert database._together is not None
    for number, work in enumerate(works):
        thread = threading.Thread(target=call, args=(number, work))
        threads.append(thread)
        thread.start()
        # In their order: each is in the queue before the next one comes.
        for _ in range(60_000):
            if len(database._together._waiting) == number + 1:
                break
            time.sleep(0.001)
    hold.set()
    for thread in threads:
        thread.join(60)
    return [outcomes.get(number) for number in range(len(works))]


def test_changes_that_wait_are_committed_at_once(database: Database, commits: list[int]) -> None:
    assert change_together(database, [insert(n) for n in range(40)]) == list(range(40))
    assert commits[-1] == 40 and len(commits) <= 3, "the one that held the turn, and all others"
    assert numbers(database) == list(range(40))


def test_more_than_fit_into_one_transaction(database: Database, commits: list[int]) -> None:
    assert change_together(database, [insert(n) for n in range(150)]) == list(range(150))
    assert commits[-3:] == [64, 128, 150]


def test_a_change_that_fails_takes_no_other_with_it(database: Database) -> None:
    def half(connection: sa.Connection) -> None:
        insert(70)(connection)
        raise ValueError("not this one")

    outcomes = change_together(database, [insert(1), half, insert(1), insert(2)])
    assert outcomes[0] == 1 and outcomes[3] == 2
    assert isinstance(outcomes[1], StoreError)
    assert isinstance(outcomes[2], UnstorableError), "a row that is there already"
    assert numbers(database) == [1, 2]


def test_what_ends_the_whole_transaction_is_found_and_the_others_are_made_again(database: Database) -> None:
    def end_it(connection: sa.Connection) -> None:
        # As SQLite does when the disk is full: what was changed before is gone too.
        connection.exec_driver_sql("ROLLBACK")
        raise OSError("the disk is full")

    outcomes = change_together(database, [insert(1), end_it, insert(2)])
    assert outcomes[0] == 1 and outcomes[2] == 2
    assert isinstance(outcomes[1], StoreError)
    assert numbers(database) == [1, 2]
    assert database.change(insert(3)) == 3, "the queue goes on"


def test_a_commit_that_fails_is_told_to_everybody_and_the_queue_goes_on(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = type(database._engine.dialect).do_commit
    full = threading.Event()

    def do_commit(self: Any, connection: Any) -> None:
        if full.is_set():
            raise OSError("the disk is full")
        real(self, connection)

    monkeypatch.setattr(type(database._engine.dialect), "do_commit", do_commit)

    def fill(connection: sa.Connection) -> None:
        full.set()

    outcomes = change_together(database, [fill, insert(1), insert(2)])
    assert all(isinstance(outcome, StoreError) for outcome in outcomes)
    full.clear()
    assert numbers(database) == []
    assert database.change(insert(3)) == 3


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_an_interrupted_writer_leaves_the_work_of_others_to_them(database: Database) -> None:
    interrupts = [KeyboardInterrupt()]

    def interrupt(connection: sa.Connection) -> int:
        insert(50)(connection)
        if interrupts:
            raise interrupts.pop()
        return 50

    # The thread of the first one writes for all, and is interrupted there: its own change isn't made.
    outcomes = change_together(database, [insert(1), interrupt, insert(2)])
    assert outcomes == [None, 50, 2]
    assert numbers(database) == [2, 50]
    assert database.change(insert(3)) == 3, "the queue goes on"


def test_reading_sees_nothing_before_its_change_returned(database: Database) -> None:
    missing: list[int] = []

    def write(start: int) -> None:
        for n in range(start, start + 50):
            database.change(insert(n))
            if n not in numbers(database):
                missing.append(n)

    threads = [threading.Thread(target=write, args=(1000 * k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not missing and len(numbers(database)) == 400
