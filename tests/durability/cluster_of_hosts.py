"""A class that is graded on several hosts: the course's, workers, and the database, each to be disturbed."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

from engine.cluster.queue_tables import make_queue, open_queue_database
from engine.commands import run
from engine.course import Course
from engine.store import Attempt, open_store
from tests.live.hosts import Host, HostProcess, Network
from tests.live.postgres import ServerOnHost

__all__ = ["Attempts", "ClassForCluster", "Cluster", "ClusterHost"]

ROOT = Path(__file__).parents[2]
PATIENCE_S = 240.0
Attempts = Mapping[tuple[str, str], Attempt]

ITEMS = ("softmax", "sdpa", "causal-mask")
# Sleeping costs no processor: chunks take long enough to be disturbed, also on few cores.
PAUSE = "import time\n\ntime.sleep(0.12)\n"
# What a program of Python takes for the time, so many seconds wrong: no kernel has a clock for each host.
WRONG_CLOCK = """
import datetime, os, time

shift = float(os.environ["SOFTMARK_TEST_CLOCK_S"])
true_time, true_datetime = time.time, datetime.datetime


class Kind(type):
    def __instancecheck__(cls, value):
        return isinstance(value, true_datetime)


class ShiftedDatetime(true_datetime, metaclass=Kind):
    @classmethod
    def now(cls, zone=None):
        return true_datetime.now(zone) + datetime.timedelta(seconds=shift)

    @classmethod
    def utcnow(cls):
        return true_datetime.utcnow() + datetime.timedelta(seconds=shift)


ShiftedDatetime.__module__, ShiftedDatetime.__qualname__ = "datetime", "datetime"
time.time = lambda: true_time() + shift
time.time_ns = lambda: int((true_time() + shift) * 1e9)
datetime.datetime = ShiftedDatetime
"""
WRONG = "import numpy as np\n\n\ndef softmax(x, axis=-1):\n    return np.exp(x) / np.exp(x).sum()\n"


@dataclass(frozen=True)
class ClassForCluster:
    """A course with its own version of an exercise, programs for it, and how one machine grades them."""

    folder: Path
    alone: Attempts
    gradebook: str

    @property
    def course(self) -> Path:
        return self.folder / "course"

    @property
    def handed_in(self) -> Path:
        return self.folder / "in"

    @classmethod
    def make(cls, folder: Path, students: int) -> ClassForCluster:
        """Make the class, and let this machine grade it by itself."""
        made = cls(folder, {}, "")
        Course.init(made.course, "Several hosts")
        names = [f"s{number:03}" for number in range(students)]
        (made.course / "roster.csv").write_text("id,name\n" + "".join(f"{s},Zoe {s}\n" for s in names))
        bank = ROOT / "problems/code"
        # No worker has this version of the exercise: its files come from the database.
        own = made.course / "problems" / "softmax"
        shutil.copytree(bank / "softmax", own)
        text = (own / "softmax.yaml").read_text()
        (own / "softmax.yaml").write_text(text.replace("function `softmax(x, axis=-1)`", "`softmax`"))
        right = {item: (bank / item / "solution_numpy.py").read_text() for item in ITEMS}
        for number, student in enumerate(names):
            place = made.handed_in / student
            place.mkdir(parents=True)
            for item in ITEMS:
                # A comment makes each another program; every third student forgets the axis.
                code = WRONG if item == "softmax" and number % 3 == 0 else right[item]
                (place / f"{item}.py").write_text(f"{code}\n{PAUSE}# {student}\n")
        out = folder / "alone"
        with patch.dict(os.environ, {"SOFTMARK_HOME": str(folder / "home")}):
            code = run([*map(str, ("batch", made.handed_in, "--course", made.course, "--out", out))])
        assert code == 0
        store = Course.open(made.course).store_place
        return cls(folder, attempts_of(store), (out / "gradebook.csv").read_text())


def attempts_of(store: str | Path) -> Attempts:
    """Return what a store holds, by student and item; nothing is there twice."""
    with open_store(store) as opened:
        attempts = list(opened.attempts())
    by_key = {(attempt.student, attempt.item): attempt for attempt in attempts}
    assert len(by_key) == len(attempts), "a program was graded twice"
    return by_key


@dataclass
class ClusterHost:
    """A host with one program that is started again whenever it ends, as a service manager would."""

    host: Host
    words: list[object]
    environment: dict[str, str]
    process: HostProcess | None = None
    starts: int = 0

    def keep_running(self) -> int | None:
        """Start the program if it doesn't run, unless it came to its end: return 0 then."""
        code = None if self.process is None else self.process.poll()
        if code == 0:
            return 0
        if self.process is None or code is not None:
            command = [sys.executable, ROOT / "cli.py", *self.words]
            self.process = self.host.start(command, environment=self.environment)
            self.starts += 1
        return None

    def set_clock(self, wrong_by_s: float) -> None:
        """Let programs that start there from now on have a wrong clock."""
        place = Path(self.environment["TMPDIR"]) / "clock"
        place.mkdir()
        (place / "sitecustomize.py").write_text(WRONG_CLOCK)
        self.environment |= {"PYTHONPATH": f"{place}:{ROOT}", "SOFTMARK_TEST_CLOCK_S": str(wrong_by_s)}

    def kill(self) -> None:
        """Kill all that runs there, student code too."""
        self.host.kill_everything()

    def said(self) -> str:
        return "" if self.process is None else self.process.said()


@dataclass
class Cluster:
    """The hosts of one class, and a database for it."""

    net: Network
    server: ServerOnHost
    room: ClassForCluster
    folder: Path
    heartbeat_s: float = 0.5
    workers: list[ClusterHost] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._course_host = self.net.host("course")
        self.local = ""
        self.may_grade = False
        for name in ("one", "two", "three"):
            self.workers.append(self._worker(name))

    def _worker(self, name: str) -> ClusterHost:
        host = self.net.host(name)
        for folder in (self.room.course, self.room.handed_in):
            host.hide(folder)  # whatever a worker needs comes from the database
        disk = self.folder / f"disk-{name}"
        disk.mkdir()
        return ClusterHost(host, [], self._environment(disk))

    def _environment(self, folder: Path) -> dict[str, str]:
        return {"SOFTMARK_HOME": str(folder / "home"), "TMPDIR": str(folder), "PYTHONPATH": str(ROOT)}

    def begin(self) -> None:
        """Take a new database with an empty queue; the class waits until it may begin."""
        self.local = self.server.new_database()
        queue = open_queue_database(self.local)
        make_queue(queue)
        queue.close()
        self.may_grade = False
        address = self.server.network_url(self.local)
        out = self.room.folder / "together"
        shutil.rmtree(out, ignore_errors=True)
        course = ["--course", self.room.course, "--store", address, "--out", out]
        words = ["batch", self.room.handed_in, *course, "--cluster", "--json"]
        self.batch = ClusterHost(self._course_host, words, self._environment(self.folder))
        for worker in self.workers:
            beat = ("--heartbeat", self.heartbeat_s)
            worker.words = ["worker", "--store", address, "--slots", "1", *beat]

    def keep_running(self) -> bool:
        """Start what has ended; return whether the class is graded to its end."""
        is_done = self.may_grade and self.batch.keep_running() == 0
        for worker in self.workers:
            assert worker.keep_running() is None, f"a worker ended by itself: {worker.said()}"
        return is_done

    def until(self, condition: object, what: str) -> None:
        """Keep all running until something holds (a function without arguments)."""
        assert callable(condition)
        end = time.monotonic() + PATIENCE_S
        while not condition():
            assert time.monotonic() < end, (what, self.logs())
            self.keep_running()
            time.sleep(0.05)

    def finish(self) -> dict[str, object]:
        """Keep all running until the class is graded; return what the last run printed."""
        self.until(self.keep_running, "the class never came to its end")
        printed = self.batch.said()
        result: dict[str, object] = json.loads(printed[printed.index("{\n") :])
        return result

    def count(self, query: str) -> int:
        """Return how many rows there are in the queue's schema."""
        name = self.local.partition("@/")[2].partition("?")[0]
        ((number,),) = self.server.sql(f"SELECT count(*) FROM softmark_queue.{query}", name)
        assert isinstance(number, int)
        return number

    def has_work(self, worker: ClusterHost) -> bool:
        """Return whether a worker has a chunk in hand, as the database has it."""
        jobs = "softmark_queue.procrastinate_jobs j WHERE j.worker_id = w.id AND j.status = 'doing'"
        name = f"w.name LIKE '{worker.host.name}/%'"
        return self.count(f"workers w WHERE {name} AND EXISTS (SELECT 1 FROM {jobs})") > 0

    def waiting(self) -> int:
        """Return how many programs have no report."""
        reports = "SELECT 1 FROM softmark_queue.reports r WHERE r.program = p.id"
        return self.count(f"programs p WHERE NOT EXISTS ({reports})")

    def stop(self) -> None:
        """End all programs but the database."""
        for each in (self.batch, *self.workers):
            each.kill()
            if each.process is not None:
                each.process.wait()
                each.process = None

    def check(self) -> None:
        """See that the class has the marks of one machine, each once, and that the queue is empty."""
        together = attempts_of(self.local)
        assert together.keys() == self.room.alone.keys()
        differing = {k: (a.report, self.room.alone[k].report) for k, a in together.items()}
        assert [key for key, (here, there) in differing.items() if here != there] == []
        assert (self.room.folder / "together" / "gradebook.csv").read_text() == self.room.gradebook
        self._tidy()
        for table in ("programs", "reports", "procrastinate_jobs", "procrastinate_events"):
            assert self.count(table) == 0, f"the queue still holds {table}"

    def _tidy(self) -> None:
        """Let the next run forget what a killed one had stored: it takes only what was left long ago."""
        reports = "SELECT 1 FROM softmark_queue.reports r WHERE r.program = p.id"
        assert self.count(f"programs p WHERE NOT EXISTS ({reports})") == 0
        if self.count("programs"):
            name = self.local.partition("@/")[2].partition("?")[0]
            aged = "UPDATE softmark_queue.reports SET handed_in = now() - interval '1 hour'"
            self.server.sql(aged, name)
            self.batch.process = None
            assert self.finish()["graded"] == 0

    def logs(self) -> str:
        return "\n".join(f"{each.host.name}: {each.said()[-2000:]}" for each in (self.batch, *self.workers))
