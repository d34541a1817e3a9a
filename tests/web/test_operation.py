"""The site as a process: how it starts, logs and stops, and what it says when something is away."""

from __future__ import annotations

import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from engine.course import Course
from engine.store import open_store
from engine.store.audit import AuditEntry
from engine.store.sql_tables import SCHEMA_VERSION, VERSION_TABLE
from tests.live.postgres import server
from tests.live.site import PATIENCE_S, LiveSite, new_course

ROOT = Path(__file__).parents[2]


@pytest.fixture
def course(tmp_path: Path) -> Path:
    return new_course(tmp_path / "course")


def run_serve(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(ROOT / "cli.py"), "serve", "--course", str(folder), *arguments],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
        env=os.environ | {"SOFTMARK_HOME": str(folder.parent / "home")},
    )


def make_outdated(folder: Path) -> str:
    """Make the store one of the schema before the newest, as far as its version says; return that version."""
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    import engine.store.migrations

    config = Config()
    config.set_main_option("script_location", str(Path(engine.store.migrations.__file__).parent))
    before = ScriptDirectory.from_config(config).get_revision(SCHEMA_VERSION).down_revision
    assert isinstance(before, str)
    import sqlalchemy as sa
    from alembic import command

    path = Course.open(folder).store_place
    database = sa.create_engine(f"sqlite:///{path}")
    Path(path).parent.mkdir(exist_ok=True)
    with database.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, before)
    database.dispose()
    return before


def test_it_answers_and_ends_with_what_is_under_way(course: Path) -> None:
    site = LiveSite(course)
    with site.browser() as browser:
        assert browser.get("/health/live").json() == {"status": "ok"}
        assert browser.get("/health/ready").json() == {"status": "ok"}
        assert "Attention" in browser.get("/").text
    # A form of which only the head has come when the signal comes is taken to its end.
    with socket.create_connection(("127.0.0.1", site.port)) as slow:
        body = b"a=1"
        head = (
            f"POST /nothing HTTP/1.1\r\nHost: 127.0.0.1:{site.port}\r\nConnection: close\r\n"
            f"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        slow.sendall(head.encode())
        time.sleep(0.3)
        site.process.send_signal(signal.SIGTERM)
        time.sleep(0.3)
        slow.sendall(body)
        assert slow.recv(100).startswith(b"HTTP/1.1 404")
    assert site.wait() == 0
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{site.address}/")


def test_ctrl_c_ends_it(course: Path) -> None:
    site = LiveSite(course)
    assert site.stop(signal.SIGINT) == 0
    assert "Traceback" not in site.complaints()


def test_the_log_has_a_line_a_request_and_nothing_about_people(course: Path, tmp_path: Path) -> None:
    log = tmp_path / "site.log"
    with LiveSite(course, "--log", str(log)) as site, site.browser("ada") as browser:
        browser.get("/account", params={"q": "secret"}, headers={"User-Agent": "Ada's own"})
        browser.get("/nothing/ada")
        browser.get("/static/site.css")
        browser.get("/health/live")
    text = log.read_text(encoding="utf-8")
    lines = [json.loads(line) for line in text.splitlines()]
    assert [(n["route"], n["method"], n["status"], n["role"]) for n in lines] == [
        ("account", "GET", 200, "student"),
        ("unknown", "GET", 404, "nobody"),
        ("static", "GET", 200, "nobody"),
        ("health.live", "GET", 200, "nobody"),
    ]
    assert all(set(n) == {"time", "level", "event", "route", "method", "status", "ms", "role"} for n in lines)
    assert not any(word in text.lower() for word in ("ada", "secret", "127.0.0.1", "lovelace"))
    assert (log.stat().st_mode & 0o007) == 0
    with LiveSite(course, "--log", str(log), "--log-addresses") as site, site.browser() as browser:
        browser.get("/")
    assert json.loads(log.read_text(encoding="utf-8").splitlines()[-1])["client"] == "127.0.0.1"


def test_a_log_that_cant_be_written_is_said_at_once(course: Path) -> None:
    done = run_serve(course, "--log", str(course / "nowhere" / "site.log"))
    assert done.returncode == 2
    assert "the log can't be written" in done.stderr


def test_an_older_store_is_backed_up_and_migrated_and_both_are_said(course: Path) -> None:
    before = make_outdated(course)
    with LiveSite(course) as site:
        assert f"(schema {before})" in site.printed
        (backup,) = (course / ".softmark" / "backups").glob(f"store-{before}-*.db")
        assert str(backup) in site.printed
    with closing(sqlite3.connect(backup)) as old:
        assert old.execute(f"SELECT version_num FROM {VERSION_TABLE}").fetchone() == (before,)
    assert backup.stat().st_mode & 0o077 == 0
    with LiveSite(course) as site:
        assert "schema" not in site.printed


def test_no_backup_no_migration(course: Path) -> None:
    before = make_outdated(course)
    (course / ".softmark" / "backups").write_text("a file in the way")
    done = run_serve(course, "--port", "0")
    assert done.returncode == 3
    assert "the backup can't be written" in done.stderr and "--no-backup" in done.stderr
    with closing(sqlite3.connect(course / ".softmark" / "store.db")) as old:
        assert old.execute(f"SELECT version_num FROM {VERSION_TABLE}").fetchone() == (before,)
    with LiveSite(course, "--no-backup") as site:
        assert "brought up to date" in site.printed


def test_a_backup_while_the_site_runs(course: Path, tmp_path: Path) -> None:
    with LiveSite(course) as site, site.browser("ada") as browser:
        stop = threading.Event()

        def sign_in_again_and_again() -> None:
            while not stop.is_set():
                site.cookie_of("bob")

        writer = threading.Thread(target=sign_in_again_and_again)
        writer.start()
        try:
            with Course.open(course).open_store() as store:
                rows = store.upkeep.back_up(tmp_path / "backup.db")
            assert browser.get("/account").status_code == 200
        finally:
            stop.set()
            writer.join()
    assert rows["sessions"] >= 1
    with open_store(tmp_path / "backup.db") as copy:
        assert copy.upkeep.check().faults == ()


def test_under_a_path_whether_the_proxy_takes_it_off_or_not(course: Path) -> None:
    (course / "web.yaml").write_text(
        "address: http://localhost/nlp\nproxies: [127.0.0.1]\n", encoding="utf-8"
    )
    port = free_port()
    site = LiveSite(course, port=port)
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}") as proxy:
            for path in ("/", "/nlp/", "/health/live", "/nlp/health/live"):
                assert proxy.get(path).status_code == 200, path
            page = proxy.get("/nlp/").text
            assert 'href="/nlp/static/site.css' in page
            assert proxy.get(page[page.index("/nlp/static/site.css") :].partition('"')[0]).status_code == 200
    finally:
        site.stop()


@pytest.mark.parametrize("is_trusted", [True, False])
def test_forwarded_addresses_are_believed_from_trusted_proxies_alone(
    course: Path, tmp_path: Path, is_trusted: bool
) -> None:
    proxy = "127.0.0.1" if is_trusted else "192.0.2.9"
    (course / "web.yaml").write_text(f"proxies: [{proxy}]\n", encoding="utf-8")
    log = tmp_path / "log"
    with LiveSite(course, "--log", str(log), "--log-addresses") as site, site.browser() as browser:
        browser.get("/", headers={"X-Forwarded-For": "198.51.100.7"})
    client = json.loads(log.read_text(encoding="utf-8").splitlines()[0])["client"]
    assert client == ("198.51.100.7" if is_trusted else "127.0.0.1")


def test_several_processes_need_a_server(course: Path) -> None:
    done = run_serve(course, "--processes", "2")
    assert done.returncode == 2
    assert "need a store on a PostgreSQL server" in done.stderr


def test_several_processes_on_postgresql_share_the_address_and_outlive_one_another(tmp_path: Path) -> None:
    course = new_course(tmp_path / "course", store=server().new_store())
    with LiveSite(course, "--processes", "2") as site:
        children = child_processes(site.process.pid)
        assert len(children) == 2
        with site.browser("ada") as browser:
            for _ in range(10):
                assert "Ada Lovelace" in browser.get("/account").text
        os.kill(children[0], signal.SIGKILL)
        end = time.monotonic() + PATIENCE_S
        while len(child_processes(site.process.pid)) < 2 or children[0] in child_processes(site.process.pid):
            assert time.monotonic() < end
            time.sleep(0.1)
        with site.browser("ada") as browser:
            assert "Ada Lovelace" in browser.get("/account").text
        process = site.process.pid
    assert child_processes(process) == []


def test_postgresql_going_away_is_a_sentence_and_then_over(tmp_path: Path) -> None:
    course = new_course(tmp_path / "course", store=server().new_store())
    with LiveSite(course) as site, site.browser("ada") as browser:
        assert browser.get("/account").status_code == 200
        server().stop()
        try:
            page = browser.get("/account")
            assert page.status_code == 503
            assert "database server" in page.text
            assert "Traceback" not in page.text and "psycopg" not in page.text
            assert browser.get("/health/live").status_code == 200
            answer = browser.get("/health/ready")
            assert answer.status_code == 503
            assert answer.json()["status"] == "unavailable"
        finally:
            server().start()
        page = browser.get("/account")
        assert page.status_code == 200
        assert "Ada Lovelace" in page.text
        assert browser.get("/health/ready").json()["status"] == "ok"


@pytest.mark.skipif(sys.platform != "linux", reason="a server's processes are found under /proc")
def test_a_database_that_hangs_gives_a_page_in_time_and_goes_on(tmp_path: Path) -> None:
    course = new_course(tmp_path / "course", store=server().new_store())
    with LiveSite(course) as site, site.browser("ada") as browser:
        assert browser.get("/account").status_code == 200
        with server().frozen():
            begun = time.monotonic()
            page = browser.get("/account")
            assert page.status_code == 503
            assert "database server" in page.text and "Traceback" not in page.text
            assert (
                time.monotonic() - begun < 40
            )  # ten seconds of silence, five to connect, and a busy machine
            assert browser.get("/health/live").status_code == 200
        assert "Ada Lovelace" in browser.get("/account").text


def checks(folder: Path, *arguments: str) -> tuple[int, dict[str, list[tuple[str, str]]]]:
    """Return the exit code of ``--check``, and state and text of each line by its name."""
    done = run_serve(folder, "--check", "--json", "--port", "0", *arguments)
    assert not done.stderr, done.stderr
    lines: dict[str, list[tuple[str, str]]] = {}
    for line in json.loads(done.stdout):
        assert line["next"] or line["state"] == "ok", line
        lines.setdefault(line["check"], []).append((line["state"], line["text"]))
    return done.returncode, lines


def test_the_check_of_a_course_in_order(course: Path) -> None:
    code, lines = checks(course)
    assert code == 0
    assert list(lines) == [
        *("settings", "address", "people", "mail", "store", "clock", "disk", "permissions", "sandbox")
    ]
    assert ("ok", "2 students, 2 staff") in lines["people"]
    assert not (course / ".softmark" / "store.db").exists()
    Course.open(course).open_store().close()
    code, lines = checks(course)
    assert code == 0
    assert lines["store"][0][0] == "ok" and SCHEMA_VERSION in lines["store"][0][1]


def test_the_check_names_each_fault_with_what_to_do(course: Path) -> None:
    (course / "web.yaml").write_text(
        "address: http://marks.example.edu\nmail: {host: 127.0.0.1, port: 1, sender: a@example.edu}\n",
        encoding="utf-8",
    )
    (course / "roster.csv").write_text(
        "id,name,email\nada,Ada,same@example.edu\nbob,Bob,same@example.edu\nada,Twice,x@example.edu\n",
        encoding="utf-8",
    )
    (course / "staff.csv").write_text("id,name,email,role\nmia,Mia,,marker\n", encoding="utf-8")
    with Course.open(course).open_store() as store:
        store.audit.add(AuditEntry(datetime.now(UTC) + timedelta(hours=1), "ivy", "instructor", "a", "b"))
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        code, lines = checks(course, "--port", str(busy.getsockname()[1]))
    assert code == 1
    faults = {name: [text for state, text in found if state == "fault"] for name, found in lines.items()}
    assert "isn't encrypted" in faults["address"][0] and "is in use" in faults["address"][1]
    people = " ".join(faults["people"])
    assert "roster.csv:" in people and "no instructor" in people
    assert "onnection refused" in faults["mail"][0]
    assert "the store has a time in the future" in faults["clock"][0]
    assert faults["store"] == []


def test_the_check_of_settings_that_cant_be_read(course: Path) -> None:
    (course / "web.yaml").write_text("adress: https://marks.example.edu\n", encoding="utf-8")
    code, lines = checks(course)
    assert code == 1
    assert lines["settings"][0][0] == "fault" and "web.yaml" in lines["settings"][0][1]


def test_the_check_tells_of_a_migration_and_does_none(course: Path) -> None:
    before = make_outdated(course)
    assert before in checks(course)[1]["store"][0][1]
    with closing(sqlite3.connect(course / ".softmark" / "store.db")) as old:
        assert old.execute(f"SELECT version_num FROM {VERSION_TABLE}").fetchone() == (before,)


def test_the_check_as_people_read_it(course: Path) -> None:
    done = run_serve(course, "--check", "--port", "0")
    assert done.returncode == 0
    assert "✓ people       2 students, 2 staff" in done.stdout
    assert "next: set `address` in web.yaml to what people type" in done.stdout


def child_processes(process: int) -> list[int]:
    try:
        text = Path(f"/proc/{process}/task/{process}/children").read_text()
    except FileNotFoundError:
        return []
    return [int(number) for number in text.split()]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
