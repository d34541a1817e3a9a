"""Who comes next: the newest first, everybody in turn, and nobody waits for ever."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.model import Mode
from engine.runs.hand_in_queue import choose, in_line, seconds_had
from engine.store.waiting import HandInState, QueuedHandIn
from tests.oracles.queue_in_memory import QueueInMemory

NOW = datetime(2026, 11, 2, 12, 0, tzinfo=UTC)
WORKER = "here"


def handed(number: int, student: str, item: str = "softmax", **more) -> QueuedHandIn:
    values = {"handed": NOW + timedelta(milliseconds=number), "state": HandInState.WAITING} | more
    return QueuedHandIn(number, student, item, f"{number:064x}", Mode.MARKS, **values)


class Course:
    """A queue in memory, as the store keeps it."""

    def __init__(self, slots: int = 1) -> None:
        self.slots = slots
        self.rows: dict[int, QueuedHandIn] = {}
        self.turn = 1
        self.now = NOW

    def add(self, student: str, item: str = "softmax") -> int:
        self.now += timedelta(milliseconds=1)
        number = len(self.rows) + 1
        self.rows[number] = replace(handed(number, student, item), handed=self.now)
        return number

    @property
    def state(self) -> QueueInMemory:
        by_state = {
            state: tuple(row for row in self.rows.values() if row.state is state) for state in HandInState
        }
        lately = tuple(row for row in self.rows.values() if (row.turn or 0) > self.turn - 300)
        return QueueInMemory(by_state[HandInState.WAITING], by_state[HandInState.RUNNING], lately, self.turn)

    def begin(self, worker: str = WORKER) -> QueuedHandIn | None:
        if len(self.state.running) >= self.slots:
            return None
        chosen = choose(self.state, worker, self.now)
        if chosen is None:
            return None
        begun = replace(
            chosen,
            state=HandInState.RUNNING,
            turn=self.turn,
            worker=worker,
            begun=self.now,
            heartbeat=self.now,
        )
        self.rows[chosen.id] = begun
        self.turn += 1
        return begun

    def end(self, number: int) -> None:
        self.now += timedelta(seconds=0.2)
        self.rows[number] = replace(self.rows[number], state=HandInState.DONE, heartbeat=self.now)

    def run_out(self) -> list[int]:
        """Grade until nothing waits, and return the order."""
        order = []
        while (begun := self.begin()) is not None:
            order.append(begun.id)
            self.end(begun.id)
        return order


def test_the_newest_of_each_student_and_exercise_comes_before_the_ones_that_it_replaced() -> None:
    course = Course()
    old = [course.add("ada"), course.add("bob")]
    newest = [course.add("ada"), course.add("bob"), course.add("ada", "attention")]
    order = [hand_in.id for hand_in in in_line(replace(course.state, turn=1), NOW)]
    # The third place is that of a fourth turn further on: of three turns none is.
    assert order[:3] == newest
    assert sorted(order) == sorted(old + newest)


def test_students_come_in_the_order_of_what_they_had_lately() -> None:
    course = Course()
    for _ in range(3):
        course.add("ada")
        course.run_out()
    ada, bob = course.add("ada"), course.add("bob")
    course.turn = 5  # no fourth one
    assert [hand_in.id for hand_in in in_line(course.state, course.now)] == [bob, ada]


def test_what_was_long_ago_counts_no_more() -> None:
    begun = handed(1, "ada", state=HandInState.DONE, begun=NOW, heartbeat=NOW + timedelta(seconds=9), turn=1)
    assert seconds_had([begun], NOW + timedelta(minutes=5)) == {"ada": 9}
    assert seconds_had([begun], NOW + timedelta(minutes=16)) == {}


def test_an_endless_loop_has_one_place_and_the_next_of_its_student_waits() -> None:
    course = Course(slots=2)
    loop, more = course.add("ada"), course.add("ada", "attention")
    first = course.begin()
    assert first is not None and first.id == loop
    assert course.begin() is None, "the second place is for somebody else"
    bob = course.add("bob")
    begun = course.begin()
    assert begun is not None and begun.id == bob
    course.end(loop)
    begun = course.begin()
    assert begun is not None and begun.id == more


def test_a_student_with_hundreds_of_hand_ins_holds_up_nobody() -> None:
    course = Course()
    for number in range(300):
        course.add("spammer", f"item-{number}")
    others = [course.add(f"s{number}") for number in range(10)]
    order = course.run_out()
    # Every fourth turn is the oldest one's, which is always the spammer's.
    assert max(order.index(number) for number in others) < 10 * 2
    assert len(order) == 310


@pytest.mark.parametrize("losses", [1, 2])
def test_what_may_have_killed_a_worker_is_begun_alone(losses: int) -> None:
    course = Course(slots=3)
    suspect = course.add("ada")
    course.rows[suspect] = replace(course.rows[suspect], losses=losses)
    others = [course.add("bob"), course.add("cleo")]
    first = course.begin()
    assert first is not None and first.id == suspect
    assert course.begin() is None, "it is all that its worker has"
    elsewhere = choose(course.state, "another worker", course.now)
    assert elsewhere is not None and elsewhere.id in others
    course.end(suspect)
    assert {course.begin().id, course.begin().id} == set(others)  # type: ignore[union-attr]
    course.rows[suspect] = replace(course.rows[suspect], state=HandInState.WAITING)
    assert course.begin() is None, "the others are under way"


def test_after_a_fault_of_the_machine_it_rests_and_others_go_on() -> None:
    course = Course()
    number = course.add("ada")
    course.rows[number] = replace(course.rows[number], tries=2, heartbeat=course.now)
    bob = course.add("bob")
    assert course.begin().id == bob  # type: ignore[union-attr]
    course.end(bob)
    assert course.begin() is None
    course.now += timedelta(seconds=41)
    assert course.begin().id == number  # type: ignore[union-attr]
    course.rows[number] = replace(course.rows[number], state=HandInState.WAITING, tries=10**6)
    course.now += timedelta(minutes=29)
    assert course.begin() is None
    course.now += timedelta(minutes=2)
    assert course.begin().id == number  # type: ignore[union-attr]


EVENTS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["ada", "bob", "cleo", "dan"]), st.sampled_from(["x", "y"])),
        st.just("begin"),
        st.just("end"),
    ),
    max_size=60,
)


@settings(max_examples=150, deadline=None)
@given(events=EVENTS, slots=st.integers(1, 3))
def test_every_hand_in_is_begun_once_and_a_student_has_one_place(events: list, slots: int) -> None:
    course = Course(slots)
    begun: list[int] = []
    for event in events:
        running = [row.id for row in course.state.running]
        if event == "begin":
            chosen = course.begin()
            begun += [] if chosen is None else [chosen.id]
        elif event == "end":
            if running:
                course.end(running[0])
        else:
            course.add(*event)
        counts = Counter(row.student for row in course.state.running)
        assert all(count == 1 for count in counts.values())
        line = in_line(course.state, course.now)
        assert sorted(row.id for row in line) == sorted(row.id for row in course.state.waiting)
    for row in course.state.running:
        course.end(row.id)
    begun += course.run_out()
    assert sorted(begun) == sorted(course.rows)


@settings(max_examples=40, deadline=None)
@given(
    arrivals=st.lists(
        st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from("xy")), min_size=1, max_size=3),
        min_size=150,
        max_size=150,
    )
)
def test_nothing_waits_for_ever_though_more_comes_than_can_be_graded(arrivals: list) -> None:
    course = Course()
    first = course.add("patient")
    replaced_at_once = course.add("patient")
    for _ in range(8):
        course.add("patient", "other")
    waits = {first, replaced_at_once}
    order: list[int] = []
    for some in arrivals:
        for student, item in some:
            course.add(student, item)
        begun = course.begin()
        assert begun is not None
        course.end(begun.id)
        order.append(begun.id)
        if waits <= set(order):
            break
    # Of eight turns two are the oldest one's.
    assert waits <= set(order) and len(order) <= 12
