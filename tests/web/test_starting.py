"""What ``grade serve`` says when it can't start as asked, what it migrates first, and what ends with it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from engine.cluster.fingerprint import engine_fingerprint, packages_fingerprint
from engine.cluster.queue_tables import QUEUE_VERSION, make_queue, open_queue_database
from engine.cluster.work_queue import WorkerFacts, WorkQueue
from engine.commands import run
from engine.course import Course
from engine.store.sql_tables import SCHEMA_VERSION, VERSION_TABLE
from tests.live.postgres import server
from tests.live.site import PATIENCE_S, LiveSite, new_course
from tests.unit.store.test_store_migrations import make_old
from tests.web.test_operation import child_processes, free_port

ROOT = Path(__file__).parents[2]
EARLIER = "0003"


@pytest.fixture
def course(tmp_path: Path) -> Path:
    return new_course(tmp_path / "course")


def run_serve(
    folder: Path, *arguments: str, before: tuple[str, ...] = (), environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*before, sys.executable, str(ROOT / "cli.py"), "serve", "--course", str(folder), *arguments],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
        env=os.environ | {"SOFTMARK_HOME": str(folder.parent / "home")} | (environment or {}),
    )


def outdated_database() -> tuple[str, str]:
    """Make a database of an earlier schema with an attempt in it; return its address and that schema."""
    address = server().new_database()
    make_old(address, EARLIER)
    return address, EARLIER


def schema_of(address: str) -> str:
    name = address.partition("@/")[2].partition("?")[0]
    ((schema,),) = server().sql(f"SELECT version_num FROM {VERSION_TABLE}", name)
    return str(schema)


def with_programs(folder: Path) -> dict[str, str]:
    return {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}


def test_a_database_of_an_earlier_version_is_dumped_and_migrated(tmp_path: Path) -> None:
    address, before = outdated_database()
    course = new_course(tmp_path / "course", store=address)
    with LiveSite(course, environment=with_programs(server().programs)) as site:
        assert f"(schema {before})" in site.printed
        (dump,) = (course / ".softmark" / "backups").glob(f"store-{before}-*.dump")
        assert str(dump) in site.printed
    assert dump.stat().st_mode & 0o077 == 0
    assert schema_of(address) == SCHEMA_VERSION
    # It is worth something: what was there before is in a new database again.
    restored = server().new_database()
    subprocess.run(
        [server().programs / "pg_restore", "--no-owner", f"--dbname={restored}", str(dump)],
        check=True,
        capture_output=True,
    )
    assert schema_of(restored) == before
    name = restored.partition("@/")[2].partition("?")[0]
    assert server().sql("SELECT student, outcome FROM attempts", name) == [("007", "partial")]
    with LiveSite(course, environment={"PATH": ""}) as site:
        assert "schema" not in site.printed


@pytest.mark.parametrize("kind", ["missing", "failing"])
def test_without_a_dump_nothing_is_migrated(tmp_path: Path, kind: str) -> None:
    address, before = outdated_database()
    course = new_course(tmp_path / "course", store=address)
    programs = tmp_path / "programs"
    programs.mkdir()
    if kind == "failing":
        program = programs / "pg_dump"
        program.write_text("#!/bin/sh\necho 'pg_dump: error: server version mismatch' >&2\nexit 1\n")
        program.chmod(0o755)
    path = {"PATH": str(programs)}
    done = run_serve(course, "--port", "0", environment=path)
    assert done.returncode == 3
    said = "pg_dump isn't installed" if kind == "missing" else "server version mismatch"
    assert said in done.stderr and "--no-backup" in done.stderr
    assert "Traceback" not in done.stderr
    assert not list((course / ".softmark" / "backups").glob("*.dump"))
    assert schema_of(address) == before
    check = run_serve(course, "--check", "--port", "0", environment=path)
    assert before in check.stdout
    if kind == "missing":
        assert "pg_dump isn't installed" in check.stdout
    with LiveSite(course, "--no-backup", environment=path) as site:
        assert "brought up to date" in site.printed
    assert schema_of(address) == SCHEMA_VERSION


def test_children_end_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    course = new_course(tmp_path / "course", store=server().new_store())
    site = LiveSite(course, "--processes", "2")
    children = child_processes(site.process.pid)
    assert len(children) == 2
    port = site.port
    site.kill()
    end = time.monotonic() + PATIENCE_S
    while any(is_alive(child) for child in children):
        assert time.monotonic() < end, "a child goes on alone"
        time.sleep(0.1)
    with LiveSite(course, port=port) as again, again.browser() as browser:
        assert browser.get("/health/ready").status_code == 200
    assert "Traceback" not in site.complaints()


def is_alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_a_second_server_on_the_port(course: Path) -> None:
    with LiveSite(course) as site, site.browser() as browser:
        done = run_serve(course, "--port", str(site.port))
        assert done.returncode == 2
        assert f"port {site.port} is in use" in done.stderr and "--port 0" in done.stderr
        assert browser.get("/health/live").status_code == 200


@pytest.mark.skipif(sys.platform != "linux", reason="which ports are guarded is a matter of the system")
def test_a_port_that_only_root_may_use(course: Path) -> None:
    before: tuple[str, ...] = ()
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("root without a right needs setpriv")
        before = ("setpriv", "--bounding-set=-net_bind_service", "--inh-caps=-net_bind_service")
    if int(Path("/proc/sys/net/ipv4/ip_unprivileged_port_start").read_text()) <= 81:
        pytest.skip("here everybody may use every port")
    done = run_serve(course, "--port", "81", before=before)
    assert done.returncode == 2, done.stderr
    assert "port 81 can't be used" in done.stderr and "ports below 1024" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("host", "said"),
    [
        ("203.0.113.7", "can't be used"),
        ("no-such-machine.invalid", "can't be used"),
        ("a..b", "can't be used"),
        ("mü..b", "isn't the name of a machine"),
        ("ü" * 70 + ".example", "isn't the name of a machine"),
        ("::ffff:203.0.113.7", "can't be used"),
        ("marks.example.edu:8000", "can't be used"),
        ("http://localhost", "can't be used"),
    ],
)
def test_an_address_that_isnt_this_machines(
    course: Path, host: str, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # in this process, as nothing is served: the ports above are refused by a process of its own
    monkeypatch.setenv("SOFTMARK_HOME", str(course.parent / "home"))
    assert run(["serve", "--course", str(course), "--host", host, "--port", "0"]) == 2
    error = capsys.readouterr().err
    assert said in error and "Traceback" not in error


def test_two_starts_at_once_migrate_once(tmp_path: Path) -> None:
    address, before = outdated_database()
    course = new_course(tmp_path / "course", store=address)
    environment = with_programs(server().programs)
    sites = []
    try:
        for _ in range(2):
            sites.append(LiveSite(course, environment=environment))
        assert [before in site.printed for site in sites] == [True, False]
    finally:
        for site in sites:
            site.stop(signal.SIGTERM)
    assert schema_of(address) == SCHEMA_VERSION


def test_a_port_that_is_taken_between_is_said_by_the_check_too(course: Path) -> None:
    port = free_port()
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", port))
        busy.listen()
        check = run_serve(course, "--check", "--port", str(port))
    assert check.returncode == 1 and f"port {port} is in use" in check.stdout


def queue_checks(folder: Path, *more: str) -> tuple[int, list[tuple[str, str, str]]]:
    """Return the exit code of ``--check``, and what it says of the queue."""
    done = run_serve(folder, "--check", "--json", "--port", "0", *more)
    lines = [line for line in json.loads(done.stdout) if line["check"] == "queue"]
    return done.returncode, [(line["state"], line["text"], line["next"]) for line in lines]


def test_the_check_looks_at_the_queue_and_its_workers(tmp_path: Path) -> None:
    address = server().new_store()
    folder = new_course(tmp_path / "course", store=address)
    code, ((state, text, step),) = queue_checks(folder, "--cluster")
    assert (code, state) == (0, "note") and text.endswith("there is no queue yet")
    assert "grade serve --cluster makes it" in step
    with closing(open_queue_database(address)) as database:
        make_queue(database)
        version = f"version {QUEUE_VERSION} of its tables, 0 programs without a report"
        # Without --cluster the site grades by itself, and needs nobody.
        for more, wanted, state in (((), 0, "note"), (("--cluster",), 1, "fault")):
            code, lines = queue_checks(folder, *more)
            assert code == wanted and lines[0][0] == "ok" and lines[0][1].endswith(version)
            assert lines[1][:2] == (state, "no worker is running: what students hand in would wait")
            assert "grade worker --store URL" in lines[1][2]
        course = Course.open(folder)
        packages = packages_fingerprint(course.settings.offered_packages)
        queue = WorkQueue(database)
        queue.register_worker(WorkerFacts("weak/1", 2, "T3", engine_fingerprint(), packages))
        code, (_, *lines) = queue_checks(folder, "--cluster")
        assert (code, [line[0] for line in lines]) == (1, ["fault", "note"])
        assert lines[0][1] == (
            "1 live worker (1 at T3), and this course demands T2: none of them takes its work"
        )
        assert lines[1][1].startswith("worker weak/1 doesn't take this course's work: it demands tier T2")
        for number in (2, 3):
            queue.register_worker(WorkerFacts(f"lab/{number}", 2, "T1", engine_fingerprint(), packages))
        code, (_, *lines) = queue_checks(folder, "--cluster")
        assert (code, [line[0] for line in lines]) == (0, ["ok", "note"])
        assert lines[0][1] == "3 live workers (2 at T1 and 1 at T3), and this course demands T2"
        with database.write() as connection:
            connection.exec_driver_sql("UPDATE softmark_queue_version SET version = 99")
    code, ((state, text, step),) = queue_checks(folder, "--cluster")
    assert (code, state) == (1, "fault") and "a newer version of Softmark" in text and "version 99" in text
    assert "install" in step
