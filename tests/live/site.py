"""A running ``grade serve`` in a process of its own, and people who are signed in there."""

from __future__ import annotations

import functools
import json
import os
import re
import signal
import ssl
import subprocess
import sys
import threading
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx

from engine.course import Course
from engine.quiz import rules as quiz_rules
from engine.store import open_store

__all__ = ["PATIENCE_S", "LiveSite", "new_course", "trusted"]

ROOT = Path(__file__).parents[2]
PATIENCE_S = 90.0
STUDENTS = ("ada,Ada Lovelace,ada@example.edu", "bob,Bob Moran,bob@example.edu")
STAFF = ("mia,Mia Marker,mia@example.edu,marker", "ivy,Ivy Prof,ivy@example.edu,instructor")


def new_course(folder: Path, *, students: tuple[str, ...] = STUDENTS, store: str = "") -> Path:
    """Make a course with students and staff; `store` is the address of another store than its file."""
    Course.init(folder, "Attention")
    (folder / "roster.csv").write_text("\n".join(["id,name,email", *students, ""]), encoding="utf-8")
    (folder / "staff.csv").write_text("\n".join(["id,name,email,role", *STAFF, ""]), encoding="utf-8")
    if store:
        settings = folder / "course.yaml"
        text = re.sub(r"(?m)^store:.*$\n?", "", settings.read_text(encoding="utf-8"))
        settings.write_text(f"{text}\nstore: {json.dumps(store)}\n", encoding="utf-8")
    return folder


@functools.cache
def trusted() -> ssl.SSLContext:
    """Return who clients trust: reading all of the authorities takes longer than most requests."""
    return httpx.create_ssl_context()


class LiveSite:
    """A site on a free port, reachable once this is made.

    Parameters
    ----------
    folder : Path
        The course folder.
    *arguments : str
        More of the command line.
    port : int
        0 takes a free one.
    environment : mapping, optional
        More of the environment.
    """

    def __init__(
        self, folder: Path, *arguments: str, port: int = 0, environment: dict[str, str] | None = None
    ) -> None:
        self.folder = folder
        self._errors = (folder / ".softmark" / "stderr.txt").open("ab")
        self.process = subprocess.Popen(
            [
                *(sys.executable, str(ROOT / "cli.py"), "serve", "--course", str(folder)),
                *("--port", str(port), *arguments),
            ],
            cwd=folder,
            env=os.environ
            | {"SOFTMARK_HOME": str(folder / ".softmark" / "home"), "PYTHONPATH": str(ROOT)}
            | (environment or {}),
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            encoding="utf-8",
        )
        assert self.process.stdout is not None
        self.printed = ""
        for line in self.process.stdout:
            self.printed += line
            if "Ctrl-C ends" in line:
                break
        match = re.search(r": (https?://\S+?)/?$", self.printed, re.MULTILINE)
        assert match, self.printed + self.complaints()
        self.address = match[1]
        # What is printed later must not fill the pipe.
        self._reader = threading.Thread(target=self.process.stdout.read, daemon=True)
        self._reader.start()

    @property
    def port(self) -> int:
        return int(self.address.rpartition(":")[2].partition("/")[0])

    def complaints(self) -> str:
        """Return what it has written to standard error."""
        return (self.folder / ".softmark" / "stderr.txt").read_text(encoding="utf-8")

    def cookie_of(self, person: str) -> str:
        """Sign somebody in, and return the session's cookie."""
        with open_store(Course.open(self.folder).store_place) as store:
            return store.sessions.begin(
                person, way="terminal", now=quiz_rules.now(), lasts=timedelta(hours=8)
            )

    def browser(self, person: str | None = None, **more: Any) -> httpx.Client:
        """Return a client; whoever is named is signed in."""
        cookies = {"softmark-session": self.cookie_of(person)} if person else {}
        settings = {"timeout": PATIENCE_S, "verify": trusted()} | more
        return httpx.Client(base_url=self.address, cookies=cookies, **settings)

    def kill(self) -> None:
        """End it as a crash of the machine would."""
        self.process.kill()
        self._ended()

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Ask it to end, and return its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self._ended()

    def _ended(self) -> int:
        code = self.process.wait(PATIENCE_S)
        self._reader.join(PATIENCE_S)
        assert self.process.stdout is not None
        self.process.stdout.close()
        self._errors.close()
        return code

    wait = _ended

    def __enter__(self) -> LiveSite:
        return self

    def __exit__(self, *_error: object) -> None:
        self.stop()


def form_token(page: str) -> str:
    """Return the token of a page's forms."""
    match = re.search(r'name="csrf" value="(\w+)"', page)
    assert match, page
    return match[1]
