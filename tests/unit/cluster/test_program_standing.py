"""What those who wait may know: so many before theirs, who has it in hand, and why nothing goes on."""

from __future__ import annotations

import sys

import pytest
import sqlalchemy as sa

from engine.cluster.course_line import CourseLine
from engine.cluster.program_standing import CourseStanding, QueueHold, read_standing
from engine.cluster.queue_state import read_queue, why_unserved
from engine.cluster.work_queue import DEAD_AFTER_S, WorkerFacts, WorkQueue
from engine.store.database import Database
from tests.unit.cluster.conftest import COURSE, OTHER, claim, die, graded, hand_over, new_worker, queue_of

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the tests' server runs on POSIX systems")


def look(database: Database) -> CourseStanding:
    return read_standing(database, queue_of(COURSE))


def ahead(database: Database) -> dict[str, int]:
    return {key[0]: program.ahead for key, program in look(database).programs.items()}


def test_so_many_before_yours_whatever_the_course(database: Database) -> None:
    hand_over(database, ["s1", "s2"])  # of a class: they come after what somebody waits for
    hand_over(database, ["x"], course=OTHER, interactive=True)
    for student in ("ada", "bob"):
        hand_over(database, [student], interactive=True)
    state = look(database)
    assert ahead(database) == {"ada": 1, "bob": 2} and state.waiting == 3
    assert ("ada", "softmax", "ada-softmax") in state.programs
    # A paused course makes way.
    CourseLine(database).pause(OTHER)
    assert ahead(database) == {"ada": 0, "bob": 1} and look(database).waiting == 2
    worker = new_worker(database)
    chunk = claim(database, worker)
    assert chunk is not None
    state = look(database)
    assert state.programs["ada", "softmax", "ada-softmax"].is_in_hand and ahead(database)["bob"] == 0
    WorkQueue(database).hand_in(worker, chunk, graded(chunk))
    assert [key[0] for key in look(database).programs] == ["bob"]


def test_why_nothing_goes_on(database: Database) -> None:
    assert (look(database).hold, look(database).reasons) == (QueueHold.NO_WORKER, ("no worker is running",))
    other = WorkQueue(database).register_worker(WorkerFacts("old/1", 1, "T1", "another", "abcdef"))
    state = look(database)
    assert state.hold is QueueHold.NOT_TAKEN
    assert state.reasons[0].startswith("worker old/1 doesn't take this work: it was handed over by another")
    worker = new_worker(database)
    assert look(database) == CourseStanding()
    CourseLine(database).pause(COURSE)
    assert look(database).hold is QueueHold.PAUSED
    CourseLine(database).pause(COURSE, False)
    WorkQueue(database).drain([worker])
    assert look(database).hold is QueueHold.NOT_TAKEN
    die(database, worker)
    die(database, other)
    assert look(database).hold is QueueHold.NO_WORKER


def test_a_worker_that_dies_over_a_program_and_one_that_fails(database: Database) -> None:
    hand_over(database, ["ada"], interactive=True)
    worker = new_worker(database)
    assert claim(database, worker) is not None
    die(database, worker)
    ((_, lost),) = look(database).programs.items()
    assert lost.is_in_hand and lost.is_lost and (lost.silent_s or 0) > DEAD_AFTER_S
    WorkQueue(database).take_from_the_dead()
    ((_, again),) = look(database).programs.items()
    assert (again.is_in_hand, again.is_lost, again.losses, again.rests) == (False, False, 1, False)
    worker = new_worker(database, "host/2")
    chunk = claim(database, worker)
    assert chunk is not None
    WorkQueue(database).hand_in(worker, chunk, [], failed=chunk.programs[0].id, reason="a full disk")
    ((_, resting),) = look(database).programs.items()
    assert resting.rests and not resting.is_in_hand
    with database.write() as connection:
        connection.execute(sa.text("UPDATE procrastinate_jobs SET scheduled_at = now()"))
    assert not look(database).programs["ada", "softmax", "ada-softmax"].rests


def test_each_worker_is_taken_for_dead_by_its_own_patience(database: Database) -> None:
    """A minute of silence is long for a worker that beats twice a second, and nothing for a patient one."""
    queue = WorkQueue(database)
    facts = WorkerFacts("host/1", 2, "T1", "0123456789ab", "abcdef")
    hand_over(database, ["ada"], interactive=True)
    for dead_after_s, is_dead in ((2.0, True), (300.0, False)):
        worker = queue.register_worker(facts, dead_after_s)
        assert claim(database, worker) is not None
        with database.write() as connection:
            silent = "UPDATE procrastinate_workers SET last_heartbeat = now() - interval '1 minute'"
            connection.execute(sa.text(silent))
        state = look(database)
        assert state.hold is (QueueHold.NO_WORKER if is_dead else None)
        assert [program.is_lost for program in state.programs.values()] == [is_dead]
        # The same as all others who look see.
        assert why_unserved(database, queue_of(COURSE)) == (
            ["no worker is running; start some: grade worker --store URL (docs/scaling.md)"]
            if is_dead
            else []
        )
        assert read_queue(database).workers[0].is_silent is is_dead
        assert CourseLine(database).live_slots() == (0 if is_dead else 2)
        queue.take_from_the_dead()
        assert len(read_queue(database).workers) == (0 if is_dead else 1)
