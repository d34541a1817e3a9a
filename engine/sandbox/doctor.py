"""Tries each forbidden act in the sandbox and reports what happened (`grade doctor`).

A tier is a promise that no reading of the configuration can prove: a kernel, a container or a missing
library may have taken a layer away.  So the acts of `escape_attempts.py` are handed in like a submission:
once as a file that imports torch and once as one that doesn't, for these run in processes of two kinds.
"""

from __future__ import annotations

import contextlib
import os
import platform
import secrets
import socket
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from engine.errors import NoDeviceError, SandboxError
from engine.runner import Call, CallOutcome, CallStatus, Job, Limits, Runner, SandboxOptions
from engine.sandbox.bwrap import bwrap_path, bwrap_version, is_root
from engine.sandbox.confinement import landlock_abi, libseccomp_version
from engine.sandbox.device_runner import WorkerPool
from engine.sandbox.tiers import TIERS, MissingLayer, choose_device_base, missing_layers, open_runner

_ATTEMPTS = Path(__file__).parent / "escape_attempts.py"
_WITH_TORCH = "\nimport torch\n"
_SHARED_FOLDERS = ("/tmp", "/var/tmp", "/dev/shm", "/")
# a second for a call, since two of the acts only end at the deadline
_LIMITS = Limits(wall_s=60.0, call_s=1.0, memory_mib=1024, output_bytes=2**16)
_TOO_MUCH_MEMORY = 4 * 2**30
_TOO_MUCH_OUTPUT = 2**20
_ACTS_A_JOB = 8  # each crash costs one of a job's bounded number of children
_BOTH = frozenset({"T1", "T2"})
_FIRST = frozenset({"T1"})
_ALL = frozenset(TIERS)


@dataclass(frozen=True, slots=True)
class _Act:
    function: str
    title: str
    promised: frozenset[str] = _BOTH


_ACTS = (
    _Act("read_key", "read a key file"), _Act("list_folder", "list a folder outside"),
    _Act("see_metadata", "see whether a file outside exists, and its size", _FIRST),
    _Act("read_problems", "read the problem bank"), _Act("import_reference", "import the reference"),
    _Act("read_own_source", "read the sandbox's own code"), _Act("write_file", "write a file"),
    _Act("make_name", "make a file name"), _Act("change_file", "change a file's mode"),
    _Act("fork", "make a process"), _Act("start_program", "start a program"),
    _Act("replace_program", "become another program"), _Act("run_from_memory", "make a program in memory"),
    _Act("make_threads", "make 400 threads"), _Act("signal_parent", "signal its parent"),
    _Act("signal_grader", "signal the grader"), _Act("signal_by_descriptor", "signal by pidfd"),
    _Act("trace_parent", "trace its parent"), _Act("read_parent_memory", "open its parent's memory"),
    _Act("read_parent_environment", "read its parent's environment"),
    _Act("read_grader_environment", "read the grader's environment"),
    _Act("copy_parent_memory", "copy its parent's memory"),
    _Act("use_descriptors", "use inherited descriptors"),
    _Act("see_environment", "see environment variables", _ALL),
    _Act("connect_tcp", "connect to a port of this machine"), _Act("send_datagram", "send a datagram"),
    _Act("connect_abstract", "connect to an abstract socket"), _Act("make_socket", "make sockets"),
    _Act("share_memory", "make System V shared memory"),
    _Act("queue_messages", "make a System V message queue"),
    _Act("queue_posix_messages", "make a POSIX message queue"), _Act("become_root", "become root"),
    _Act("mount", "mount a file system"), _Act("unshare_user", "make a user namespace"),
    _Act("unshare_network", "make a network namespace"), _Act("change_root", "change its root"),
    _Act("load_bpf", "use bpf"), _Act("watch_performance", "use performance counters"),
    _Act("set_up_ring", "use io_uring"), _Act("use_keyring", "use the kernel's keyring"),
    _Act("store_in_keyring", "store a message in the kernel's keyring"),
    _Act("handle_page_faults", "handle page faults"), _Act("arm_signal", "arm a signal by fcntl"),
    _Act("push_terminal", "type into the terminal"), _Act("raise_limits", "change its limits"),
    _Act("stay_alive", "outlive its parent"), _Act("raise_priority", "change its priority"),
    _Act("wake_neighbour", "signal to another slot through a page of a library"),
    _Act("read_machine", "read how much memory and how many threads the machine has in use"),
    _Act("ask_of_others", "ask whether another process is there"),
    _Act("order_page_cache", "throw pages out of the machine's cache"),
    _Act("open_namespaces", "open its own namespaces", _FIRST),
    _Act("take_memory", "take more memory than the limit"), _Act("never_end", "never end", _ALL),
    _Act("sleep_long", "sleep beyond the limit", _ALL),
    _Act("return_too_much", "return more than the limit", _ALL),
    _Act("crash", "take the grader down with a crash", _ALL),
)  # fmt: skip
_MEANING = {
    "T1": "all layers; for marks",
    "T2": "Landlock, seccomp and limits without namespaces; for marks",
    "T3": "deadlines and limits only; for practice with one's own code",
}
# written while the file is loaded: the grader has not asked for anything yet
_FORGER = "import os\nos.write(3, {frame!r})\n"


@dataclass(frozen=True, slots=True)
class ActReport:
    """The result of attempting one forbidden act.

    Parameters
    ----------
    id, title : str
    stopped : bool
        Whether the act failed.
    promised : bool
        Whether the tier promises that it fails.
    what : str
        What happened: a sentence of ours, or the error that the act met (foreign text, cleaned).
    """

    id: str
    title: str
    stopped: bool
    promised: bool
    what: str


@dataclass(frozen=True, slots=True)
class TierReport:
    """Whether a tier can be had, and what is missing for it."""

    tier: str
    available: bool
    missing: tuple[MissingLayer, ...]


@dataclass(frozen=True, slots=True)
class DoctorReport:
    """Everything that `grade doctor` says.

    Parameters
    ----------
    tier : str
        The tier that was examined.
    system, kernel, python : str
    user_mode : str
        How the child's user differs from the grader's.
    landlock_abi : int
        0 without Landlock.
    bwrap, libseccomp : str or None
        Version (and path); None where missing.
    start_s, torch_start_s : float
        Time until the sandbox was ready for a file that imports no torch, and then for one that does.
    submission_ms, torch_submission_ms : float
        Median time of an empty submission.
    tiers : tuple of TierReport
    acts : tuple of ActReport
    cuda : str
        The GPU's name and the tier that ``--device cuda`` gives, or why there is none.
    """

    tier: str
    system: str
    kernel: str
    python: str
    user_mode: str
    landlock_abi: int
    bwrap: str | None
    libseccomp: str | None
    start_s: float
    torch_start_s: float
    submission_ms: float
    torch_submission_ms: float
    tiers: tuple[TierReport, ...]
    acts: tuple[ActReport, ...]
    cuda: str

    @property
    def broken(self) -> tuple[ActReport, ...]:
        """Acts that succeeded although the tier promises to stop them."""
        return tuple(act for act in self.acts if act.promised and not act.stopped)

    @property
    def healthy(self) -> bool:
        """Whether the tier keeps all its promises."""
        return not self.broken

    def as_json(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        return {**asdict(self), "healthy": self.healthy}

    def lines(self) -> list[str]:
        """Return the report as plain lines."""
        return [*self._summary(), "", *self._tier_lines(), "", *map(_line, self.acts), "", self._verdict()]

    def _summary(self) -> list[str]:
        return [
            f"tier         {self.tier}",
            f"system       {self.system} {self.kernel}, Python {self.python}",
            f"user         {self.user_mode}",
            f"Landlock     {f'ABI {self.landlock_abi}' if self.landlock_abi else 'missing'}",
            f"bubblewrap   {self.bwrap or 'missing'}",
            f"libseccomp   {self.libseccomp or 'missing'}",
            f"device cuda  {self.cuda}",
            f"speed        ready after {self.start_s:.1f} s, {self.submission_ms:.0f} ms an empty submission",
            f"with torch   {self.torch_start_s:.1f} s more, {self.torch_submission_ms:.0f} ms",
        ]

    def _tier_lines(self) -> list[str]:
        lines = []
        for tier in self.tiers:
            state = "available" if tier.available else "not available"
            lines.append(f"{tier.tier}  {state}: {_MEANING[tier.tier]}")
            for missing in tier.missing:
                lines += [f"      {missing.layer}: {missing.reason}", f"      next: {missing.how}"]
        return lines

    def _verdict(self) -> str:
        promised = sum(act.promised for act in self.acts)
        if self.healthy:
            return f"{self.tier} keeps its promises: all {promised} acts that it must stop were stopped."
        names = ", ".join(act.id for act in self.broken)
        return f"{self.tier} is broken here: it must stop {names}. Don't grade hostile code on this machine."


def _line(act: ActReport) -> str:
    mark = "stopped " if act.stopped else "BROKEN  " if act.promised else "possible"
    return f"{mark}  {act.title}: {' '.join(act.what.split())}"


def examine(tier: str | None = None) -> DoctorReport:
    """Try every forbidden act in a sandbox.

    Parameters
    ----------
    tier : {"T1", "T2", "T3"}, optional
        Which tier to examine; otherwise the strongest that the machine can give.

    Returns
    -------
    DoctorReport

    Raises
    ------
    SandboxError
        If the demanded tier can't be had.
    """
    with open_runner(SandboxOptions(tier, unsafe_local=True)) as runner:
        start_s, submission_ms = _seconds(runner, ""), _median_ms(runner, "")
        torch_start_s, torch_ms = _seconds(runner, _WITH_TORCH), _median_ms(runner, _WITH_TORCH)
        with _world() as world:
            acts = _try_acts(runner, world)
            if runner.tier != "T3":  # there the two kinds are one
                acts = _worse(acts, _try_acts(runner, world, _WITH_TORCH))
        if runner.tier != "T3":
            acts += (_try_forging(runner),)
    path = bwrap_path() if sys.platform == "linux" else None
    return DoctorReport(
        tier=runner.tier,
        system=platform.system(),
        kernel=platform.release(),
        python=platform.python_version(),
        user_mode=_user_mode(runner.tier),
        landlock_abi=landlock_abi(),
        bwrap=f"{bwrap_version(path)} ({path})" if path else None,
        libseccomp=libseccomp_version() if sys.platform == "linux" else None,
        start_s=start_s,
        torch_start_s=torch_start_s,
        submission_ms=submission_ms,
        torch_submission_ms=torch_ms,
        tiers=tuple(TierReport(t, not missing_layers(t), missing_layers(t)) for t in TIERS),
        acts=acts,
        cuda=_look_for_cuda(),
    )


def _look_for_cuda() -> str:
    """Start one worker on a GPU, the way ``--device cuda`` does."""
    base = choose_device_base(None)
    pool = WorkerPool("cuda", base=base, slots=1)
    try:
        return f"available: {pool.check()}, at {pool.tier}, for practice and trusted code"
    except NoDeviceError as error:
        return f"not available: {error.what}"
    except SandboxError as error:
        return f"not usable: {error.what} ({error.got})"
    finally:
        pool.close()


def _seconds(runner: Runner, source: str) -> float:
    begun = time.perf_counter()
    runner.run(Job(source, "empty.py", ()))
    return time.perf_counter() - begun


def _median_ms(runner: Runner, source: str) -> float:
    # T3 starts an interpreter for each, which takes seconds
    times = sorted(_seconds(runner, source) for _ in range(1 if runner.tier == "T3" else 7))
    return 1000 * times[len(times) // 2]


def _user_mode(tier: str) -> str:
    if tier == "T3":
        return "the grader's own user, all its rights"
    if is_root():
        return "root: each slot has a user of its own without capabilities"
    return "user namespace without capabilities" if tier == "T1" else "the grader's own user"


@contextlib.contextmanager
def _world() -> Iterator[dict[str, Any]]:
    """Set up what the acts try to reach; its permissions let anybody in, so only a layer can stop them."""
    root = Path(__file__).parents[2]
    with tempfile.TemporaryDirectory() as name, socket.socket() as tcp, contextlib.ExitStack() as stack:
        folder = Path(name)
        folder.chmod(0o755)
        key_file = folder / "key.txt"
        key_file.write_text("the key", encoding="utf-8")
        key_file.chmod(0o644)
        open_folder = folder / "open"
        open_folder.mkdir()
        open_folder.chmod(0o777)
        tcp.bind(("127.0.0.1", 0))
        tcp.listen()
        token = f"softmark-doctor-{secrets.token_hex(8)}"
        stack.callback(_tidy, token)
        if sys.platform == "linux":
            unix = stack.enter_context(socket.socket(socket.AF_UNIX))
            unix.bind("\0" + token)
            unix.listen()
        yield {
            "abstract": token,
            "folder": str(folder),
            "grader": os.getpid(),
            "inside_file": str(Path(__file__).parent / "child" / "wire.py"),
            "key_file": str(key_file),
            "folders": [str(open_folder), *_SHARED_FOLDERS],
            "name": token,
            "port": tcp.getsockname()[1],
            "problem_file": str(next((root / "problems").rglob("*.yaml"), __file__)),
            "root": str(root),
            "too_much_memory": _TOO_MUCH_MEMORY,
            "too_much_output": _TOO_MUCH_OUTPUT,
        }


def _tidy(token: str) -> None:
    """Remove what acts may have left where nothing holds them back."""
    for folder in map(Path, _SHARED_FOLDERS):
        for path in (folder / token, folder / f"{token}-2"):
            with contextlib.suppress(OSError):
                path.rmdir() if path.is_dir() else path.unlink()


def _try_acts(runner: Runner, world: dict[str, Any], more: str = "") -> tuple[ActReport, ...]:
    """Hand the acts in, a few at a time, with `more` at the end of the file."""
    source = _ATTEMPTS.read_text(encoding="utf-8") + more
    reports = []
    for begin in range(0, len(_ACTS), _ACTS_A_JOB):
        acts = _ACTS[begin : begin + _ACTS_A_JOB]
        calls = tuple(Call(act.function, (world,)) for act in acts)
        result = runner.run(Job(source, _ATTEMPTS.name, calls, _LIMITS))
        outcomes = result.outcomes
        if result.load.status is not CallStatus.RETURNED:
            outcomes = tuple(result.load for _ in acts)
        reports += [_report(act, outcome, runner.tier) for act, outcome in zip(acts, outcomes, strict=True)]
    return tuple(reports)


def _worse(acts: tuple[ActReport, ...], others: tuple[ActReport, ...]) -> tuple[ActReport, ...]:
    """Return of two reports on each act the one on an act that wasn't stopped."""
    return tuple(act if other.stopped else other for act, other in zip(acts, others, strict=True))


def _report(act: _Act, outcome: CallOutcome, tier: str) -> ActReport:
    stopped = outcome.status is not CallStatus.RETURNED
    if outcome.exception is not None:
        what = f"{outcome.exception.type}: {outcome.exception.text}"
    elif stopped:
        what = outcome.detail or str(outcome.status)
    else:
        what = outcome.value if isinstance(outcome.value, str) else "it succeeded"
    return ActReport(act.function, act.title, stopped, tier in act.promised, what)


def _try_forging(runner: Runner) -> ActReport:
    """Send a reply before the grader has asked."""
    from engine.sandbox.child.wire import FrameKind, pack

    forged = pack(FrameKind.RESULT, {"index": 0, "status": "returned", "value": 1.0, "seconds": 0.0})
    job = Job(_FORGER.format(frame=forged) + "def f(): return 0.0\n", "forger.py", (Call("f"),), _LIMITS)
    outcome = runner.run(job).outcomes[0]
    stopped = outcome.status is CallStatus.PROTOCOL_VIOLATION
    what = outcome.detail if stopped else "the forged reply was taken"
    return ActReport("forge_reply", "answer before being asked", stopped, True, what)
