"""The queue on a real server: each program one report, whoever dies, and the order in which work is begun."""

from __future__ import annotations

import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
import sqlalchemy as sa

from engine.cluster.course_line import CourseLine, ProgramForQueue
from engine.cluster.queue_tables import make_queue, open_queue_database, require_queue
from engine.cluster.work_queue import MOST_DEATHS, MOST_TRIES, WorkQueue
from engine.errors import StoreError
from engine.store.database import Database
from tests.live.postgres import server
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


def test_programs_come_back_as_reports_and_leave_nothing_behind(database: Database) -> None:
    numbers = hand_over(database, ["a", "b", "c"])
    worker = new_worker(database)
    chunk = claim(database, worker)
    assert students_of(chunk) == ["a", "b", "c"] and chunk is not None
    assert [program.code for program in chunk.programs] == ["code of a", "code of b", "code of c"]
    assert claim(database, worker) is None
    assert WorkQueue(database).hand_in(worker, chunk, graded(chunk)) == 3
    line = CourseLine(database)
    assert [report.program for report in line.reports_of("run")] == numbers
    line.forget(numbers)
    for table in ("programs", "reports", "procrastinate_jobs", "procrastinate_events"):
        assert rows(database, f"SELECT count(*) FROM {table}") == [(0,)]


def test_a_program_is_handed_over_once_and_the_newest_run_collects_it(database: Database) -> None:
    first = hand_over(database, ["a"], run="killed")
    assert hand_over(database, ["a", "b"], run="again")[0] == first[0]
    worker = new_worker(database)
    for _ in range(2):
        chunk = claim(database, worker)
        assert chunk is not None
        WorkQueue(database).hand_in(worker, chunk, graded(chunk))
    assert claim(database, worker) is None
    line = CourseLine(database)
    assert line.reports_of("killed") == [] and len(line.reports_of("again")) == 2


def test_a_chunk_that_is_handed_in_in_part_waits_for_the_rest(database: Database) -> None:
    hand_over(database, ["a", "b", "c"])
    worker = new_worker(database)
    chunk = claim(database, worker)
    assert chunk is not None
    assert WorkQueue(database).hand_in(worker, chunk, graded(chunk)[:1]) == 1
    assert students_of(claim(database, worker)) == ["b", "c"]


def test_what_a_dead_worker_had_waits_again_each_by_itself(database: Database) -> None:
    hand_over(database, ["a", "b"])
    dead, alive = new_worker(database), new_worker(database, "host/2")
    assert len(students_of(claim(database, dead))) == 2
    queue = WorkQueue(database)
    assert queue.take_from_the_dead().waiting == ()  # it has just shown that it lives
    die(database, dead)
    assert len(queue.take_from_the_dead().waiting) == 2
    assert not queue.beat(dead).is_known and queue.beat(alive).is_known
    chunks = [claim(database, alive) for _ in range(2)]
    assert sorted(student for chunk in chunks for student in students_of(chunk)) == ["a", "b"]
    assert all(chunk is not None and chunk.is_suspect for chunk in chunks)


def test_a_worker_that_was_taken_for_dead_hands_in_what_nobody_graded_meanwhile(database: Database) -> None:
    numbers = hand_over(database, ["a", "b"])
    slow, other = new_worker(database), new_worker(database, "host/2")
    queue = WorkQueue(database)
    late = claim(database, slow)
    die(database, slow)
    queue.take_from_the_dead()
    chunk = claim(database, other)
    assert chunk is not None and late is not None
    assert queue.hand_in(other, chunk, graded(chunk, '"first"')) == 1
    assert queue.hand_in(slow, late, graded(late, '"late"')) == 1  # the other one's stays
    texts = {report.program: report.report for report in CourseLine(database).reports_of("run")}
    assert texts == {numbers[0]: '"first"', numbers[1]: '"late"'}
    # What is left in the queue is found to be graded, and ends.
    assert claim(database, other) is None
    assert rows(database, "SELECT count(*) FROM procrastinate_jobs") == [(0,)]


def test_a_program_that_kills_each_worker_is_set_aside_and_others_go_on(database: Database) -> None:
    numbers = hand_over(database, ["a", "poison", "z"])
    queue, line = WorkQueue(database), CourseLine(database)
    deaths: Counter[str] = Counter()
    for turn in range(20):
        worker = new_worker(database, f"host-{turn}/1")
        chunk = claim(database, worker)
        if chunk is None:
            break
        if "poison" in students_of(chunk):
            deaths.update(students_of(chunk))
            die(database, worker)
            queue.take_from_the_dead()
        else:
            queue.hand_in(worker, chunk, graded(chunk))
    # Once together with the others, and then alone.
    assert deaths == {"a": 1, "z": 1, "poison": MOST_DEATHS + 1}
    came = {report.program: report for report in line.reports_of("run")}
    assert came.keys() == set(numbers)
    assert came[numbers[1]].report is None and "set aside" in str(came[numbers[1]].reason)
    assert came[numbers[0]].report == came[numbers[2]].report == "{}"
    assert line.try_again([*numbers[:2], numbers[1]]) == [numbers[1]] and line.try_again(numbers[:1]) == []
    assert students_of(claim(database, new_worker(database))) == ["poison"]


def test_a_machine_that_cannot_grade_gives_back_and_says_so_in_the_end(database: Database) -> None:
    (number,) = hand_over(database, ["a"])
    worker, queue, line = new_worker(database), WorkQueue(database), CourseLine(database)
    for turn in range(MOST_TRIES):
        with database.write() as connection:  # its time of rest is over
            connection.execute(sa.text("UPDATE procrastinate_jobs SET scheduled_at = NULL"))
        assert line.reports_of("run") == []
        chunk = claim(database, worker)
        assert chunk is not None and chunk.programs[0].tries == turn
        queue.hand_in(worker, chunk, [], failed=number, reason="no space left on the disk")
        assert claim(database, worker) is None  # it rests first
    (report,) = line.reports_of("run")
    assert report.report is None and report.reason == "no space left on the disk"


def test_a_cancelled_program_is_not_graded_and_a_late_report_is_dropped(database: Database) -> None:
    numbers = hand_over(database, ["a", "b"])
    worker, queue, line = new_worker(database), WorkQueue(database), CourseLine(database)
    assert line.cancel(numbers[:1]) == 1
    chunk = claim(database, worker)
    assert students_of(chunk) == ["b"] and chunk is not None
    assert line.cancel(numbers[1:]) == 1
    assert queue.hand_in(worker, chunk, graded(chunk)) == 0
    assert line.reports_of("run") == [] and line.runs_of(numbers) == {}


def test_who_waits_comes_before_a_class_and_the_newest_hand_in_first(database: Database) -> None:
    hand_over(database, ["class"])
    line = CourseLine(database)
    for submission in ("old", "new"):
        program = ProgramForQueue("eve", "softmax", VERSION, submission, submission)
        line.hand_over(COURSE, queue_of(COURSE), "marks", "site", [program], interactive=True)
    hand_over(database, ["adam"], interactive=True)
    workers = [new_worker(database, f"host/{n}") for n in range(4)]
    first, second = claim(database, workers[0]), claim(database, workers[1])
    assert first is not None and second is not None
    # Adam waits for his only one; of Eve's the newest goes first, and one at a time.
    assert {first.programs[0].code, second.programs[0].code} == {"code of adam", "new"}
    third = claim(database, workers[2])
    assert students_of(third) == ["class"]
    assert claim(database, workers[3]) is None
    eves = first if first.programs[0].code == "new" else second
    WorkQueue(database).hand_in(workers[0] if eves is first else workers[1], eves, graded(eves))
    last = claim(database, workers[3])
    assert last is not None and last.programs[0].code == "old"


def test_courses_share_by_weight(database: Database) -> None:
    with database.write() as connection:
        connection.execute(sa.text("UPDATE courses SET weight = 3 WHERE id = :id"), {"id": OTHER})
    for course in (COURSE, OTHER):
        hand_over(database, [f"{n:03}" for n in range(400)], course=course, chunk=20)
    worker = new_worker(database)
    turns = []
    while (chunk := claim(database, worker)) is not None:
        turns.append(chunk.queue.partition(".")[0])
        WorkQueue(database).hand_in(worker, chunk, graded(chunk))
    # While both have work, three quarters of it are the heavier one's: its 20 chunks end with the 27th.
    assert len(turns) == 40
    assert abs(turns[:24].count(OTHER) - 18) <= 1
    assert set(turns[28:]) == {COURSE}


def test_a_paused_course_waits_and_other_queues_are_left_alone(database: Database) -> None:
    hand_over(database, ["a"])
    worker, queue = new_worker(database), WorkQueue(database)
    assert queue.claim(worker, queue.queues_for(lambda name: not name.startswith(COURSE))) is None
    with database.write() as connection:
        connection.execute(sa.text("UPDATE courses SET paused = true"))
    assert claim(database, worker) is None
    with database.write() as connection:
        connection.execute(sa.text("UPDATE courses SET paused = false"))
    assert students_of(claim(database, worker)) == ["a"]


def test_workers_side_by_side_take_each_program_once(database: Database) -> None:
    numbers = hand_over(database, [f"{n:04}" for n in range(600)], chunk=20)

    def work(name: int) -> list[int]:
        worker, done = new_worker(database, f"host/{name}"), []
        while (chunk := claim(database, worker)) is not None:
            done += [program.id for program in chunk.programs]
            WorkQueue(database).hand_in(worker, chunk, graded(chunk))
        return done

    with ThreadPoolExecutor(4) as pool:
        done = [number for each in pool.map(work, range(4)) for number in each]
    assert sorted(done) == sorted(numbers)


def test_a_draining_worker_is_told_at_its_next_beat(database: Database) -> None:
    worker, queue = new_worker(database), WorkQueue(database)
    assert not queue.beat(worker).is_draining
    with database.write() as connection:
        connection.execute(sa.text("UPDATE workers SET draining = true"))
    assert queue.beat(worker, "no sandbox").is_draining
    assert rows(database, "SELECT fault FROM workers") == [("no sandbox",)]
    queue.unregister_worker(worker)
    assert not queue.beat(worker).is_known


def test_the_tables_are_made_once_and_their_absence_is_said() -> None:
    address = server().new_database()
    opened = open_queue_database(address)
    with pytest.raises(StoreError, match="no queue"):
        require_queue(opened)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: make_queue(opened), range(4)))
    require_queue(opened)
    with opened.write() as connection:
        connection.execute(sa.text("UPDATE softmark_queue_version SET version = 99"))
    with pytest.raises(StoreError, match="a newer version"):
        require_queue(opened)
    opened.close()
    with pytest.raises(StoreError, match="PostgreSQL"):
        open_queue_database("store.db")


def test_what_is_left_of_a_chunk_waits_in_pieces_of_a_second(database: Database) -> None:
    """Programs that take long are shared by whoever is idle, though they were handed over as one chunk."""
    hand_over(database, [f"s{n}" for n in range(8)])
    worker = new_worker(database)
    chunk = claim(database, worker)
    assert chunk is not None and len(chunk.programs) == 8
    slow = [replace(report, seconds=0.5) for report in graded(chunk)[:2]]
    assert WorkQueue(database).hand_in(worker, chunk, slow) == 2
    pieces = [students_of(claim(database, new_worker(database))) for _ in range(3)]
    assert pieces == [["s2", "s3"], ["s4", "s5"], ["s6", "s7"]]
    assert claim(database, worker) is None
    assert rows(database, "SELECT sum(losses + tries) FROM programs") == [(0,)]


def test_slots_are_those_of_workers_that_live_and_go_on(database: Database) -> None:
    line = CourseLine(database)
    assert line.live_slots() == 0
    dead, draining, _ = (new_worker(database, f"host/{n}") for n in range(3))
    assert line.live_slots() == 6
    die(database, dead)
    WorkQueue(database).drain([draining])
    assert line.live_slots() == 2
