"""The test's end of an arena: starts it, queues requests, hands reports out."""

from __future__ import annotations

import json
import os
import pwd
import queue
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from arena_attack import Attack, read_corpus
from arena_identity import NO_NAMESPACE

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parent.parent.parent
ATTACKS = {attack.name: attack for attack in read_corpus()}
USERS = ("root", "user")
TIERS = ("T1", "T2")
_REPLY_S = 900.0
# arenas sleep and wait as often as they work, so one more than this machine has processors
_at_work = threading.Semaphore((os.cpu_count() or 1) + 1)


def start_arena(user: str, python: Path, project_path: str) -> subprocess.Popen[str]:
    """Start an arena.

    Parameters
    ----------
    user : {"root", "user"}
        ``"user"`` is whoever runs the tests if that isn't root.
    python : Path
        The interpreter: ours, or one of an environment into which a wheel is installed.
    project_path : str
        ``PYTHONPATH`` for the arena; empty where Softmark is installed.
    """
    command = [str(python), str(HERE / "arena_serve.py")]
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    environment |= {"ARENA_PROJECT": str(PROJECT), "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    if project_path:
        environment["PYTHONPATH"] = project_path
    if user == "user" and os.geteuid() == 0:
        paths = (PROJECT, Path(sys.prefix), Path(sys.base_prefix), python.parent.parent)
        way = [str(HERE / "arena_identity.py"), str(free_uid()), *map(str, paths), "--"]
        command = [sys.executable, *way, *command]
        environment["HOME"] = "/nonexistent"
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
        cwd="/",
        start_new_session=True,
    )


@cache
def free_uid() -> int:
    """Return a user id that no account and no process has."""
    taken = {entry.pw_uid for entry in pwd.getpwall()}
    for name in os.listdir("/proc"):
        try:
            taken.add(os.stat(f"/proc/{name}").st_uid)
        except OSError:
            continue
    return next(uid for uid in range(64_200, 65_000) if uid not in taken)


@dataclass
class Arena:
    """One arena: requests are worked on in their order, in the background."""

    user: str
    python: Path = field(default_factory=lambda: Path(sys.executable))
    project_path: str = str(PROJECT)

    def __post_init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._queue: queue.Queue[tuple[str, dict[str, Any]] | None] = queue.Queue()
        self._reports: dict[str, dict[str, Any]] = {}
        self._arrived = threading.Condition()
        self._asked: set[str] = set()
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def ask(self, **request: Any) -> None:
        """Queue a request unless it was asked before."""
        key = json.dumps(request, sort_keys=True)
        if key not in self._asked:
            self._asked.add(key)
            self._queue.put((key, request))

    def report(self, **request: Any) -> dict[str, Any]:
        """Return the report on a request; ask it if nobody did."""
        self.ask(**request)
        key = json.dumps(request, sort_keys=True)
        with self._arrived:
            if not self._arrived.wait_for(lambda: key in self._reports, _REPLY_S):
                raise TimeoutError(f"the arena doesn't answer to {key}")
        return self._reports[key]

    def close(self) -> None:
        """End the arena, leaving undone what nobody waits for."""
        while not self._queue.empty():
            self._queue.get_nowait()
        self._queue.put(None)
        self._thread.join(120)

    def _work(self) -> None:
        while (item := self._queue.get()) is not None:
            key, request = item
            with _at_work:
                report = self._exchange(request)
            with self._arrived:
                self._reports[key] = report
                self._arrived.notify_all()
        if self._process is not None and self._process.stdin is not None and self._process.stdout is not None:
            self._process.stdin.close()
            self._process.stdout.close()
            self._process.wait(60)

    def _exchange(self, request: dict[str, Any]) -> dict[str, Any]:
        if self._process is None:
            self._process = start_arena(self.user, self.python, self.project_path)
        process = self._process
        assert process.stdin is not None and process.stdout is not None
        try:
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except OSError:
            line = ""
        if line:
            report: dict[str, Any] = json.loads(line)
            return report
        if process.wait(30) == NO_NAMESPACE:
            return {"skip": "no mount namespace here, and other users can't reach our files"}
        return {"error": f"the arena ended with status {process.returncode}"}


def checked(report: dict[str, Any]) -> dict[str, Any]:
    """Return a report that tells of a run; skip or fail where there was none."""
    reason = report.get("skip")
    if reason is None and "isn't possible here" in report.get("error", ""):
        reason = report["error"]
    if reason is not None:
        if os.environ.get("CI"):
            pytest.fail(f"CI must run everything: {reason}")
        pytest.skip(reason)
    if "error" in report:
        pytest.fail(report["error"])
    return report


def opened(arena: Arena, tier: str) -> str:
    """Return the name of the arena's runner of a tier, opened and seen to work."""
    report = checked(arena.report(do="open", name=tier, tier=tier, off=[]))
    assert report == {"tier": tier, "good": None}
    return tier


def arena_names(user: str) -> dict[str, str]:
    """Return the names of a user's arenas by their job; they work side by side."""
    return {job: f"{user} {job}" for job in ("attacks", "controls", "layers")}


def control_arena(attack: Attack) -> str:
    """Return the arena in which an attack is shown to work."""
    return "root controls" if attack.control == "naive-root" else "user controls"
