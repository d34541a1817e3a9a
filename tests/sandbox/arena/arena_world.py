"""What the attacks aim at: secrets, listeners, a process to kill, files to spoil; and what became of them."""

from __future__ import annotations

import contextlib
import ctypes
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

_SETTLE_S = 3.0
_PLACES = ("/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue")


def become_subreaper() -> None:
    """Adopt orphans, so that every process that an attack leaves behind stays our descendant."""
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)


class World:
    """Everything that an attack may aim at, owned by this process."""

    def __init__(self) -> None:
        self.token = "arena" + secrets.token_hex(6)
        self.folder = Path(tempfile.mkdtemp(prefix="softmark-arena-"))
        self.folder.chmod(0o755)
        self.secrets: list[str] = []
        self.key_file = self._file("key", 0o600)
        self.open_file = self._file("open", 0o644)
        os.environ["ARENA_SECRET"] = self._secret("KEY-IN-ENVIRON")
        # the prefix is put together at run time, so that only this buffer holds it
        self._memory = ctypes.create_string_buffer(self._secret("KEY-IN-" + "MEMORY").encode(), 256)
        self._scratch = ctypes.create_string_buffer(b"-" * 16)
        self.secret_fd = os.open(self.key_file, os.O_RDONLY)
        os.set_inheritable(self.secret_fd, True)
        self._canary: subprocess.Popen[bytes] | None = None
        self._argv_secret = self._secret("KEY-IN-ARGV")
        self.expected_secret = self._secret("KEY-IN-FRAME")
        self._listeners = self._listen()
        self._ipc_key = secrets.randbelow(2**30) + 2**29
        self._dirty = False

    def _secret(self, kind: str) -> str:
        text = secrets.token_hex(16)
        self.secrets.append(text)
        return f"{kind}:{text}"

    def _file(self, name: str, mode: int) -> Path:
        path = self.folder / name
        path.write_text(self._secret("KEY-IN-FILE"))
        path.chmod(mode)
        return path

    def _listen(self) -> dict[str, socket.socket]:
        doors: dict[str, socket.socket] = {}
        for name, family, kind, address in (
            ("tcp", socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
            ("tcp6", socket.AF_INET6, socket.SOCK_STREAM, ("::1", 0)),
            ("udp", socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)),
            ("unix", socket.AF_UNIX, socket.SOCK_STREAM, str(self.folder / "socket")),
            ("unix_dgram", socket.AF_UNIX, socket.SOCK_DGRAM, str(self.folder / "datagrams")),
            ("abstract", socket.AF_UNIX, socket.SOCK_STREAM, "\0" + self.token),
        ):
            try:
                door = socket.socket(family, kind)
                door.bind(address)
            except OSError:  # no IPv6 here
                continue
            door.setblocking(False)
            if kind == socket.SOCK_STREAM:
                door.listen(8)
            if isinstance(address, str) and address.startswith("/"):
                os.chmod(address, 0o777)
            doors[name] = door
        return doors

    @property
    def has_ipv6(self) -> bool:
        """Whether the loopback speaks IPv6."""
        return "tcp6" in self._listeners

    def prepare(self) -> None:
        """Put everything in its place before an attack."""
        if self._canary is None or self._canary.poll() is not None:
            command = [sys.executable, "-I", "-S", "-c", "import time; time.sleep(900)", self._argv_secret]
            self._canary = subprocess.Popen(command, start_new_session=True)
        victim = self.folder / "victim"
        victim.write_text("victim")
        victim.chmod(0o644)
        os.utime(victim, (1_700_000_000, 1_700_000_000))
        with contextlib.suppress(OSError):
            os.removexattr(victim, "user.message")
        (self.folder / "victim.gone").unlink(missing_ok=True)
        self.heard()

    def target(self, *, naive: bool, project: Path, site: Path) -> dict[str, object]:
        """Return the addresses that attacks are told (never a secret)."""
        assert self._canary is not None
        ports = {
            f"{name}_port": door.getsockname()[1]
            for name, door in self._listeners.items()
            if "unix" not in name and name != "abstract"
        }
        return {
            "naive": naive,
            "token": self.token,
            "mark": f"/tmp/{self.token}-mark",
            "shm_mark": f"/dev/shm/{self.token}-mark",
            "folder": str(self.folder),
            "key_file": str(self.key_file),
            "open_file": str(self.open_file),
            "victim": str(self.folder / "victim"),
            "grader_pid": os.getpid(),
            "canary_pid": self._canary.pid,
            "secret_fd": self.secret_fd,
            "secret_address": ctypes.addressof(self._memory),
            "scratch_address": ctypes.addressof(self._scratch),
            "unix_path": str(self.folder / "socket"),
            "unix_dgram_path": str(self.folder / "datagrams"),
            "abstract": self.token,
            "ipc_key": self._ipc_key,
            "project": str(project),
            "site": str(site),
            **ports,
        }

    def heard(self) -> bool:
        """Tell whether any listener got the token since the last call."""
        got = b""
        for door in self._listeners.values():
            if door.type == socket.SOCK_DGRAM:
                with contextlib.suppress(BlockingIOError):
                    while True:
                        got += door.recv(4096)
                continue
            with contextlib.suppress(BlockingIOError):
                while True:
                    caller, _ = door.accept()
                    caller.settimeout(0.5)
                    with contextlib.suppress(OSError), caller:
                        while data := caller.recv(4096):
                            got += data
        return self.token.encode() in got

    def canary_died(self) -> bool:
        """Tell whether the process that attacks aim at is dead or was told to die."""
        assert self._canary is not None
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._canary.wait(0.05)
            return True
        return False

    def victim_changed(self) -> bool:
        """Tell whether the file that attacks aim at is as it was."""
        victim = self.folder / "victim"
        try:
            state = victim.stat()
        except OSError:
            return True
        changed = victim.read_text() != "victim" or state.st_mtime != 1_700_000_000
        return changed or state.st_mode & 0o777 != 0o644 or bool(os.listxattr(victim))

    def holds_secret(self, data: bytes) -> bool:
        """Tell whether any secret is among the bytes."""
        return any(text.encode() in data for text in self.secrets)

    def new_files(self) -> list[str]:
        """Return files with our token in their names, or of a user without a name; remove them."""
        found = []
        for place in (*_PLACES, str(self.folder)):
            with contextlib.suppress(OSError):
                for entry in os.scandir(place):
                    if self.token in entry.name and entry.name != "socket":
                        found.append(entry.path)
        for path in found:
            with contextlib.suppress(OSError):
                if os.path.isdir(path) and not os.path.islink(path):
                    os.rmdir(path)
                else:
                    os.unlink(path)
        return found

    def sysv_left(self) -> list[str]:
        """Return System V objects with our key."""
        found = []
        for kind in ("shm", "sem", "msg"):
            with contextlib.suppress(OSError), open(f"/proc/sysvipc/{kind}") as file:
                found += [kind for line in file if line.split()[0] == str(self._ipc_key)]
        return found

    def close(self) -> None:
        """Take everything away."""
        if self._canary is not None:
            self._canary.kill()
            self._canary.wait()
        for door in self._listeners.values():
            door.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def _stat(pid: int) -> tuple[int, str, int] | None:
    """Return parent, state and start time of a process."""
    try:
        with open(f"/proc/{pid}/stat", errors="replace") as file:
            fields = file.read().rsplit(")", 1)[1].split()
    except OSError:
        return None
    return int(fields[1]), fields[0], int(fields[19])


def processor_s(pid: int) -> float:
    """Return the processor time of a process in seconds; 0 if it is gone."""
    try:
        with open(f"/proc/{pid}/stat", errors="replace") as file:
            fields = file.read().rsplit(")", 1)[1].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def descendants() -> dict[int, str]:
    """Return our living descendants with their command lines; reap orphans that are dead."""
    parents: dict[int, int] = {}
    dead: set[int] = set()
    for name in os.listdir("/proc"):
        if name.isdigit() and (state := _stat(int(name))) is not None:
            parents[int(name)] = state[0]
            if state[1] in "ZX":
                dead.add(int(name))
    own, found = os.getpid(), {}
    for pid in parents:
        up = parents.get(pid)
        while up not in (None, 0, own):
            up = parents.get(up)
        if up == own and pid not in dead:
            with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as file:
                found[pid] = file.read().replace(b"\0", b" ").decode(errors="replace")
    return found


def left_running(before: dict[int, str]) -> list[int]:
    """Return processes beyond those of `before`, once things have settled.

    A zygote may have been replaced by a new one with the same command line, so numbers are compared
    by command line and not by process id.
    """
    end = time.monotonic() + _SETTLE_S
    while True:
        now = descendants()
        room = Counter(before.values())
        extra = []
        for pid in sorted(now):  # the older first: a survivor comes after its zygote
            if room[now[pid]] > 0:
                room[now[pid]] -= 1
            else:
                extra.append(pid)
        if not extra or time.monotonic() > end:
            return extra
        time.sleep(0.02)


def kill_all(pids: list[int]) -> None:
    """Kill what an attack left."""
    for pid in pids:
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)
    for pid in pids:
        with contextlib.suppress(OSError):
            os.waitpid(pid, 0)


def kill_all_but_wait(pids: list[int]) -> None:
    """Kill processes whose own parents wait for them."""
    for pid in pids:
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)
