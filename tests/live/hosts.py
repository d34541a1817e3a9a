"""Several machines on this one: each host has an address, processes, a name and mounts of its own.

Hosts are sets of Linux namespaces, joined by a bridge in one more; their addresses exist nowhere else. The
first process of each ends with the test, however that ends, and the kernel then ends every process of the
host, its interface and its mounts. So nothing is left, even of a test that was killed.
"""

from __future__ import annotations

import functools
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.live.small_disk import SmallDisk

__all__ = ["Host", "HostProcess", "Network", "need_program", "network"]

PATIENCE_S = 60.0
SUBNET = "10.77.0"
_FIRST = Path(__file__).with_name("first_process.py")
_NAMESPACES = ("--net", "--mount", "--uts", "--ipc", "--pid", "--fork", "--kill-child", "--mount-proc")


class HostProcess:
    """A process on a host; its number is one of that host.

    Parameters
    ----------
    host : Host
    pid : int
    log : Path
        What it prints.
    """

    def __init__(self, host: Host, pid: int, log: Path) -> None:
        self.host = host
        self.pid = pid
        self._log = log

    def poll(self) -> int | None:
        """Return its exit code, negative for a signal; None while it runs."""
        code = self.host.ask("poll", number=self.pid)
        return None if code is None else int(code)

    def wait(self, timeout: float = PATIENCE_S) -> int:
        """Wait for its end, and return the exit code."""
        end = time.monotonic() + timeout
        while (code := self.poll()) is None:
            assert time.monotonic() < end, f"{self.host.name}: process {self.pid} doesn't end: {self.said()}"
            time.sleep(0.02)
        return code

    def send_signal(self, number: int) -> None:
        self.host.ask("signal", number=self.pid, signal=number)

    def kill(self) -> None:
        """End it as the kernel does when memory is short: it can do nothing about it."""
        self.send_signal(signal.SIGKILL)

    def said(self) -> str:
        return self._log.read_text(encoding="utf-8", errors="replace")


class Host:
    """One machine of a :class:`Network`, which makes it.

    Parameters
    ----------
    name, address : str
    folder : Path
        Where logs go; the file system is that of this machine.
    """

    def __init__(self, name: str, address: str, folder: Path) -> None:
        self.name = name
        self.address = address
        self._folder = folder
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        # Isolated and without site: this starts in a sixth of the time.
        self._outer = subprocess.Popen(
            ["unshare", *_NAMESPACES, sys.executable, "-I", "-S", str(_FIRST), name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._answer()
        number = self._outer.pid
        self.first = int(Path(f"/proc/{number}/task/{number}/children").read_text())
        """The first process, as this machine counts."""

    def ask(self, what: str, **more: Any) -> Any:
        """Have the first process do something, and return its answer."""
        with self._lock:
            assert self._outer.stdin is not None
            self._outer.stdin.write(json.dumps({"do": what, **more}) + "\n")
            self._outer.stdin.flush()
            return self._answer()

    def _answer(self) -> Any:
        assert self._outer.stdout is not None
        line = self._outer.stdout.readline()
        assert line, f"host {self.name} has ended with {self._outer.wait()}"
        answer = json.loads(line)
        assert "error" not in answer, (self.name, answer["error"])
        return answer["value"]

    def start(
        self,
        command: Sequence[object],
        *,
        environment: Mapping[str, str] | None = None,
        folder: Path | None = None,
        user: Mapping[str, str] | None = None,
    ) -> HostProcess:
        """Start a program there, in the environment of the test and `environment`."""
        log = self._folder / f"{self.name}-{next(self._numbers)}.log"
        number = self.ask(
            "start",
            command=[str(word) for word in command],
            environment={**os.environ, **(environment or {})},
            folder=str(folder or self._folder),
            user=dict(user or {}),
            log=str(log),
        )
        return HostProcess(self, number, log)

    def run(
        self, command: Sequence[object], *, wanted: int | None = 0, timeout: float = PATIENCE_S, **how: Any
    ) -> str:
        """Run a program there to its end, and return what it printed."""
        process = self.start(command, **how)
        code = process.wait(timeout)
        assert wanted in (None, code), (self.name, command, code, process.said())
        return process.said()

    def kill_everything(self) -> None:
        """End all processes at once, as a power cut does; the network comes back with the host."""
        self.ask("signal", number=-1, signal=signal.SIGKILL)

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Let everything stand still inside the block: no connection is closed, and nothing is answered."""
        self.run_at(0)
        try:
            yield
        finally:
            self.run_at(1)

    def run_at(self, share: float) -> None:
        """Let the host run for a share of the time only, as a slower machine would.

        1 is full speed; a host at 0 stands still.
        """
        self.ask("share", share=share)

    def path(self, place: Path) -> Path:
        """Return a place as it is on the host, with the host's own mounts."""
        return Path(f"/proc/{self.first}/root") / place.relative_to("/")

    def hide(self, place: Path) -> None:
        """Let a folder of this machine be an empty one there."""
        self.run(["mount", "-t", "tmpfs", "softmark-test", place])

    def small_disk(self, place: Path, mib: int) -> SmallDisk:
        """Mount a disk of so many MiB on a folder, there only."""
        self.run(["mount", "-t", "tmpfs", "-o", f"size={mib}m,mode=0755", "softmark-test", place])
        return SmallDisk(self.path(place))

    def close(self) -> None:
        """Switch it off."""
        assert self._outer.stdin is not None and self._outer.stdout is not None
        self._outer.stdin.close()
        self._outer.wait(PATIENCE_S)
        self._outer.stdout.close()


class Network:
    """Hosts and the bridge between them.

    Parameters
    ----------
    folder : Path
        Where the logs of all programs go.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.hosts: list[Host] = []
        self._switch = Host("switch", "", folder)
        self._ip("link", "add", "name", "bridge0", "type", "bridge")
        self._ip("link", "set", "dev", "bridge0", "up")

    def host(self, name: str) -> Host:
        """Add a host, and connect it."""
        number = len(self.hosts) + 1
        made = Host(name, f"{SUBNET}.{number}", self._folder)
        self.hosts.append(made)
        port = self._port(made)
        peer = ("peer", "name", "eth0", "netns", str(made.first))
        self._ip("link", "add", "name", port, "type", "veth", *peer)
        self._ip("link", "set", "dev", port, "master", "bridge0", "up")
        self._ip("address", "add", f"{made.address}/24", "dev", "eth0", on=made)
        for device in ("lo", "eth0"):
            self._ip("link", "set", "dev", device, "up", on=made)
        return made

    def part(self, host: Host) -> None:
        """Let nothing through to a host or from it; its cable stays plugged in, so nobody is told."""
        self._ip("link", "set", "dev", self._port(host), "nomaster")

    def join(self, host: Host) -> None:
        """Connect a host again."""
        self._ip("link", "set", "dev", self._port(host), "master", "bridge0")

    @contextmanager
    def parted(self, host: Host) -> Iterator[None]:
        """Keep a host apart inside the block."""
        self.part(host)
        try:
            yield
        finally:
            self.join(host)

    def _port(self, host: Host) -> str:
        return f"port{self.hosts.index(host) + 1}"

    def _ip(self, *words: str, on: Host | None = None) -> None:
        namespace = f"--net=/proc/{(on or self._switch).first}/ns/net"
        done = subprocess.run(
            ["nsenter", namespace, "ip", *words], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, (words, done.stderr)

    def close(self) -> None:
        """Switch everything off."""
        for host in (*self.hosts, self._switch):
            host.close()


@functools.cache
def _obstacle() -> str:
    """Return why there can be no hosts here; empty if there can."""
    if sys.platform != "linux":
        return "network namespaces are Linux's"
    if os.geteuid() != 0:
        return "network namespaces need root"
    try:
        done = subprocess.run(
            ["unshare", *_NAMESPACES, "ip", "link", "add", "name", "port1", "type", "veth"],
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError as error:
        return f"util-linux and iproute2 are needed: {error}"
    return done.stderr.strip() if done.returncode else ""


def need_program(name: str, package: str) -> None:
    """Skip the test where a program of Debian isn't installed."""
    if shutil.which(name) is None:
        pytest.skip(f"no {name} here (Debian and Ubuntu: apt-get install {package})")


@contextmanager
def network(folder: Path) -> Iterator[Network]:
    """Make a network without hosts. Where this machine allows none, the test is skipped, and fails in CI."""
    if reason := _obstacle():
        if os.environ.get("CI"):
            pytest.fail(f"CI must run everything, and has no hosts: {reason}")
        pytest.skip(f"no hosts can be made here: {reason}")
    made = Network(folder)
    try:
        yield made
    finally:
        made.close()
