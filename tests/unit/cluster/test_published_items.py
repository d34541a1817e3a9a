"""An exercise's files on their way to workers: checked by hash, name and size before anything is loaded."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest
import sqlalchemy as sa

import engine.cluster.work_queue as queue_module
import engine.cluster.worker as worker_module
from engine.cluster.course_side import CourseQueue
from engine.cluster.published_items import PublishedItems
from engine.cluster.queue_tables import open_queue_database
from engine.cluster.work_queue import MOST_TRIES, QueuedProgram, WorkQueue
from engine.cluster.worker import ClusterWorker, WorkerTimes
from engine.errors import EngineError, InputError
from engine.items.bank import Bank, builtin_bank, builtin_root
from engine.model import CodeSubmission, Mode
from engine.runner import Job, Runner, RunResult
from engine.store.database import Database
from tests.live.postgres import server

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the tests' server runs on POSIX systems")

PATIENCE_S = 60.0
ROOT = Path(__file__).parents[3]


class Unused(Runner):
    tier = "T1"

    def run(self, job: Job) -> RunResult:
        raise AssertionError("nothing may run")


@pytest.fixture
def course() -> Iterator[CourseQueue]:
    queue = new_course(builtin_bank())
    yield queue
    queue.close()


@pytest.fixture(autouse=True)
def workers_without_the_item(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let workers take every exercise from the database, as those of a course's own."""
    monkeypatch.setattr("engine.cluster.published_items.builtin_bank", lambda: Bank([]))


def new_course(bank: Bank) -> CourseQueue:
    return CourseQueue(
        server().new_database(),
        bank=bank,
        secret=b"secret",
        title="Nets",
        mode=Mode.MARKS,
        tier="T2",
        packages=(),
    )


def change(database: Database, statement: str, **values: object) -> None:
    with database.write() as connection:
        connection.execute(sa.text(statement), values)


def queued(course: CourseQueue) -> QueuedProgram:
    return QueuedProgram(1, course.course, "x", "softmax", course.version("softmax"), "marks", "{}", 0, 0)


def refusal(course: CourseQueue, program: QueuedProgram) -> EngineError:
    """Return what a worker says that has none of the files yet."""
    items = PublishedItems(course.queue.database)
    try:
        with pytest.raises(EngineError) as refused:
            items.prepared(program)
    finally:
        items.close()
    return refused.value


def test_the_files_make_the_very_item(course: CourseQueue) -> None:
    program = queued(course)
    items = PublishedItems(course.queue.database)
    exercise, _plan = items.prepared(program)
    assert (exercise.item, exercise.version) == ("softmax", program.version)
    items.close()


def test_a_folder_that_somebody_deletes_is_made_again(
    course: CourseQueue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As systems do with what has lain in /tmp for ten days; a worker runs for months."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    items = PublishedItems(course.queue.database)
    (folder,) = tmp_path.iterdir()
    shutil.rmtree(folder)
    exercise, _plan = items.prepared(queued(course))
    assert exercise.item == "softmax"
    items.close()
    assert [*tmp_path.iterdir()] == []


def test_a_killed_worker_s_files_are_gone_with_the_next_start(
    course: CourseQueue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    lives = PublishedItems(course.queue.database)
    script = "import os, sys; from engine.cluster.published_items import PublishedItems\n"
    script += "kept = PublishedItems(None); os.kill(os.getpid(), 9)"
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", script], env=environment, cwd=ROOT, check=False)
    assert len([*tmp_path.iterdir()]) == 2
    next_start = PublishedItems(course.queue.database)
    assert len([*tmp_path.iterdir()]) == 2, "its own, and that of the one that lives"
    lives.prepared(queued(course))
    for items in (lives, next_start):
        items.close()
    assert [*tmp_path.iterdir()] == []


def test_a_full_disk_is_said_in_words(
    course: CourseQueue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_words: object, **_more: object) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("engine.cluster.published_items.tempfile.mkdtemp", full)
    program = queued(course)
    monkeypatch.setattr("engine.cluster.published_items.work_folder", lambda: nullcontext(tmp_path))
    error = refusal(course, program)
    assert (error.what, error.got) == (
        "a file of softmax can't be written on this machine",
        "No space left on device",
    )


def test_a_file_with_another_content_is_refused_until_it_is_published_again(course: CourseQueue) -> None:
    program = queued(course)
    change(course.queue.database, "UPDATE item_files SET content = content || 'import os'")
    error = refusal(course, program)
    assert error.what.startswith("a file of softmax isn't what was published")
    assert error.next_step is not None and "hand something of this exercise over again" in error.next_step
    # The next step is a true one.
    course.use_bank(Bank([builtin_root()]))
    assert course.version("softmax") == program.version
    items = PublishedItems(course.queue.database)
    items.prepared(program)
    items.close()


NAMES = (
    "../evil.py",
    "softmax/../../evil.py",
    "/tmp/evil.py",
    "a//b",
    "./a",
    "C:\\evil.py",
    "c:evil",
    "a\0b",
    "",
)


@pytest.mark.parametrize("name", NAMES)
def test_a_name_that_leads_out_is_refused(course: CourseQueue, tmp_path: Path, name: str) -> None:
    program = queued(course)
    files = json.dumps({name: "0" * 64})
    change(course.queue.database, "UPDATE items SET files = :files", files=files)
    assert refusal(course, program).what == "a file of softmax leads out of its folder"


@pytest.mark.parametrize(
    "files",
    ["[]", "{", '{"a": 1}', '{"a": "0"}', '{"a": "' + "z" * 64 + '"}', "[" * 100_000, "null"],
    ids=lambda files: files[:10],
)
def test_a_list_that_is_none_is_refused(course: CourseQueue, files: str) -> None:
    program = queued(course)
    change(course.queue.database, "UPDATE items SET files = :files", files=files)
    assert refusal(course, program).what == "the list of softmax's files can't be read"


def test_two_names_that_cant_both_be_files_are_refused(course: CourseQueue) -> None:
    program = queued(course)
    with course.queue.database.read() as connection:
        listed = json.loads(str(connection.execute(sa.text("SELECT files FROM items")).scalar()))
    hashes = next(iter(listed.values()))
    change(
        course.queue.database,
        "UPDATE items SET files = :files",
        files=json.dumps({"a": hashes, "a/b": hashes}),
    )
    assert refusal(course, program).what == "a file of softmax can't be written on this machine"


def test_files_that_are_too_large_are_refused_before_they_are_loaded(
    course: CourseQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = queued(course)
    # 40 MiB that compress to some kilobytes on the server's disk.
    change(course.queue.database, "UPDATE item_files SET content = convert_to(repeat('a', 41943040), 'UTF8')")
    monkeypatch.setattr(PublishedItems, "_content", lambda *_: pytest.fail("it was loaded"))
    error = refusal(course, program)
    assert error.what == "the files of softmax are too large"
    files = json.dumps({f"a{n}": "0" * 64 for n in range(15_000)})
    change(course.queue.database, "UPDATE items SET files = :files", files=files)
    assert refusal(course, program).what == "softmax has too many files"


def test_many_names_of_one_large_file_are_counted_each(course: CourseQueue) -> None:
    program = queued(course)
    change(course.queue.database, "UPDATE item_files SET content = convert_to(repeat('a', 4194304), 'UTF8')")
    with course.queue.database.read() as connection:
        sha256 = connection.execute(sa.text("SELECT sha256 FROM item_files LIMIT 1")).scalar()
    files = json.dumps({f"a{n}": sha256 for n in range(9)})
    change(course.queue.database, "UPDATE items SET files = :files", files=files)
    assert refusal(course, program).what == "the files of softmax are too large"


def test_a_link_out_of_the_exercises_folder_is_not_published(tmp_path: Path) -> None:
    bank = builtin_bank()
    folder = tmp_path / "problems" / "own"
    shutil.copytree(bank.path("softmax").parent, folder)
    secret = tmp_path / "secret.py"
    secret.write_text("password = 1")
    spec = bank.load("softmax")
    starter = folder / str(spec.answer.starter)  # type: ignore[union-attr]
    starter.unlink()
    starter.symlink_to(secret)
    course = new_course(Bank([tmp_path / "problems"]))
    try:
        with pytest.raises(InputError, match="leads out of the folder"):
            course.version("softmax")
        with course.queue.database.read() as connection:
            assert connection.execute(sa.text("SELECT count(*) FROM item_files")).scalar() == 0
    finally:
        course.close()


def test_a_program_whose_exercise_was_changed_is_never_a_zero(
    course: CourseQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_module, "LOOK_S", 0.05)
    monkeypatch.setattr(worker_module, "_FIRST_REST_S", 0.05)
    monkeypatch.setattr(queue_module, "_REST_S", 0.05)
    monkeypatch.setattr(queue_module, "_SAME_WORKER_S", 0.05)
    submission = CodeSubmission("def softmax(x): return x", "f.py", "0" * 64)
    (number,) = course.hand_over([course.program("s01", "softmax", submission)])
    change(course.queue.database, "UPDATE item_files SET content = content || 'import os'")
    database = open_queue_database(
        str(course.queue.database._engine.url.render_as_string(hide_password=False))
    )
    worker = ClusterWorker(
        WorkQueue(database), Unused(), packages=(), slots=1, times=WorkerTimes(0.1, 5.0, 0.3)
    )
    thread = threading.Thread(target=worker.run)
    thread.start()
    try:
        end = time.monotonic() + PATIENCE_S
        while not (came := course.queue.reports_among([number])):
            assert time.monotonic() < end
            time.sleep(0.05)
    finally:
        worker.stop()
        thread.join(PATIENCE_S)
        database.close()
    (report,) = came
    assert report.report is None and report.reason is not None
    assert "isn't what was published" in report.reason
    assert course.as_graded("s01", "softmax", report) is None
    assert worker.counts.faults == {("EngineError", ""): MOST_TRIES} and not worker.counts.outcomes
