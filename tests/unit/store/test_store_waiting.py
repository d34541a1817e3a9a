"""The rows of the queue: stored once, begun once, and given back when a worker dies."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import UsageError
from engine.model import CodeSubmission, GradeReport, Mode, Outcome
from engine.runs.hand_in_queue import choose
from engine.store import ArrivalInfo, Attempt, Store, open_store, waiting
from engine.store.waiting import HandInState, QueuedHandIn, StoredQueue
from engine.store.web_tables import waiting_hand_ins
from tests.oracles.queue_in_memory import QueueInMemory

NOW = datetime(2026, 11, 2, 12, 0, tzinfo=UTC)


def code(number: int) -> CodeSubmission:
    return CodeSubmission(
        f"# {number} \ud800 \0\n", "söft max.py", f"{number:064x}", {"helper": "x = 1"}, ("a note",)
    )


def add(store: Store, student: str, number: int, item: str = "softmax") -> int:
    return store.waiting.add(student, item, code(number), Mode.MARKS, NOW + timedelta(seconds=number))


def begin(store: Store, worker: str = "w", now: datetime = NOW) -> QueuedHandIn | None:
    return store.waiting.claim(worker, now, lambda queue: choose(queue, worker, now))


def test_what_is_handed_in_twice_waits_once(store: Store) -> None:
    first = add(store, "ada", 1)
    assert add(store, "ada", 1) == first
    assert add(store, "bob", 1) != first
    assert add(store, "ada", 1, "attention") != first
    begun = begin(store)
    assert begun is not None and begun.id == first and add(store, "ada", 1) == first, "it is being graded"
    assert store.waiting.finish(begun, NOW)
    assert add(store, "ada", 1) != first


def test_the_code_comes_back_as_it_was_and_goes_when_it_is_done(store: Store) -> None:
    number = add(store, "ada", 1)
    assert store.waiting.code(number) == code(1)
    assert store.upkeep.check().faults == ()
    begun = begin(store)
    assert begun is not None and store.waiting.finish(begun, NOW)
    assert store.waiting.code(number) is None
    done = store.waiting.find(number)
    assert done is not None and (done.state, done.reason) == (HandInState.DONE, None)
    assert not done.is_open
    assert store.upkeep.check().faults == ()
    assert store.people.everything_on("ada")["waiting_hand_ins"][0]["code"] is None


def test_only_the_worker_that_has_it_may_end_it(store: Store) -> None:
    add(store, "ada", 1)
    slow = begin(store, "slow")
    assert slow is not None
    lost = store.waiting.take_from_the_dead(lambda hand_in: hand_in.worker == "slow")
    assert [hand_in.id for hand_in in lost] == [slow.id]
    second = begin(store, "second")
    assert second is not None and (second.id, second.losses, second.turn) == (slow.id, 1, 2)
    assert not store.waiting.finish(slow, NOW)
    assert not store.waiting.give_back(slow, NOW, "late")
    assert not store.waiting.set_aside(slow, NOW, "late")
    assert store.waiting.finish(second, NOW)


def test_a_heartbeat_is_for_what_is_in_hand(store: Store) -> None:
    first, second = add(store, "ada", 1), add(store, "bob", 2)
    assert begin(store, "w") is not None
    later = NOW + timedelta(seconds=30)
    store.waiting.beat("w", later)
    assert [store.waiting.find(number).heartbeat for number in (first, second)] == [later, None]  # type: ignore[union-attr]


def test_it_is_given_back_unharmed_or_with_a_reason(store: Store) -> None:
    number = add(store, "ada", 1)
    begun = begin(store)
    assert begun is not None and store.waiting.give_back(begun, NOW)
    row = store.waiting.find(number)
    assert row is not None and (row.state, row.tries, row.worker) == (HandInState.WAITING, 0, None)
    begun = begin(store)
    assert begun is not None and store.waiting.give_back(begun, NOW, "no memory")
    row = store.waiting.find(number)
    assert row is not None and (row.tries, row.reason) == (1, "no memory")


def test_what_is_set_aside_can_be_tried_again(store: Store) -> None:
    number = add(store, "ada", 1)
    begun = begin(store)
    assert begun is not None and store.waiting.set_aside(begun, NOW, "it kills")
    assert begin(store) is None
    assert [h.id for h in store.waiting.in_state([HandInState.SET_ASIDE])] == [number]
    assert store.waiting.try_again(number) and not store.waiting.try_again(number)
    begun = begin(store)
    assert begun is not None and (begun.id, begun.losses) == (number, 0)


def test_a_students_own_newest_first(store: Store) -> None:
    numbers = [add(store, "ada", 1), add(store, "ada", 2, "attention"), add(store, "ada", 3)]
    add(store, "bob", 4)
    assert [h.id for h in store.waiting.of_student("ada")] == numbers[::-1]
    assert [h.id for h in store.waiting.of_student("ada", "softmax")] == [numbers[2], numbers[0]]
    since = NOW + timedelta(seconds=2)
    assert [h.id for h in store.waiting.of_student("ada", since=since)] == numbers[:0:-1]
    assert store.waiting.of_student("ada", mode=Mode.PRACTICE) == []


def test_several_stores_begin_each_hand_in_once(target: str | Path) -> None:
    with open_store(target) as store:
        numbers = {add(store, f"s{number % 5}", number) for number in range(20)}
    begun: list[int] = []
    faults: list[BaseException] = []

    def work(name: str) -> None:
        try:
            with open_store(target) as mine:
                while len(begun) < len(numbers):
                    hand_in = begin(mine, name)
                    if hand_in is not None:
                        begun.append(hand_in.id)
                        running = [row.student for row in mine.waiting.state().running]
                        assert len(set(running)) == len(running), "a student has one place"
                        assert mine.waiting.finish(hand_in, NOW)
        except BaseException as error:
            faults.append(error)
            raise

    threads = [threading.Thread(target=work, args=(f"w{number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not faults
    assert sorted(begun) == sorted(numbers)


def test_the_times_that_limits_count(store: Store) -> None:
    """What was graded or waits, each program once; what couldn't be read uses up nothing."""
    for number, outcome in ((1, Outcome.WRONG), (2, Outcome.FORMAT_ERROR), (3, Outcome.UNGRADED)):
        score = 0.0 if outcome is Outcome.WRONG else None
        report = GradeReport("softmax", "v1", outcome, score, 10.0, mode=Mode.MARKS)
        attempt = Attempt.of_code("ada", code(number), report, started=NOW)
        store.record(attempt.arrived(ArrivalInfo(NOW + timedelta(seconds=number))))
    for student, number in (("ada", 4), ("ada", 1), ("bob", 5)):
        add(store, student, number)
    moments = [NOW + timedelta(seconds=number) for number in (1, 4)]
    assert store.waiting.times("ada", "softmax", Mode.MARKS) == moments
    same = store.waiting.times("ada", "softmax", Mode.MARKS, other_than=code(4).sha256)
    assert same == moments[:1], "the same program once more is none"
    assert store.waiting.times("ada", "softmax", Mode.PRACTICE) == []


def test_a_students_queue_has_an_end(store: Store) -> None:
    """Over all exercises; what waits already is no further one, and others have their places."""

    def within_two(student: str, number: int, item: str = "softmax") -> int:
        return store.waiting.add(student, item, code(number), Mode.MARKS, NOW, most_open=2)

    first, second = within_two("ada", 1), within_two("ada", 2, "attention")
    for number in (3, 4):
        with pytest.raises(UsageError, match="2 of your programs wait"):
            within_two("ada", number)
    assert within_two("ada", 1) == first and within_two("ada", 2, "attention") == second
    assert within_two("bob", 3)
    begun = begin(store)
    assert begun is not None
    with pytest.raises(UsageError):
        within_two("ada", 3)
    assert store.waiting.finish(begun, NOW)
    assert within_two("ada", 3)


def test_the_queue_is_read_without_holding_up_writers(store: Store) -> None:
    numbers = [add(store, f"s{number}", number) for number in range(3)]

    def meanwhile(queue: StoredQueue) -> QueuedHandIn:
        add(store, "zoe", 100)  # on SQLite it would wait for ever for this thread's own lock
        return queue.waiting[0]

    claimed = store.waiting.claim("w", NOW, meanwhile)
    assert claimed is not None and claimed.id == numbers[0]


def test_what_changed_since_the_look_is_looked_at_again(store: Store) -> None:
    first, second = add(store, "ada", 1), add(store, "ada", 2)
    looks: list[StoredQueue] = []

    def late(queue: StoredQueue) -> QueuedHandIn | None:
        looks.append(queue)
        if len(looks) == 1:
            begun = begin(store, "another")
            assert begun is not None and begun.id == second
        return choose(queue, "w", NOW)

    assert store.waiting.claim("w", NOW, late) is None, "a student has one place"
    assert [len(queue.running) for queue in looks] == [0, 1]
    row = store.waiting.find(first)
    assert row is not None and row.state is HandInState.WAITING


def test_what_was_set_aside_doesnt_come_back_as_new(store: Store) -> None:
    number = add(store, "ada", 1)
    begun = begin(store)
    assert begun is not None and store.waiting.set_aside(begun, NOW, "it kills")
    assert add(store, "ada", 1) == number, "a person looks at it"
    assert begin(store) is None
    other = store.waiting.find(add(store, "ada", 2))
    assert other is not None and other.losses == 0
    classmate = store.waiting.find(add(store, "bob", 1))
    assert classmate is not None and classmate.losses == 1, "begun alone"
    elsewhere = store.waiting.find(add(store, "bob", 1, "attention"))
    assert elsewhere is not None and elsewhere.losses == 0
    assert store.waiting.try_again(number) and add(store, "ada", 1) == number


def test_a_long_queue_isnt_read_to_begin_one(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(60):
        add(store, f"s{number % 20}", number, f"item-{number // 20}")
    read: list[object] = []
    row_value = waiting._hand_in
    monkeypatch.setattr(waiting, "_hand_in", lambda row: read.append(row) or row_value(row))
    begun = []
    for turns in range(12):
        read.clear()
        one = begin(store)
        assert one is not None and store.waiting.finish(one, NOW)
        # What was begun lately, the one that is next, and it once more as it is then.
        assert len(read) <= turns + 2
        begun.append(one.student)
    assert set(begun[:9]) == {f"s{number}" for number in range(9)}, "whoever had nothing comes first"


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_the_database_answers_as_the_queue_in_memory_does(data: st.DataObject, tmp_path_factory) -> None:
    students, items = st.sampled_from("abcd"), st.sampled_from("xy")
    tries = st.sampled_from([0, 0, 0, 1, 2, 9])
    drawn = data.draw(st.lists(st.tuples(students, items, tries, st.integers(0, 4000)), max_size=14))
    with open_store(tmp_path_factory.mktemp("queue") / "store.db") as own:
        for number, (student, item, failed, ago) in enumerate(drawn):
            row = add(own, student, number, item)
            beat = NOW - timedelta(seconds=ago) if failed else None
            change = sa.update(waiting_hand_ins).where(waiting_hand_ins.c.id == row)
            own._database.change(lambda c, change=change, failed=failed, beat=beat: c.execute(
                change.values(tries=failed, heartbeat=beat)
            ))  # fmt: skip
        for turn in range(len(drawn) + 1):
            state = own.waiting.state()
            in_memory = QueueInMemory(state.waiting, state.running, state.lately, state.turn)
            expected = choose(in_memory, "w", NOW)
            begun = begin(own)
            assert (begun and begun.id) == (expected and expected.id)
            if begun is not None and turn % 3:
                own.waiting.finish(begun, NOW + timedelta(seconds=turn))
