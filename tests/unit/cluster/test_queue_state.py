"""What the queue says about itself on a real server, and what those who look after it can change."""

from __future__ import annotations

import math
import sys

import pytest
import sqlalchemy as sa

from engine.cluster.course_line import CourseLine, ProgramForQueue
from engine.cluster.queue_state import QueueShare, pace, read_queue, why_unserved
from engine.cluster.work_queue import DEAD_AFTER_S, MOST_DEATHS, RECENT_S, WorkerFacts, WorkQueue
from engine.errors import UsageError
from engine.store.database import Database
from tests.unit.cluster.conftest import (
    COURSE,
    OTHER,
    VERSION,
    claim,
    die,
    graded,
    hand_over,
    new_worker,
    queue_of,
    rows,
    students_of,
)

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the tests' server runs on POSIX systems")


def change(database: Database, statement: str) -> None:
    with database.write() as connection:
        connection.execute(sa.text(statement))


def course_state(database: Database, course: str = COURSE) -> QueueShare:
    return read_queue(database).course(course)


def poison(database: Database, student: str = "poison") -> int:
    """Hand over a program that kills its workers until it is set aside."""
    (number,) = hand_over(database, [student])
    for turn in range(MOST_DEATHS + 1):
        worker = new_worker(database, f"dead-{turn}/1")
        assert students_of(claim(database, worker)) == [student]
        die(database, worker)
        WorkQueue(database).take_from_the_dead()
    return number


def test_an_empty_queue_says_so(database: Database) -> None:
    state = read_queue(database)
    assert [(c.id, c.title, c.weight, c.paused) for c in state.courses] == [
        (COURSE, COURSE.upper(), 1, False),
        (OTHER, OTHER.upper(), 1, False),
    ]
    assert (state.length, state.per_minute, state.workers, state.aside, state.unserved) == (
        0,
        0.0,
        (),
        (),
        (),
    )
    assert course_state(database).oldest_s is None


def test_courses_are_counted_by_who_waits_and_what_is_in_hand(database: Database) -> None:
    hand_over(database, ["a", "b", "c"], chunk=2)
    hand_over(database, ["eve"], course=OTHER, interactive=True)
    change(database, "UPDATE programs SET handed_over = now() - interval '2 hours' WHERE student = 'c'")
    mine, other = course_state(database), course_state(database, OTHER)
    assert (mine.interactive, mine.batch, mine.in_hand) == (0, 3, 0)
    assert (other.interactive, other.batch, other.in_hand) == (1, 0, 0)
    assert mine.oldest_s == pytest.approx(7_200, abs=60) and other.oldest_s == pytest.approx(0, abs=60)
    worker = new_worker(database)
    first = claim(database, worker)  # somebody waits for it
    second = claim(database, worker)
    assert second is not None and len(second.programs) == 2
    state = read_queue(database)
    assert [course.in_hand for course in state.courses] == [2, 1]
    assert [seen.in_hand for seen in state.workers] == [3] and state.length == 4
    assert first is not None
    WorkQueue(database).hand_in(worker, first, graded(first))
    state = read_queue(database)
    assert state.length == 3 and state.workers[0].graded == 1 and state.workers[0].in_hand == 2
    assert course_state(database, OTHER).interactive == 0


def test_the_pace_of_a_steady_worker_is_its_pace(database: Database) -> None:
    # 5 reports every 10 s; the exact sum is the oracle for what the server adds up.
    for age in (30, 120, 3_600):
        faded = sum(5 * math.exp(-(age - at) / RECENT_S) for at in range(10, age + 1, 10))
        assert pace(faded, age) == pytest.approx(30, rel=0.2 if age == 30 else 0.06)
    worker = new_worker(database)
    hand_over(database, [f"{n}" for n in range(60)], chunk=20)
    sums = 0.0
    for gap_s in (0, 60, 300):
        change(database, f"UPDATE workers SET recent_at = recent_at - interval '{gap_s} seconds'")
        chunk = claim(database, worker)
        assert chunk is not None
        assert WorkQueue(database).hand_in(worker, chunk, graded(chunk)) == 20
        sums = sums * math.exp(-gap_s / RECENT_S) + 20
    change(database, "UPDATE workers SET started = now() - interval '1 day'")
    assert read_queue(database).per_minute == pytest.approx(60 * sums / RECENT_S, rel=0.02)
    # Years later nothing is left of it, and the server doesn't fail over so small a number.
    change(database, "UPDATE workers SET recent_at = now() - interval '3 years'")
    assert read_queue(database).per_minute < 1e-6
    hand_over(database, ["late"])
    chunk = claim(database, worker)
    assert chunk is not None and WorkQueue(database).hand_in(worker, chunk, graded(chunk)) == 1
    assert read_queue(database).per_minute == pytest.approx(0.5, rel=0.02)


def test_a_silent_worker_is_seen_by_the_servers_clock_and_counts_no_more(database: Database) -> None:
    worker = new_worker(database)
    hand_over(database, ["a", "b"], chunk=1)
    chunk = claim(database, worker)
    assert chunk is not None
    WorkQueue(database).hand_in(worker, chunk, graded(chunk))
    assert read_queue(database).workers[0].takes_work and read_queue(database).unserved == ()
    die(database, worker)
    state = read_queue(database)
    assert state.workers[0].silent_s == pytest.approx(3_600, abs=60)
    assert state.workers[0].silent_s > DEAD_AFTER_S
    assert not state.workers[0].takes_work and state.workers[0].per_minute > 0 and state.per_minute == 0
    (work,) = state.unserved
    assert (work.course, work.programs, work.reasons) == (COURSE, 1, ())
    # Whoever waits for the reports hears the same: a dead worker is none, though its row is still there.
    (sentence,) = why_unserved(database, queue_of(COURSE))
    assert sentence.startswith("no worker is running; start some: grade worker")


def test_work_that_no_worker_takes_comes_with_the_reasons(database: Database) -> None:
    hand_over(database, ["a", "b"])
    queue = WorkQueue(database)
    queue.register_worker(WorkerFacts("weak/1", 2, "T3", "0123456789ab", "abcdef"))
    queue.register_worker(WorkerFacts("old/2", 2, "T1", "ba9876543210", "abcdef"))
    queue.register_worker(WorkerFacts("bare/3", 2, "T1", "0123456789ab", "fedcba"))
    (work,) = read_queue(database).unserved
    assert (work.course, work.queue, work.programs) == (COURSE, queue_of(COURSE), 2)
    assert len(work.reasons) == 3
    assert "bare/3" in work.reasons[0] and "other packages" in work.reasons[0]
    assert "old/2" in work.reasons[1] and "another version" in work.reasons[1]
    assert "weak/1" in work.reasons[2] and "tier T2" in work.reasons[2] and "T3" in work.reasons[2]
    assert why_unserved(database, queue_of(COURSE)) == [*work.reasons]
    # A paused course has its reason already, and one that serves is enough.
    CourseLine(database).pause(COURSE)
    (sentence,) = why_unserved(database, queue_of(COURSE))
    assert "is paused" in sentence and "grade queue resume" in sentence
    assert read_queue(database).unserved == ()
    CourseLine(database).pause(COURSE, False)
    fits = new_worker(database, "fits/4")
    assert read_queue(database).unserved == () and why_unserved(database, queue_of(COURSE)) == []
    assert queue.drain([fits]) == 1
    assert len(read_queue(database).unserved) == 1


def test_what_was_set_aside_is_listed_until_it_is_tried_again(database: Database) -> None:
    number = poison(database)
    state = read_queue(database)
    (aside,) = state.aside
    assert (aside.program, aside.course, aside.item) == (number, COURSE, "softmax")
    assert "set aside" in aside.reason and aside.tried_by == ("dead-1/1", "dead-2/1", "dead-3/1")
    assert course_state(database).set_aside == 1 and state.length == 0
    line = CourseLine(database)
    assert line.set_aside() == [number] and line.try_again([number]) and line.set_aside() == []
    assert read_queue(database).aside == () and read_queue(database).length == 1


def test_many_programs_are_tried_again_in_a_few_statements(database: Database) -> None:
    line, count = CourseLine(database), 300
    numbers = hand_over(database, [f"s{n}" for n in range(count)])
    others = hand_over(database, ["s"], course=OTHER)
    change(database, "DELETE FROM procrastinate_jobs")
    change(database, "INSERT INTO reports (program, worker, seconds) SELECT id, '', 0 FROM programs")
    statements: list[str] = []
    sa.event.listen(database._engine, "before_cursor_execute", lambda *given: statements.append(given[2]))
    assert line.try_again([*numbers, *others], COURSE) == numbers
    assert len(statements) <= 5 and line.set_aside() == others
    queued = "SELECT count(*) FROM procrastinate_jobs WHERE priority = 0 AND lock IS NULL"
    assert rows(database, queued) == [(count,)]


def test_a_course_is_paused_and_resumed_once(database: Database) -> None:
    line = CourseLine(database)
    assert line.pause(COURSE) and not line.pause(COURSE)
    assert [course.paused for course in read_queue(database).courses] == [True, False]
    assert line.pause(COURSE, False) and not line.pause(COURSE, False)
    assert not line.pause("nobody")


def test_a_new_weight_counts_for_what_waits_already(database: Database) -> None:
    for course in (COURSE, OTHER):
        hand_over(database, [f"{n:03}" for n in range(400)], course=course, chunk=20)
    worker, line = new_worker(database), CourseLine(database)

    def turns(most: int) -> list[str]:
        begun = []
        while len(begun) < most and (chunk := claim(database, worker)) is not None:
            begun.append(chunk.queue.partition(".")[0])
            WorkQueue(database).hand_in(worker, chunk, graded(chunk))
        return begun

    assert abs(turns(10).count(OTHER) - 5) <= 1
    line.set_weight(OTHER, 4)
    assert course_state(database, OTHER).weight == 4
    # 15 chunks of it are left: four turns in five are its own until they are begun.
    assert abs(turns(15).count(OTHER) - 12) <= 1
    # Back and forth gains nothing, nor do those who hand over later lose their place.
    for weight in (1, 1_000, 1):
        line.set_weight(OTHER, weight)
    hand_over(database, ["late"], course=COURSE)
    left = turns(100)
    assert len(left) == 16 and left[-1] == COURSE


def test_cancelled_programs_leave_no_job_behind(database: Database) -> None:
    hand_over(database, ["a", "b", "c"], chunk=2)
    kept = hand_over(database, ["z"], course=OTHER)
    line = CourseLine(database)
    mine = line.waiting(COURSE)
    assert len(mine) == 3 and line.waiting() == [*mine, *kept]
    assert line.waiting(chosen=[mine[0], 10**15]) == mine[:1]
    assert line.cancel(mine[:1]) == 1
    assert rows(database, "SELECT count(*) FROM procrastinate_jobs") == [(3,)]  # its chunk holds another one
    assert line.cancel(mine) == 2
    assert rows(database, "SELECT count(*) FROM procrastinate_jobs") == [(1,)]
    assert line.cancel([]) == 0
    assert students_of(claim(database, new_worker(database))) == ["z"]


def test_more_programs_are_cancelled_than_a_statement_has_parameters(database: Database) -> None:
    line = CourseLine(database)
    change(
        database,
        "INSERT INTO programs"
        " (course, student, item, version, submission, mode, run, queue, interactive, code)"
        f" SELECT '{COURSE}', n::text, 'softmax', '{VERSION}', n::text, 'marks', 'run', 'queue', false, ''"
        " FROM generate_series(1, 70000) n",
    )
    assert line.cancel(line.waiting()) == 70_000
    assert read_queue(database).length == 0


def test_a_queue_of_another_version_is_a_reason_too(database: Database) -> None:
    program = ProgramForQueue("a", "softmax", VERSION, "s", "code")
    CourseLine(database).hand_over(COURSE, f"{COURSE}.T9.x.y", "marks", "run", [program])
    new_worker(database)
    (work,) = read_queue(database).unserved
    assert work.reasons == ("its queue has a name of another version of Softmark",)


def test_courses_and_workers_are_meant_by_their_names(database: Database) -> None:
    CourseLine(database).register_course("c" * 11 + "d", "Attention")
    CourseLine(database).register_course("e" * 12, "Attention")
    for name in ("lab/1", "lab/2", "lab2/1"):
        new_worker(database, name)
    state = read_queue(database)
    assert state.course(OTHER.upper()).id == state.course("dd").id == OTHER
    for text, message in (
        ("Attention", "several courses"),
        ("cc", "several courses"),
        ("Attentoin", "did you mean Attention"),
        ("", "no course of the queue"),
        ("\x1b[31m", "no course of the queue"),
    ):
        with pytest.raises(UsageError, match=message) as caught:
            state.course(text)
        assert "\x1b" not in str(caught.value)
    assert [worker.name for worker in state.workers_of("lab")] == ["lab/1", "lab/2"]
    (second,) = state.workers_of("lab/2")
    assert state.workers_of(str(second.number)) == [second]
    for text in ("la", "", "lab/", "99999"):
        with pytest.raises(UsageError, match="no worker"):
            state.workers_of(text)
