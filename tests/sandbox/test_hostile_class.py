"""Hostile programs and honest ones in one class through ``grade worker``: the marks of one machine.

A worker has more to lose than one machine: the database's address and password, programs of other students,
and the right to hand in reports. ``SOFTMARK_CORPUS=all`` hands in the whole corpus.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import urllib.request
from dataclasses import dataclass
from pathlib import Path

import pytest
from arena_client import ATTACKS, PROJECT
from arena_world import World

from engine.cluster.queue_tables import make_queue, open_queue_database
from engine.model import GradeReport, Outcome
from engine.store import open_store
from tests.integration.test_cluster_command import GRADE, PATIENCE_S, grade
from tests.live.postgres import server

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox of marks runs on Linux")

# One or two of each kind, and those that aim at what a worker has.
CHOSEN = (
    "covert/tmp_file", "crash/close_everything", "crash/name_that_is_no_text",
    "deserialise/pickle_bytes", "early/bad_text", "early/takeover_texts", "early/trickle",
    "files/command_lines",
    "files/read_key", "files/write_tmp", "flood/bad_text",
    "flood/exception_foreign", "flood/exception_text_raises", "forge/late_thread",
    "forge/replace_stdout", "giants/nested", "network/tcp", "network/unix_abstract",
    "network/unix_path", "process/daemon", "process/fork_bomb", "ptrace/attach_parent",
    "resource/disk", "resource/file_descriptors", "signals/everything",
    "signals/stop_parent",
)  # fmt: skip
# How much of these gets done depends on how busy the machine is.
TIMED = ("flood/stderr", "resource/memory_touched")

# What they find is in the text of an exception, which a report shows.
LOOT = """
import os, socket, sys
TARGET: dict = {}  # the arena fills this in

def softmax(x, axis=-1):
    found = []
    try:
        LINES
    except BaseException as error:
        raise ValueError(f"nothing, {type(error).__name__}") from None
    raise ValueError("found " + repr(found))
"""
OF_WORKER = "open(f\"/proc/{TARGET['grader_pid']}/NAME\").read()"
LOOTERS = {
    "its environment": "found += [dict(os.environ), open('/proc/self/environ').read()]",
    "the worker's environment": f"found.append({OF_WORKER.replace('NAME', 'environ')})",
    "the worker's arguments": f"found.append({OF_WORKER.replace('NAME', 'cmdline')})",
    "the worker's memory": f"found.append({OF_WORKER.replace('NAME', 'maps')})",
    "the password file": "found.append(open(TARGET['password_file']).read())",
    "the exercises": "found += [*os.walk(TARGET['worker_folder']), os.listdir('/tmp')]",
    "the database": "socket.socket(socket.AF_UNIX).connect(TARGET['unix_path']); found.append('connected')",
    "a kill": "os.kill(TARGET['grader_pid'], 9); found.append('killed')",
    "a stop": "os.kill(TARGET['grader_pid'], 19); found.append('stopped')",
    "a hang-up": "os.kill(TARGET['grader_pid'], 1); found.append('hung up')",
}
LOOT_WORDS = re.compile("SOFTMARK|PGPASS|softmark-|test_hostile|pass-|connected|killed|stopped|hung up")
RAISES = "def softmax(x, axis=-1):\n    raise ValueError({!r})\n"
LINE = json.dumps({"event": "ends", "worker": "forged/1", "programs": 4711})
PRINTS = f"import os\nfor n in (1, 2):\n    os.write(n, b'''{LINE}\\n''')\nprint('''{LINE}''')\n"
TEXTS = {
    "NUL": RAISES.format("a\0b\0"),
    "an escape sequence": RAISES.format("\x1b[2J\x1b]0;title\x07\x9b31m"),
    "a lone surrogate": RAISES.format("\ud800 and \udfff"),
    "every direction": RAISES.format("\u202e\u2066\u200f\ufeff"),
    "a quote that ends": RAISES.format("'); DELETE FROM softmark_queue.reports; --"),
    "a line of the log": RAISES.format(f"\n{LINE}\n"),
    "a printed line of the log": PRINTS + RAISES.format("printed"),
    "a report": RAISES.format('{"outcome":"right","score":10.0,"max_score":10.0}'),
    "names of NUL and more": "def softmax(x, axis=-1):\n    return {'a\\0': x, '\\ud800': x, '\\x1b[': x}\n",
    "a NUL in the source": "x = '\0'\n" + RAISES.format("nul"),
    "a lone surrogate in the source": "x = '\ud800'\n" + RAISES.format("surrogate"),
}
# No text: they never come so far as to be handed over.
UNREADABLE = ("a NUL in the source", "a lone surrogate in the source")


@dataclass
class HostileClass:
    """What a worker and one machine made of the class."""

    world: World
    names: dict[str, str]
    by_worker: dict[str, GradeReport]
    alone: dict[str, GradeReport]
    lines: list[dict[str, object]]
    shown: bytes
    secrets: list[str]

    def report(self, name: str) -> GradeReport:
        return self.by_worker[next(student for student, given in self.names.items() if given == name)]


def programs(target: dict[str, object]) -> dict[str, str]:
    """Return the class's programs by what they try, with an honest one before each four."""
    is_whole = os.environ.get("SOFTMARK_CORPUS") == "all"
    hostile = {name: ATTACKS[name].source(target) for name in (ATTACKS if is_whole else CHOSEN)}
    for name, lines in LOOTERS.items():
        source = LOOT.replace("LINES", lines)
        hostile[name] = source.replace("TARGET: dict = {}", f"TARGET: dict = {target!r}")
    hostile |= TEXTS
    right = (PROJECT / "problems/code/softmax/solution_numpy.py").read_text()
    made: dict[str, str] = {}
    for number, (name, source) in enumerate(hostile.items()):
        if number % 4 == 0:
            made[f"honest {number}"] = f"{right}\n# {number}\n"
        made[name] = source
    return made


def graded(place: str | Path) -> dict[str, GradeReport]:
    with open_store(place) as store:
        return {attempt.student: attempt.report for attempt in store.attempts()}


@pytest.fixture(scope="module")
def hostile_class(tmp_path_factory: pytest.TempPathFactory, world: World) -> HostileClass:
    top = tmp_path_factory.mktemp("hostile")
    course = top / "course"
    grade("init", course, "--title", "Hostile")
    own = course / "problems" / "softmax"
    shutil.copytree(PROJECT / "problems/code/softmax", own)
    text = (own / "softmax.yaml").read_text()
    limits = "limits: {wall_s: 1.5, call_s: 0.5, memory_mib: 512}"
    (own / "softmax.yaml").write_text(text.replace("limits: {wall_s: 6, call_s: 2}", limits))
    address = server().new_database()
    owner = open_queue_database(address)
    make_queue(owner)
    owner.close()
    server().sql("CREATE ROLE hostile_grader LOGIN PASSWORD 'pass-of-the-role'")
    grade("worker", "allow", "hostile_grader", "--course", course, "--store", address)
    database = address.partition("@/")[2].partition("?")[0]
    password_file = top / ".pgpass"
    password_file.write_text("*:*:*:*:pass-in-the-file\n")
    password_file.chmod(0o600)
    folder = top / "tmp"
    folder.mkdir(mode=0o755)
    given = {
        "SOFTMARK_STORE": server().url(database, user="hostile_grader", password="pass-of-the-role"),
        "PGPASSFILE": str(password_file),
        "HOME": str(top),
        "TMPDIR": str(folder),
        "ARENA_WORKER": "pass-in-the-environment",
    }
    log = top / "worker.log"
    with log.open("wb") as file:  # a pipe that nobody reads would hold the worker up
        worker = subprocess.Popen(
            [*GRADE, "worker", "--slots", "2", "--metrics", "0"],
            cwd=PROJECT, env=os.environ | given, stdout=file, stderr=file, start_new_session=True,
        )  # fmt: skip
    try:
        target = world.target(naive=False, project=PROJECT, site=Path("/nonexistent"))
        target |= {"grader_pid": worker.pid, "unix_path": str(server().folder / ".s.PGSQL.5432")}
        target |= {"password_file": str(password_file), "worker_folder": str(folder)}
        made = programs(target)
        names = {f"s{number:03}": name for number, name in enumerate(made)}
        (course / "roster.csv").write_text("id,name\n" + "".join(f"{s},Zoe {s}\n" for s in names))
        for student, name in names.items():
            place = top / "in" / student
            place.mkdir(parents=True)
            (place / "softmax.py").write_bytes(made[name].encode("utf-8", "surrogatepass"))
        words = ("batch", top / "in", "--course", course)
        out = top / "together"
        grade(*words, "--store", address, "--out", out, "--cluster", code=None)
        assert worker.poll() is None, "the worker is gone"
        metrics = re.search(r"http://[^\"]+", log.read_text())
        assert metrics is not None, log.read_text()
        with urllib.request.urlopen(metrics[0], timeout=PATIENCE_S) as answer:
            shown: bytes = answer.read()
        worker.terminate()
        assert worker.wait(PATIENCE_S) == 0, log.read_text()
    finally:
        if worker.poll() is None:
            os.killpg(worker.pid, signal.SIGKILL)
            worker.wait()
    shown += b"".join(path.read_bytes() for path in sorted(out.rglob("*")) if path.is_file())
    shown += log.read_bytes()
    grade(*words, "--out", top / "alone", code=None)
    *said, last = log.read_text().splitlines()
    assert " programs graded in " in last
    logged = [json.loads(line) for line in said]
    secrets = ["pass-of-the-role", "pass-in-the-file", "pass-in-the-environment"]
    alone = graded(course / ".softmark" / "store.db")
    return HostileClass(world, names, graded(address), alone, logged, shown, secrets)


def test_each_gets_the_mark_of_one_machine(hostile_class: HostileClass) -> None:
    together, alone = hostile_class.by_worker, hostile_class.alone
    assert together.keys() == alone.keys() == hostile_class.names.keys()
    for student, name in hostile_class.names.items():
        here, there = together[student], alone[student]
        assert (here.outcome, here.score) == (there.outcome, there.score), (name, here, there)
        if name not in TIMED:
            checks = [[(c.id, c.verdict, c.points) for c in report.checks] for report in (here, there)]
            assert checks[0] == checks[1], name
        if name.startswith("honest"):
            assert here.outcome is Outcome.RIGHT, (name, here)
        elif name in LOOTERS or name in TEXTS:
            assert (here.score or 0.0) == 0.0, (name, here)
            assert here.checks == there.checks, name


def test_nothing_of_the_worker_comes_out(hostile_class: HostileClass) -> None:
    for secret in hostile_class.secrets:
        assert secret.encode() not in hostile_class.shown, secret
    assert not hostile_class.world.holds_secret(hostile_class.shown)
    for name in LOOTERS:
        (runs,) = (check for check in hostile_class.report(name).checks if check.id == "runs")
        assert "ValueError" in runs.message, (name, runs)
        assert not LOOT_WORDS.search(runs.message), (name, runs)


def test_nothing_is_killed_changed_or_left_behind(hostile_class: HostileClass) -> None:
    world = hostile_class.world
    assert not world.canary_died()
    assert not world.victim_changed()
    assert not world.heard()
    assert (world.new_files(), world.sysv_left()) == ([], [])


def test_the_log_is_the_worker_s_own(hostile_class: HostileClass) -> None:
    """Each line is the worker's, none says that the machine failed, and no student's text is among them."""
    assert {line["event"] for line in hostile_class.lines} == {"begins", "metrics", "chunk", "ends"}
    assert len({line["worker"] for line in hostile_class.lines}) == 1
    assert [line for line in hostile_class.lines if "fault" in line] == []
    assert hostile_class.lines[-1]["programs"] == len(hostile_class.names) - len(UNREADABLE)
