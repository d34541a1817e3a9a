"""Workers whose machine or server gives trouble: they wait, say why in plain words, and no mark is lost.

Everything is real: the workers' processes, the server and the sandbox.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import pytest

from engine.store import open_store
from engine.store.sql_tables import encode
from tests.integration.test_cluster_command import GRADE, PATIENCE_S, ROOT, grade
from tests.integration.test_encrypted_connections import NAME, TlsServer
from tests.live.certificates import Authority
from tests.live.postgres import Server, need_tls, server, server_programs

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox of marks runs on Linux")

STUDENTS = ("right-1", "right-2", "slow", "wrong")
ROLE_PASSWORD = "pass-of-the-role"
NEW_PASSWORD = "new-pass-of-the-role"


@dataclass
class Worker:
    """A worker's process and what it has said."""

    process: subprocess.Popen[bytes]
    log: Path

    def said(self) -> str:
        return self.log.read_text()

    def lines(self, event: str) -> list[dict[str, Any]]:
        lines = [json.loads(line) for line in self.said().splitlines() if line.startswith("{")]
        return [line for line in lines if line["event"] == event]

    def end(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        code = self.process.wait(PATIENCE_S)
        assert "Traceback" not in self.said(), self.said()
        return code


@dataclass
class Room:
    """A course, what its class handed in, and the marks that one machine gives."""

    folder: Path
    alone: dict[str, tuple[str, float | None]] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)

    @property
    def course(self) -> Path:
        return self.folder / "course"

    def words(self, address: str, out: Path) -> list[str]:
        words = ["batch", self.folder / "in", "--course", self.course, "--store", address, "--out", out]
        return [*map(str, words), "--cluster", "--json"]

    def marks(self, place: str | Path) -> dict[str, tuple[str, float | None]]:
        with open_store(place) as store:
            reports = {attempt.student: attempt.report for attempt in store.attempts()}
        self.sizes = {student: len(encode(report)) for student, report in reports.items()}
        return {student: (str(report.outcome), report.score) for student, report in reports.items()}


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Room:
    made = Room(tmp_path_factory.mktemp("disturbed"))
    grade("init", made.course, "--title", "Disturbed")
    own = made.course / "problems" / "softmax"
    # No worker has this version, so that its files come from the queue.
    shutil.copytree(ROOT / "problems/code/softmax", own)
    text = (own / "softmax.yaml").read_text()
    (own / "softmax.yaml").write_text(text.replace("function `softmax(x, axis=-1)`", "`softmax`"))
    right = (own / "solution_numpy.py").read_text()
    wrong = "import numpy as np\n\n\ndef softmax(x, axis=-1):\n    return np.exp(x) / np.exp(x).sum()\n"
    sleeps = f"{right}\nimport time\n\ntime.sleep(1.0)\n"
    programs = {"wrong": wrong, "slow": sleeps}
    (made.course / "roster.csv").write_text("id,name\n" + "".join(f"{s},Zoe {s}\n" for s in STUDENTS))
    for student in STUDENTS:
        place = made.folder / "in" / student
        place.mkdir(parents=True)
        (place / "softmax.py").write_text(programs.get(student, right) + f"# {student}\n")
    grade("batch", made.folder / "in", "--course", made.course, "--out", made.folder / "alone", code=None)
    made.alone = made.marks(made.course / ".softmark" / "store.db")
    return made


@dataclass
class Queue:
    """A database with the queue of the room's course, and a role that may grade for it."""

    room: Room
    server: Server
    database: str
    stack: ExitStack
    folder: Path
    role: str = "disturbed_grader"

    @property
    def owner(self) -> str:
        return self.server.url(self.database)

    @property
    def address(self) -> str:
        return self.server.url(self.database, user=self.role, password=ROLE_PASSWORD)

    def sql(self, statement: str) -> list[tuple[object, ...]]:
        return self.server.sql(statement, self.database)

    def allow(self) -> None:
        if not self.sql(f"SELECT 1 FROM pg_roles WHERE rolname = '{self.role}'"):
            self.sql(f"CREATE ROLE {self.role} LOGIN PASSWORD '{ROLE_PASSWORD}'")
        grade("worker", "allow", self.role, "--course", self.room.course, "--store", self.owner)

    def start(self, *words: object, address: str = "", **environment: str) -> Worker:
        log = self.folder / f"worker-{time.monotonic_ns()}.log"
        given = {**os.environ, "SOFTMARK_STORE": address or self.address, **environment}
        with log.open("wb") as file:
            process = subprocess.Popen(
                [*GRADE, "worker", "--heartbeat", "0.5", *map(str, words)],
                cwd=ROOT, env=given, stdout=file, stderr=file, start_new_session=True,
            )  # fmt: skip
        self.stack.callback(_kill, process)
        return Worker(process, log)

    def hand_over(self) -> subprocess.Popen[str]:
        """Begin to grade the class, and return when its programs wait."""
        command = [*GRADE, *self.room.words(self.owner, self.folder / "out")]
        process = subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.stack.callback(_kill, process)
        jobs = "SELECT 1 FROM softmark_queue.procrastinate_jobs"
        until(lambda: self.sql(jobs), lambda: "nothing was handed over")
        return process

    def collect(self, process: subprocess.Popen[str]) -> dict[str, Any]:
        printed, said = process.communicate(timeout=PATIENCE_S)
        assert "Traceback" not in said
        result: dict[str, Any] = json.loads(printed)
        return result

    def drop_connections(self) -> None:
        self.sql(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '{self.role}'")


def _kill(process: subprocess.Popen[Any]) -> None:
    if process.poll() is None:
        process.kill()
    process.communicate()


def until(condition: Callable[[], object], said: Callable[[], str]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end, said()
        time.sleep(0.05)


@contextmanager
def queue_on(running: Server, room: Room, folder: Path) -> Iterator[Queue]:
    database = running.new_database().partition("@/")[2].partition("?")[0]
    with ExitStack() as stack:
        made = Queue(room, running, database, stack, folder)
        grade("queue", "new", "--course", room.course, "--store", made.owner)
        made.allow()
        yield made


@pytest.fixture
def queue(room: Room, tmp_path: Path) -> Iterator[Queue]:
    with queue_on(server(), room, tmp_path) as made:
        yield made


class SmallServer(TlsServer):
    """A server that takes three connections of others than its superuser."""

    settings = TlsServer.settings | {"max_connections": "5", "superuser_reserved_connections": "2"}


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallServer]:
    programs = server_programs()
    assert programs is not None
    need_tls(programs)
    started = SmallServer(programs, tmp_path_factory.mktemp("authority"))
    yield started
    started.close()


def test_a_report_that_the_queue_refuses_leaves_its_program_ungraded(queue: Queue, room: Room) -> None:
    """The others of its chunk get their marks, and the worker goes on."""
    most = room.sizes["wrong"] - 1
    assert all(size < most for student, size in room.sizes.items() if student != "wrong")
    # The server's limit is 4 MiB; no program has been found whose report is that long.
    queue.sql(
        "ALTER POLICY first ON softmark_queue.reports"
        f" WITH CHECK (coalesce(octet_length(report), 0) < {most})"
    )
    class_run = queue.hand_over()
    worker = queue.start("--slots", 1)
    until(lambda: [line for line in worker.lines("chunk") if "failed" in line], worker.said)
    # Two other tries, without the rest between them.
    queue.sql("UPDATE softmark_queue.programs SET tries = 2, tried_by = '{}' WHERE tries > 0")
    queue.sql("UPDATE softmark_queue.procrastinate_jobs SET scheduled_at = NULL WHERE status = 'todo'")
    result = queue.collect(class_run)
    assert worker.end() == 0
    (ungraded,) = result["ungraded"]
    assert ungraded["student"] == "wrong" and "the queue refuses its report, of" in json.dumps(ungraded)
    assert result["graded"] == 3 and result["left"] == 0
    marks = room.marks(queue.owner)
    assert {s: marks[s] for s in room.alone if s != "wrong"} == {
        s: mark for s, mark in room.alone.items() if s != "wrong"
    }
    (first, *_) = [line for line in worker.lines("chunk") if "failed" in line]
    assert first["fault_kind"] == "Refused"
    # Nobody is told to make a worker's account the owner of anything.
    assert "owner give it its rights once more" in worker.lines("hand-in-waits")[0]["reason"]


@pytest.fixture
def hangup() -> Iterator[None]:
    """What is started hears of a closed terminal, also where the tests were started by nohup."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.usefixtures("hangup")
def test_a_closed_terminal_ends_a_worker_as_ctrl_c_does(queue: Queue, room: Room) -> None:
    class_run = queue.hand_over()
    folder = queue.folder / "tmp"
    folder.mkdir()
    worker = queue.start("--slots", 1, TMPDIR=str(folder))
    in_hand = "SELECT 1 FROM softmark_queue.procrastinate_jobs WHERE status = 'doing'"
    until(lambda: queue.sql(in_hand), worker.said)
    assert worker.end(signal.SIGHUP) == 0
    assert worker.lines("ends")[0]["programs"] >= 1
    assert queue.sql(in_hand) == [] and [*folder.iterdir()] == []
    # Under nohup it stays, and nobody needs to read what it says.
    reads, writes = os.pipe()
    os.close(reads)
    command = [*GRADE, "worker", "--slots", "1"]
    given = {**os.environ, "SOFTMARK_STORE": queue.address}
    deaf = subprocess.Popen(["nohup", *command], cwd=ROOT, env=given, stdout=writes, stderr=writes)
    os.close(writes)
    queue.stack.callback(_kill, deaf)
    until(lambda: queue.sql("SELECT 1 FROM softmark_queue.workers"), lambda: f"{deaf.poll()}")
    deaf.send_signal(signal.SIGHUP)
    queue.collect(class_run)
    assert deaf.poll() is None
    assert room.marks(queue.owner) == room.alone
    deaf.terminate()
    deaf.wait(PATIENCE_S)


def test_a_worker_that_stood_still_hands_in_what_counts(queue: Queue, room: Room) -> None:
    """Stopped for longer than others wait: no program of its runs out of time, and none counts twice."""
    class_run = queue.hand_over()
    worker = queue.start("--slots", 1)
    in_hand = "SELECT 1 FROM softmark_queue.procrastinate_jobs WHERE status = 'doing'"
    until(lambda: queue.sql(in_hand), worker.said)
    worker.process.send_signal(signal.SIGSTOP)
    other = queue.start("--slots", 1)
    until(lambda: other.lines("taken-from-the-dead"), other.said)
    worker.process.send_signal(signal.SIGCONT)
    queue.collect(class_run)
    until(lambda: worker.lines("taken-for-dead"), worker.said)
    assert room.marks(queue.owner) == room.alone
    assert (worker.end(), other.end()) == (0, 0)


def test_a_server_with_few_connections(small: SmallServer, room: Room, tmp_path: Path) -> None:
    with queue_on(small, room, tmp_path) as queue:
        others = [psycopg.connect(queue.address) for _ in range(3)]
        worker = queue.start("--slots", 2)
        until(lambda: worker.lines("waits-for-queue"), worker.said)
        assert "the server takes no more connections" in worker.lines("waits-for-queue")[0]["reason"]
        for other in others:
            other.close()
        # One for all: the claims need it more than the notices.
        queue.sql(f"ALTER ROLE {queue.role} CONNECTION LIMIT 1")
        until(lambda: worker.lines("begins"), worker.said)
        queue.collect(queue.hand_over())
        assert room.marks(queue.owner) == room.alone
        # Said once for all slots, and once a minute.
        assert len(worker.lines("queue-away")) <= 5, worker.said()
        assert worker.end() == 0


def test_another_password_and_another_certificate(small: SmallServer, room: Room, tmp_path: Path) -> None:
    """Until its administrator has told it the new ones, a worker waits, and nothing of a password is said."""
    with queue_on(small, room, tmp_path) as queue:
        trusted = tmp_path / "ca.crt"
        trusted.write_bytes(small.authority.certificate.read_bytes())
        passwords = tmp_path / "pgpass"
        passwords.write_text(f"*:*:*:*:{ROLE_PASSWORD}\n")
        passwords.chmod(0o600)
        address = f"postgresql://{queue.role}@{NAME}:{small.port}/{queue.database}"
        address += f"?sslmode=verify-full&sslrootcert={trusted}"
        worker = queue.start("--slots", 1, address=address, PGPASSFILE=str(passwords))
        until(lambda: worker.lines("begins"), worker.said)
        queue.sql(f"ALTER ROLE {queue.role} PASSWORD '{NEW_PASSWORD}'")
        queue.drop_connections()
        said = "refuses this account"
        until(lambda: any(said in line["reason"] for line in worker.lines("queue-away")), worker.said)
        authority = Authority(tmp_path, "new")
        small.use(*authority.sign(NAME))
        said = "isn't signed by the authority that sslrootcert names"
        until(lambda: any(said in line["reason"] for line in worker.lines("queue-away")), worker.said)
        trusted.write_bytes(authority.certificate.read_bytes())
        passwords.write_text(f"*:*:*:*:{NEW_PASSWORD}\n")
        queue.collect(queue.hand_over())
        assert room.marks(queue.owner) == room.alone
        assert worker.end() == 0
        assert ROLE_PASSWORD not in worker.said()
