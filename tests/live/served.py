"""A course that a real `grade serve` process serves, and browsers without a screen that visit it."""

from __future__ import annotations

import itertools
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from datetime import timedelta
from pathlib import Path

import httpx2 as httpx

from engine.course import Course
from engine.quiz import rules as quiz_rules
from engine.store import Store, open_store

__all__ = ["LiveSite", "Visitor", "make_course"]

ROOT = Path(__file__).parents[2]
PATIENCE_S = 120.0
_numbers = itertools.count()
_ADDRESS = re.compile(r": (http://\S+)/$", re.MULTILINE)


def make_course(folder: Path, students: Iterable[str], rules: str = "") -> Path:
    """Make a course folder with these students; `rules` are lines under ``policies:``."""
    course = folder / "course"
    Course.init(course, "Live")
    rows = "".join(f"{student},{student},{student}@example.edu\n" for student in students)
    (course / "roster.csv").write_text(f"id,name,email\n{rows}", encoding="utf-8")
    settings = course / "course.yaml"
    settings.write_text(settings.read_text(encoding="utf-8") + rules, encoding="utf-8")
    return course


class Visitor:
    """A student's browser, as far as a test needs one."""

    def __init__(self, address: str, cookie: str) -> None:
        self.client = httpx.Client(
            base_url=address, cookies={"softmark-session": cookie}, timeout=PATIENCE_S, follow_redirects=False
        )
        self._token = ""

    def token(self) -> str:
        """Return what a form must carry."""
        if not self._token:
            page = self.client.get("/code/softmax?write=1").text
            found = re.search(r'name="csrf" value="(\w+)"', page)
            assert found is not None, page
            self._token = found[1]
        return self._token

    def hand_in(self, item: str, source: str, name: str = "mine.py") -> str:
        """Upload a program, and return where the site sends the browser then."""
        values = {"csrf": self.token(), "way": "files"}
        files = {"files": (name, source.encode())}
        answer = self.client.post(f"/code/{item}/hand-in", data=values, files=files)
        assert answer.status_code == 303, (answer.status_code, answer.text)
        return answer.headers["location"]

    def feedback(self, item: str, address: str) -> str:
        """Wait for the feedback as the page's script does, and return the page that has it."""
        end = time.monotonic() + PATIENCE_S
        page = self.client.get(address).text
        while 'id="result"' not in page:
            state = re.search(r'data-state="([^"]+)"', page)
            assert state is not None, page
            while self.client.get(state[1]).json()["open"]:
                assert time.monotonic() < end
                time.sleep(0.05)
            page = self.client.get(f"/code/{item}").text
        return page

    def close(self) -> None:
        self.client.close()


class LiveSite:
    """One server process; it can be killed and started again.

    Parameters
    ----------
    course : Path
    store : str, optional
        Address of a store that is used instead of the course's own.
    words : str
        Further options of ``grade serve``.
    """

    def __init__(self, course: Path, *words: str, store: str = "") -> None:
        self.course = course
        self.store = store or str(course / ".softmark" / "store.db")
        self._words = words
        self.address = ""
        self._process: subprocess.Popen[bytes] | None = None
        self._log = course.parent / f"log-{next(_numbers)}"

    def start(self, more: Mapping[str, str] | None = None) -> None:
        """Start it, and wait until it has said its address."""
        words = ["serve", "--course", self.course, "--store", self.store, "--port", "0", *self._words]
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "cli", *map(str, words)],
                cwd=ROOT,
                env=os.environ | dict(more or {}),
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        end = time.monotonic() + PATIENCE_S
        while not (said := _ADDRESS.search(self.log)):
            assert self.is_alive and time.monotonic() < end, self.log
            time.sleep(0.02)
        self.address = said[1]

    @property
    def log(self) -> str:
        """What it said since it was started."""
        return self._log.read_text(encoding="utf-8", errors="replace")

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def visitors(self, students: Iterable[str]) -> dict[str, Visitor]:
        """Return browsers in which these students are signed in."""
        with self.open_store() as store:
            cookies = {
                student: store.sessions.begin(
                    student, way="mail", now=quiz_rules.now(), lasts=timedelta(hours=12)
                )
                for student in students
            }
        return {student: Visitor(self.address, cookie) for student, cookie in cookies.items()}

    def open_store(self) -> Store:
        return open_store(self.store)

    def kill(self) -> None:
        """End it as ``kill -9`` does."""
        if self.is_alive:
            os.kill(self.pid, signal.SIGKILL)
        self._ended()

    def stop(self) -> int:
        """Ask it to end, and return its exit code."""
        if self.is_alive:
            os.kill(self.pid, signal.SIGTERM)
        return self._ended()

    def _ended(self) -> int:
        assert self._process is not None
        return self._process.wait(PATIENCE_S)
