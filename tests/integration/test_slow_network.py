"""10 ms to the database and back: a class is graded rightly, and no program costs a round trip of its own."""

from __future__ import annotations

import csv
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import engine.cluster.class_on_cluster as class_on_cluster
import engine.cluster.worker as worker_module
from engine import COMMON_PACKAGES
from engine.cluster.course_line import CourseLine
from engine.cluster.published_items import PublishedItems
from engine.cluster.queue_tables import make_queue, open_queue_database
from engine.cluster.work_queue import WorkQueue
from engine.cluster.worker import ClusterWorker
from engine.commands import run
from engine.course import Course
from engine.items.bank import builtin_bank
from engine.model import CodeSubmission, GradeReport, Mode, Outcome
from engine.runner import Job, Runner, RunResult
from engine.runs.batch import BatchResult
from tests.live.postgres import server
from tests.live.slow_network import SlowNetwork, slow_network

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the tests' server runs on POSIX systems")

DELAY_S = 0.010
BANK = builtin_bank()
PATIENCE_S = 60.0
FEW, MANY = 20, 120


class Unused(Runner):
    tier = "T1"

    def run(self, job: Job) -> RunResult:
        raise AssertionError("the fake grader runs nothing")


def judge(
    exercise: object, plan: object, submission: CodeSubmission, runner: Runner, *, mode: Mode, student: str
) -> GradeReport:
    """Return the points that a program says it deserves."""
    bank = BANK
    points = float(submission.source.split()[1])
    return GradeReport(
        "softmax", bank.version("softmax"), Outcome.PARTIAL, points, bank.load("softmax").points,
        student=student, mode=mode, tier=runner.tier,
    )  # fmt: skip


@contextmanager
def at_work(address: str) -> Iterator[ClusterWorker]:
    database = open_queue_database(address)
    worker = ClusterWorker(WorkQueue(database), Unused(), packages=COMMON_PACKAGES, slots=2)
    thread = threading.Thread(target=worker.run)
    thread.start()
    try:
        yield worker
    finally:
        worker.stop()
        thread.join(PATIENCE_S)
        database.close()
        assert not thread.is_alive()


def make_class(folder: Path, students: int) -> tuple[Path, dict[str, str]]:
    """Return what a class hands in, and what each deserves."""
    marks = {}
    for number in range(students):
        student, points = f"s{number:03}", 1 + number % 2
        (folder / student).mkdir(parents=True)
        (folder / student / "softmax.py").write_text(f"# {points} {student}\n")
        marks[student] = str(points)
    return folder, marks


def test_a_class_is_graded_over_a_slow_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_module, "grade_code", judge)
    monkeypatch.setattr(PublishedItems, "prepared", lambda *_: (None, None))
    grade_on_cluster = class_on_cluster.grade_on_cluster
    reports_of = CourseLine.reports_of
    trips, idle = {}, [0]

    def looked(*given: Any, **more: Any) -> Any:
        came = reports_of(*given, **more)
        idle[0] += not came
        return came

    monkeypatch.setattr(CourseLine, "reports_of", looked)
    for students in (FEW, MANY):
        course = tmp_path / f"course-{students}"
        Course.init(course, "Far away")
        handed, marks = make_class(tmp_path / f"in-{students}", students)
        (course / "roster.csv").write_text("id\n" + "\n".join(marks) + "\n")
        url = server().new_store()
        queue = open_queue_database(url)
        make_queue(queue)
        queue.close()
        with slow_network(server(), DELAY_S) as ours, slow_network(server(), DELAY_S) as theirs:

            def counted(
                *given: Any, way: SlowNetwork = ours, size: int = students, **more: Any
            ) -> BatchResult:
                before, idle[0] = way.trips, 0
                result = grade_on_cluster(*given, **more)
                # However long the worker takes: a look that finds nothing is four round trips.
                trips[size] = way.trips - before - 4 * idle[0]
                way.delay_s = 0.0  # pages and gradebook, which come now, ask for each student
                return result

            monkeypatch.setattr(class_on_cluster, "grade_on_cluster", counted)
            out = tmp_path / f"out-{students}"
            words = ["batch", handed, "--course", course, "--store", ours.address(url), "--out", out]
            with at_work(theirs.address(url)):
                assert run([*map(str, words), "--cluster"]) == 0
            assert theirs.trips > 5, "the worker went another way"
        with (out / "gradebook.csv").open() as file:
            assert {row["student"]: row["softmax"] for row in csv.DictReader(file)} == marks
    # Each look that finds something is some 13, and the worker hands in chunks of 50: one, or three.
    assert trips[MANY] - trips[FEW] <= 40, trips
