"""``grade quiz new --cluster`` with real workers: byte for byte the quizzes of one machine, whoever dies."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from engine.cluster.queue_state import read_queue
from engine.cluster.queue_tables import make_queue, open_queue_database
from engine.commands.context import find_context
from engine.store import open_store
from engine.store.sql_tables import encode
from tests.integration.test_cluster_command import GRADE, PATIENCE_S, ROOT, started
from tests.live.postgres import server

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox of marks runs on Linux")

STUDENTS = 200
PLAN = """title: Drawn
sections:
  - title: All
    count: 8
"""


def grade(*words: object) -> tuple[str, str]:
    done = subprocess.run(
        [*GRADE, *map(str, words)], cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout, done.stderr


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("drawing") / "course"
    grade("init", folder, "--title", "Drawing")
    names = "".join(f"s{number:03}\n" for number in range(STUDENTS))
    (folder / "roster.csv").write_text(f"id\n{names}")
    (folder / "blueprints").mkdir(exist_ok=True)
    (folder / "blueprints" / "drawn.yaml").write_text(PLAN)
    return folder


@pytest.fixture(scope="module")
def alone(course: Path) -> dict[str, bytes]:
    """The files of a copy of the course, as this machine makes them by itself."""
    copy = course.parent / "alone"
    shutil.copytree(course, copy)
    grade("quiz", "new", "drawn", "--course", copy, "--out", course.parent / "alone-out")
    return files(course.parent / "alone-out")


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def until_live(address: str, count: int) -> None:
    database = open_queue_database(address)
    end = time.monotonic() + PATIENCE_S
    while len(read_queue(database).workers) < count:
        assert time.monotonic() < end
        time.sleep(0.05)
    database.close()


def test_the_quizzes_are_those_of_one_machine_though_a_worker_is_killed(
    course: Path, alone: dict[str, bytes], tmp_path: Path
) -> None:
    address = server().new_database()
    queue = open_queue_database(address)
    make_queue(queue)
    queue.close()
    worker = ("worker", "--store", address, "--slots", "1")
    # It dies with its second piece in hand, drawn and not handed in.
    dying = subprocess.Popen(
        [*GRADE, *worker],
        cwd=ROOT,
        env=os.environ | {"SOFTMARK_CRASH_AT": "before-hand-in-chunk:2"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        with started(*worker) as living:
            until_live(address, 2)
            where = ("--course", course, "--store", address)
            _, said = grade("quiz", "new", "drawn", *where, "--out", tmp_path / "out", "--cluster")
            assert dying.wait(PATIENCE_S) == -signal.SIGKILL
            living.send_signal(signal.SIGTERM)
            ended, _ = living.communicate(timeout=PATIENCE_S)
    finally:
        if dying.poll() is None:
            os.killpg(dying.pid, signal.SIGKILL)
            dying.wait()
    assert files(tmp_path / "out") == alone
    assert "note: workers drew " in said and f" of {8 * STUDENTS} variants" in said
    assert " variants drawn in " in ended
    # What is stored is the same as well, and the queue is as empty as before.
    of_one = find_context(course.parent / "alone").open_store()
    of_all = open_store(address)
    assert [encode(quiz) for quiz in of_all.quizzes("drawn")] == [
        encode(quiz) for quiz in of_one.quizzes("drawn")
    ]
    for store in (of_one, of_all):
        store.close()
    name = address.partition("@/")[2].partition("?")[0]
    assert server().sql("SELECT count(*) FROM softmark_queue.programs", name) == [(0,)]


def test_without_workers_it_is_said_and_drawn_here(
    course: Path, alone: dict[str, bytes], tmp_path: Path
) -> None:
    address = server().new_database()
    where = ("--course", course, "--store", address)
    _, said = grade("quiz", "new", "drawn", *where, "--out", tmp_path / "out", "--cluster")
    assert files(tmp_path / "out") == alone
    assert "note: no worker is running" in said
    assert (
        f"note: no worker drew any of {8 * STUDENTS} variants; the others were drawn on this machine" in said
    )


def test_without_a_server_the_option_is_refused(course: Path) -> None:
    done = subprocess.run(
        [*GRADE, "quiz", "new", "drawn", "--course", str(course), "--cluster"],
        cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S,
    )  # fmt: skip
    assert done.returncode == 2 and "--cluster needs a queue on a PostgreSQL server" in done.stderr
