"""``grade queue`` beside real workers and a real server: each command changes what they do, and says so."""

from __future__ import annotations

import getpass
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from engine.cluster.course_line import CourseLine, ProgramForQueue
from engine.cluster.fingerprint import pseudonym
from engine.cluster.queue_tables import open_queue_database
from engine.cluster.work_queue import QueueReport, WorkerFacts, WorkQueue
from engine.commands import run
from engine.commands.context import find_context
from engine.commands.worker import course_queue
from engine.model import CodeSubmission
from engine.runner import SandboxOptions
from engine.store import open_store
from engine.store.database import has_store
from tests.integration.test_cluster_command import (
    EXAMPLE,
    GRADE,
    PATIENCE_S,
    ROOT,
    batch,
    started,
    until_handed_over,
)
from tests.live.postgres import server

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox of marks runs on Linux")

RIGHT = """import numpy as np

def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)
"""
PROGRAMS = 6


class Queue:
    """The command in this process, at one address."""

    def __init__(self, address: str, capsys: pytest.CaptureFixture[str]) -> None:
        self.address = address
        self._capsys = capsys

    def __call__(self, *words: object, code: int = 0) -> str:
        self._capsys.readouterr()
        got = run(["queue", *map(str, words), "--store", self.address])
        said = self._capsys.readouterr()
        assert got == code, said.out + said.err
        assert "Traceback" not in said.err
        return said.out + said.err

    def state(self) -> dict[str, Any]:
        self._capsys.readouterr()
        run(["queue", "--store", self.address, "--json"])
        document = json.loads(self._capsys.readouterr().out)
        assert isinstance(document, dict)
        return document

    def until(self, holds: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        end = time.monotonic() + PATIENCE_S
        while not holds(state := self.state()):
            assert time.monotonic() < end, state
            time.sleep(0.2)
        return state


@pytest.fixture
def queue(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Queue:
    monkeypatch.chdir(tmp_path)  # no course is above it
    return Queue(server().new_database(), capsys)


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("queue") / "course"
    assert run(["init", str(folder), "--title", "Cluster"]) == 0
    shutil.copytree(EXAMPLE / "problems", folder / "problems", dirs_exist_ok=True)
    shutil.copy(EXAMPLE / "roster.csv", folder / "roster.csv")
    return folder


@contextmanager
def working(folder: Path, address: str, *words: object) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    """Run a worker; yield it and the file of its log."""
    log = folder / "worker.log"
    with log.open("wb") as stream:
        process = subprocess.Popen(
            [*GRADE, "worker", "--store", address, "--heartbeat", "0.5", *map(str, words)],
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            stderr=stream,
            start_new_session=True,
        )
    try:
        yield process, log
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(PATIENCE_S)


def lines(log: Path, event: str) -> list[dict[str, Any]]:
    whole = log.read_text().rpartition("\n")[0].splitlines()
    return [line for line in map(json.loads, whole) if line["event"] == event]


def hand_over(course: Path, address: str) -> list[int]:
    """Hand programs over as a batch does that is killed before it collects anything."""
    context = replace(find_context(course), store=address)
    with closing(course_queue(context, SandboxOptions())) as mine:
        handed = [
            mine.program(
                student, "softmax", CodeSubmission(source, "softmax.py", sha256(source.encode()).hexdigest())
            )
            for student in ("s01", "s02", "s03")
            for source in (RIGHT, f"# by {student}\n{RIGHT}")
        ]
        return mine.hand_over(handed)


def test_pause_resume_and_drain_while_a_worker_runs(course: Path, queue: Queue, tmp_path: Path) -> None:
    assert queue("new").endswith("the queue is ready\n")
    assert queue().startswith("nothing waits\nno worker is running\n")
    hand_over(course, queue.address)
    said = queue(code=1)
    assert f"{PROGRAMS} programs without a report: 0 that somebody waits for, {PROGRAMS} of classes" in said
    assert f"{PROGRAMS} programs of Cluster wait, and no worker takes them:" in said
    assert queue("pause", "Cluster").startswith("Cluster is paused")
    assert queue("pause", "Cluster") == "Cluster is paused already\n"
    with working(tmp_path, queue.address, "--slots", 1, "--metrics", 0) as (worker, log):
        state = queue.until(lambda state: bool(state["workers"]))
        time.sleep(3.0)  # more than a look into the queue
        state = queue.state()
        assert (state["length"], state["courses"][0]["in_hand"], state["workers"][0]["graded"]) == (
            PROGRAMS, 0, 0,
        )  # fmt: skip
        assert state["unserved"] == [] and re.search("Cluster .* paused\n", queue())
        assert queue("resume", "Cluster") == f"Cluster is open again: {PROGRAMS} programs without a report\n"
        assert queue("resume", "Cluster") == "Cluster is open: it was not paused\n"
        state = queue.until(lambda state: not state["length"])
        (seen,) = state["workers"]
        assert (seen["slots"], seen["graded"], seen["fault"]) == (1, PROGRAMS, None)
        assert seen["silent_s"] < 10 and seen["name"].endswith(f"/{worker.pid}") and seen["per_minute"] > 0
        assert state["reports_per_minute"] == pytest.approx(seen["per_minute"], abs=1e-3)
        assert " reports a minute in the last minutes\n" in queue()
        # What the endpoint says is what the log says.
        (address,) = (line["address"] for line in lines(log, "metrics"))
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/metrics", address)
        asked = urllib.request.Request(address, headers={"Accept": "application/openmetrics-text"})
        with urllib.request.urlopen(asked, timeout=30) as reply:
            families = {f.name: f for f in text_string_to_metric_families(reply.read().decode())}
        counts = {s.labels["outcome"]: s.value for s in families["softmark_programs"].samples}
        chunks = lines(log, "chunk")
        assert sum(counts.values()) == PROGRAMS == sum(line["graded"] for line in chunks)
        for outcome, count in counts.items():
            assert count == sum(line["outcomes"].get(outcome, 0) for line in chunks)
        # A drained worker ends, though nobody stops it.
        assert queue("drain", seen["number"]).endswith("ends after what it has in hand: 0 programs\n")
        assert worker.wait(PATIENCE_S) == 0
        assert queue.state()["workers"] == []
        assert len(lines(log, "draining")) == 1 and lines(log, "ends")[0]["programs"] == PROGRAMS
        moments = [json.loads(line)["at"] for line in log.read_text().splitlines()]
        assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", moment) for moment in moments)
        assert moments == sorted(moments)
        assert not any(student in log.read_text() for student in ("s01", "s02", "s03"))


def test_what_was_set_aside_is_graded_when_it_is_tried_again(
    course: Path, queue: Queue, tmp_path: Path
) -> None:
    numbers = hand_over(course, queue.address)
    database = open_queue_database(queue.address)
    try:
        first = numbers[0]
        with database.write() as connection:
            connection.exec_driver_sql(
                "INSERT INTO reports (program, reason, worker, seconds) VALUES (%(n)s, %(why)s, '', 0)",
                {"n": first, "why": "each worker died\x1b[31m\nhere"},
            )
    finally:
        database.close()
    with working(tmp_path, queue.address, "--slots", 2, "--until-empty") as (worker, _):
        assert worker.wait(PATIENCE_S) == 0
    said = queue(code=1)
    assert "set aside: 1 program that no worker could grade" in said and "\x1b" not in said
    assert re.search(rf"^{first} +Cluster +\S+ +\d+ s ago +- +each worker died", said, re.MULTILINE)
    assert "not set aside in this queue: 1000000\n" in queue("retry", 1_000_000, code=1)
    assert queue("retry", first) == "1 program waits again\n"
    assert queue("retry", "--all") == "0 programs wait again\n"
    assert queue.state()["length"] == 1
    with working(tmp_path, queue.address, "--slots", 1, "--until-empty") as (worker, log):
        assert worker.wait(PATIENCE_S) == 0
    assert [line["graded"] for line in lines(log, "chunk")] == [1]
    state = queue.state()
    assert (state["length"], state["set_aside"]) == (0, [])


def test_cancelled_programs_are_not_graded_and_the_batch_hears_of_it(
    course: Path, queue: Queue, tmp_path: Path
) -> None:
    with started(*batch(course, queue.address, tmp_path / "out")) as class_run:
        until_handed_over(queue.address)
        time.sleep(2.0)
        length = queue.state()["length"]  # all are handed over in one transaction
        assert queue("cancel", "--all") == f"nothing was cancelled: --yes cancels {length} programs\n"
        assert queue.state()["length"] == length
        assert queue("cancel", "--of", "Cluster", "--yes") == f"{length} programs are cancelled\n"
        assert queue("cancel", "--all") == "there is nothing to cancel\n"
        printed, _ = class_run.communicate(timeout=PATIENCE_S)
    assert class_run.returncode == 3  # some work is ungraded
    result = json.loads(printed)
    assert len(result["ungraded"]) == length
    assert "it was taken out of the queue" in json.dumps(result["ungraded"])
    assert queue.state()["length"] == 0


def test_weight_and_the_courses_own_folder(course: Path, queue: Queue, tmp_path: Path) -> None:
    queue("new")
    assert "handed nothing over yet" in queue("pause", "--course", course, code=2)
    hand_over(course, queue.address)
    assert queue("weight", "Cluster", 3) == "Cluster: weight 3, before 1\n"
    # Of a single course nobody needs to say the name, and of a folder's own neither.
    assert queue("weight", 4) == "Cluster: weight 4, before 3\n"
    assert queue("weight", 3, "--course", course) == "Cluster: weight 3, before 4\n"
    with closing(open_queue_database(queue.address)) as database:
        CourseLine(database).register_course("d" * 12, "Another")
    for words in (("weight", 5), ("pause",), ("resume",)):
        said = queue(*words, code=2)
        assert "which course is meant?" in said and "a queue of several: Another or Cluster" in said
    assert queue.state()["courses"][-1]["weight"] == 3
    assert queue("pause", "--course", course).startswith("Cluster is paused")
    # The group's own options are its commands' too.
    assert run(["queue", "--course", str(course), "--store", queue.address, "resume"]) == 0
    assert not queue.state()["courses"][-1]["paused"]


def logged(place: str | Path) -> list[tuple[str, str, str, dict[str, object]]]:
    with open_store(place) as store:
        entries = [entry for _, entry in store.audit.newest(100)][::-1]
    assert {entry.by for entry in entries} <= {getpass.getuser()}
    return [(entry.action, entry.role, entry.subject, {**entry.details}) for entry in entries]


def test_what_a_command_changes_is_in_the_courses_log(
    course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As what the site's page changes: who, what, and of how many programs."""
    folder = shutil.copytree(course, tmp_path / "course")
    address = server().new_store()
    text = (folder / "course.yaml").read_text()
    (folder / "course.yaml").write_text(re.sub("^store: .*", f"store: {address}", text, flags=re.MULTILINE))
    numbers = hand_over(folder, address)
    with closing(open_queue_database(address)) as database:
        facts = WorkerFacts("lab-1/7", 1, "T2", "", "")
        WorkQueue(database).register_worker(facts)
        with database.write() as connection:
            connection.exec_driver_sql(
                "INSERT INTO reports (program, reason, worker, seconds) VALUES (%(n)s, 'it died', '', 0)",
                {"n": numbers[0]},
            )
    for words in (
        "pause", "pause", "weight Cluster 3", "resume", "drain lab-1", f"retry {numbers[0]}",
        f"cancel {numbers[1]}", f"cancel {numbers[1]} --yes", "cancel --of Cluster --yes",
    ):  # fmt: skip
        assert run(["queue", *words.split(), "--course", str(folder)]) == 0, words
    by = "command line"
    assert logged(address) == [
        ("queue.pause", by, "Cluster", {}),
        ("queue.weight", by, "Cluster", {"weight": 3, "before": 1}),
        ("queue.resume", by, "Cluster", {}),
        ("queue.drain", by, "lab-1/7", {}),
        ("queue.retry", by, "programs that were set aside", {"programs": 1}),
        ("queue.cancel", by, "single programs", {"programs": 1}),
        ("queue.cancel", by, "Cluster", {"programs": PROGRAMS - 1}),
    ]
    # What isn't done isn't there either.
    assert run(["queue", "drain", "lab-9", "--course", str(folder)]) == 2
    assert len(logged(address)) == 7


def test_the_log_is_the_courses_own_and_no_store_is_made_for_it(course: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(course, tmp_path / "course")
    queue, beside = server().new_database(), server().new_store()
    hand_over(folder, queue)
    pause = ["queue", "pause", "--course", str(folder)]
    assert run([*pause, "--store", queue]) == 0
    assert not has_store(queue) and not (folder / ".softmark" / "store.db").exists()
    # The queue of a department may lie in the store of another course.
    hand_over(folder, beside)
    open_store(folder / ".softmark" / "store.db").close()
    (folder / "course.yaml").write_text(f"{(folder / 'course.yaml').read_text()}\nqueue: {beside}\n")
    assert run([*pause, "--store", beside]) == 0
    assert logged(beside) == []
    assert logged(folder / ".softmark" / "store.db") == [("queue.pause", "command line", "Cluster", {})]


@pytest.mark.parametrize("apart", [False, True], ids=["in the store's database", "in one of its own"])
def test_an_erased_student_has_nothing_in_the_queue(
    course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], apart: bool
) -> None:
    """Programs that wait, that a worker has in hand, and reports that nobody has collected."""
    folder = shutil.copytree(course, tmp_path / "course")
    address = server().new_database() if apart else server().new_store()
    text = (folder / "course.yaml").read_text()
    if apart:
        (folder / "course.yaml").write_text(f"{text}\nqueue: {address}\n")
        open_store(folder / ".softmark" / "store.db").close()
    else:
        (folder / "course.yaml").write_text(re.sub("^store: .*", f"store: {address}", text, flags=re.M))
    erase = ["store", "erase-student", "s02", "--json", "--course", str(folder)]
    context = find_context(folder)
    name = pseudonym(context.secret(), "s02")
    with closing(open_queue_database(address)) as database:
        assert run(erase) == 2, "nothing is known of s02, and there is no queue"
        hand_over(folder, address)
        queue = WorkQueue(database)
        worker = queue.register_worker(WorkerFacts("lab-1/7", 1, "T2", "", ""))
        chunk = queue.claim(worker, queue.queues_for(lambda _: True))
        assert chunk is not None and {program.student for program in chunk.programs} >= {name}
        first = next(program for program in chunk.programs if program.student == name)
        report = QueueReport(first.id, "{}", None, "lab-1/7", 0.1)
        with database.write() as connection:
            connection.exec_driver_sql(
                "INSERT INTO reports (program, report, worker, seconds) VALUES (%(n)s, '{}', '', 0)",
                {"n": first.id},
            )

        def left() -> set[str]:
            with database.read() as connection:
                return {*connection.exec_driver_sql("SELECT student FROM programs").scalars()}

        capsys.readouterr()
        assert run(erase) == 0  # only shown
        assert json.loads(capsys.readouterr().out)["rows"]["queued_programs"] == 2 and name in left()
        assert run([*erase, "--yes"]) == 0
        assert json.loads(capsys.readouterr().out)["rows"]["queued_programs"] == 2
        others = {pseudonym(context.secret(), student) for student in ("s01", "s03")}
        assert left() == others
        # Who has it in hand reports for nothing, and what the others handed in is graded.
        reports = [replace(report, program=program.id) for program in chunk.programs]
        assert queue.hand_in(worker, chunk, reports) == len(chunk.programs) - 2
        assert left() == others and run(erase) == 2
    place = folder / ".softmark" / "store.db" if apart else address
    assert logged(place) == [("student.erase", "command line", "a student", {"rows": 2})]


def test_what_cannot_be_meant_is_refused(queue: Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    said = queue(code=3)
    assert "there is no queue in this database yet" in said and "next: " in said
    queue("new")
    assert queue("new").endswith("the queue was there already\n")
    for words, message in (
        (("pause",), "which course is meant?"),
        (("pause", "Cluster"), "no course of the queue is called 'Cluster'"),
        (("weight", "Cluster", 0), "must be between 1 and 1000"),
        (("weight", 0), "must be between 1 and 1000"),
        (("weight", "Cluster"), "'Cluster'"),
        (("weight", "Attention", "2026", 3), "a title with spaces in quotation marks"),
        (("weight",), "Missing argument"),
        (("weight", 3), "which course is meant?"),
        (("drain", "nobody"), "no worker 'nobody' is in the queue"),
        (("drain",), "Missing argument"),
        (("retry",), "which programs are meant?"),
        (("retry", 1, "--all"), "which programs are meant?"),
        (("retry", 10**30), "must be between 1 and"),
        (("cancel",), "which programs are meant?"),
        (("cancel", 1, "--all"), "which programs are meant?"),
        (("cancel", "--of", "x"), "no course of the queue is called 'x'"),
        (("stop",), "No such command"),
    ):
        said = queue(*words, code=2)
        assert message in said
    assert queue("retry", 5, code=1) == (
        "0 programs wait again\nnot set aside in this queue: 5\n  next: grade queue shows what is\n"
    )
    # Without an option the variable is taken, as by workers; a file is no queue.
    monkeypatch.setenv("SOFTMARK_STORE", queue.address)
    assert run(["queue"]) == 0
    monkeypatch.delenv("SOFTMARK_STORE")
    assert run(["queue"]) == 2
    queue.address = "store.db"
    assert "the queue needs a PostgreSQL server" in queue(code=2)
    queue.address = "postgresql://nobody@127.0.0.1:9/none"
    assert "can't be reached" in queue(code=3)


def test_of_hundreds_of_courses_those_are_shown_that_matter(capsys: pytest.CaptureFixture[str]) -> None:
    address = server().new_database()
    queue = Queue(address, capsys)
    queue("new")
    courses = [f"{number:012x}" for number in range(300)]
    with closing(open_queue_database(address)) as database:
        line = CourseLine(database)
        for course in courses:
            line.register_course(course, f"Course {int(course, 16)}")
        for course in courses[:12]:
            server().sql(
                f"INSERT INTO softmark_queue.items VALUES ('{course}', 'softmax', 'v1', '00', '{{}}', false)",
                address.partition("@/")[2].partition("?")[0],
            )
            program = ProgramForQueue("s", "softmax", "v1", "h", "code")
            line.hand_over(course, f"{course}.T2.abcdef.0123456789ab", "marks", "run", [program])
        line.pause(courses[20])
        work = WorkQueue(database)
        for number in range(30):  # all of another version
            work.register_worker(WorkerFacts(f"lab-{number}/1", 1, "T1", "other", "abcdef"))
    said = queue(code=1)
    table = said.partition("worker ")[0]
    assert all(f"Course {number} " in table for number in (*range(12), 20)) and "Course 21 " not in table
    assert "287 more courses have nothing in the queue" in said
    # Twelve courses wait for one reason, which thirty workers have.
    assert said.count("no worker takes them") == 1 and "12 programs of Course 0, Course 1" in said
    assert said.count("doesn't take this work") == 8 and "and 22 more workers" in said
    assert len(queue.state()["courses"]) == 300 and len(queue.state()["unserved"]) == 12
