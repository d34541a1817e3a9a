"""Runs attacks against the sandbox and against the naive grader, and reports what happened.

A process of its own, because it has to be root in some runs and an ordinary user in others.  Takes
one JSON request a line on standard input, answers with one JSON report a line.
"""

from __future__ import annotations

import json
import math
import os
import re
import select
import struct
import subprocess
import sys
import sysconfig
import time
from pathlib import Path
from typing import IO, Any

import arena_world
from arena_attack import Attack, read_attack
from arena_world import World, descendants, kill_all, left_running

from engine.errors import SoftmarkError
from engine.runner import Call, CallOutcome, CallStatus, Job, Limits, Runner, RunResult, WireArray
from engine.sandbox import SandboxOptions, open_runner
from engine.sandbox.child.layers import Layers

OUTPUT_BYTES = 2**20
_SLACK_S = 20.0  # a busy machine is no fault of the sandbox
_LONG_S = 30.0
_FLOOD_BYTES = 4 * 2**20
_GROWTH_MIB = 24
_PATIENCE_S = 0.3
_SIZES = {
    "bool": 1,
    "float16": 2,
    "bfloat16": 2,
    "float32": 4,
    "float64": 8,
    "complex64": 8,
    "complex128": 16,
}


def _without(names: list[str]) -> Layers:
    return Layers(**dict.fromkeys(names, False))


GOOD = """
import numpy as np


def softmax(x, axis=-1):
    powers = np.exp(x - x.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


def fresh(x, axis=-1):
    return [np.geterr()["under"], str(np.float64(0.5))]
"""
_GOOD_TORCH = """
import torch


def softmax(x, axis=-1):
    powers = torch.exp(x - x.max(dim=axis, keepdim=True).values)
    return powers / powers.sum(dim=axis, keepdim=True)


def fresh(x, axis=-1):
    return [str(torch.get_default_dtype()), float(torch.zeros(1) + 1)]
"""
_ROWS = ((1.0, 2.0, 3.0), (-1.0, 0.0, 4.0))
# by what it imports: the file, dtype of its argument and the letter for it, how near values must be, what is
# fresh
_GOOD_FILES = {
    "numpy": (GOOD, "float64", "d", 1e-12, ["ignore", "0.5"]),
    "torch": (_GOOD_TORCH, "float32", "f", 1e-6, ["torch.float32", 1.0]),
    # the process for this one has torch's compiler too
    "torch.optim": (f"import torch.optim\n{_GOOD_TORCH}", "float32", "f", 1e-6, ["torch.float32", 1.0]),
}


def _leaf(library: str, dtype: str = "float64") -> WireArray:
    data = [n for row in _ROWS for n in row]
    return WireArray(
        library, dtype, (2, 3), struct.pack("<6" + {"float64": "d", "float32": "f"}[dtype], *data)
    )


def _good_job(kind: str) -> Job:
    source, dtype, *_ = _GOOD_FILES[kind]
    library = kind.partition(".")[0]
    calls = (Call("softmax", (_leaf(library, dtype),)), Call("fresh", (_leaf(library, dtype),)))
    return Job(source, "good.py", calls, Limits(wall_s=20, call_s=10), ("softmax", "fresh"))


def _expected() -> list[float]:
    rows = ([math.exp(n - max(row)) for n in row] for row in _ROWS)
    return [n / math.fsum(row) for row in rows for n in row]


def good_fault(runner: Runner) -> str | None:
    """Run a right submission of each kind; return what is wrong with a result."""
    faults = (_good_fault(runner, kind) for kind in _GOOD_FILES)
    return next((fault for fault in faults if fault), None)


def _good_fault(runner: Runner, kind: str) -> str | None:
    _, dtype, code, digits, fresh = _GOOD_FILES[kind]
    library = kind.partition(".")[0]
    try:
        result = runner.run(_good_job(kind))
    except SoftmarkError as error:
        return f"run raised {type(error).__name__}: {error}"
    statuses = [outcome.status for outcome in result.outcomes]
    if statuses != [CallStatus.RETURNED] * 2 or result.library != library:
        return f"statuses {statuses}, load {result.load}, beside {result.library}"
    leaf = result.outcomes[0].value
    if not isinstance(leaf, WireArray) or (leaf.library, leaf.dtype, leaf.shape) != (library, dtype, (2, 3)):
        return f"value {leaf!r}"
    values = struct.unpack("<6" + code, leaf.data)
    if any(abs(a - b) > digits for a, b in zip(values, _expected(), strict=True)):
        return f"wrong values {values}"
    if result.outcomes[1].value != fresh:
        return f"state left behind: {result.outcomes[1].value}"
    return None


def _check_value(value: Any, faults: list[str], depth: int = 0) -> None:
    """Note everything in a value that the contract doesn't allow."""
    if depth > 64:
        faults.append("too deep")
    elif isinstance(value, WireArray):
        size = math.prod(value.shape) * _SIZES.get(
            value.dtype, 0 if "int" not in value.dtype else int(value.dtype.strip("uint")) // 8
        )
        if type(value.data) is not bytes or len(value.data) != size:
            faults.append(f"{len(value.data)} bytes for {value.dtype} {value.shape}")
        if any(type(n) is not int or n < 0 for n in value.shape):
            faults.append(f"shape {value.shape}")
    elif type(value) in (list, tuple):
        for item in value:
            _check_value(item, faults, depth + 1)
    elif type(value) is dict:
        for key, item in value.items():
            if type(key) is not str:
                faults.append(f"key {type(key).__name__}")
            else:
                _check_text(key, faults)
            _check_value(item, faults, depth + 1)
    elif type(value) is str:
        _check_text(value, faults)
    elif type(value) is int and value.bit_length() > 4096:
        faults.append("an integer too long to print")
    elif value is not None and type(value) not in (bool, int, float):
        faults.append(f"a {type(value).__name__}")


def _check_text(text: str, faults: list[str]) -> None:
    if any(0xD800 <= ord(c) < 0xE000 for c in text):
        faults.append("a text that can't be encoded")


def malformed(result: RunResult, calls: int, tier: str) -> list[str]:
    """Return everything in a result that breaks the runner's contract."""
    faults: list[str] = []
    if len(result.outcomes) != calls:
        faults.append(f"{len(result.outcomes)} outcomes for {calls} calls")
    if result.tier != tier:
        faults.append(f"tier {result.tier}")
    if not set(result.missing) <= {"softmax"}:
        faults.append(f"missing {result.missing!r:.100}")
    for outcome in (result.load, *result.outcomes):
        if not isinstance(outcome.status, CallStatus):
            faults.append(f"status {outcome.status!r}")
        if not 0 <= outcome.seconds < 3600:
            faults.append(f"seconds {outcome.seconds}")
        if outcome.status is not CallStatus.RETURNED and outcome.value is not None:
            faults.append(f"a value beside {outcome.status}")
        if outcome.status is CallStatus.RAISED and outcome.exception is None:
            faults.append("raised without an exception")
        if outcome.exception is not None:
            text, name, line = outcome.exception.text, outcome.exception.type, outcome.exception.line
            if len(text) > 2000 or len(name) > 200 or not (line is None or type(line) is int):
                faults.append(f"exception {name[:50]!r} with {len(text)} characters, line {line}")
            if any(
                (ord(c) < 32 and c not in "\n\t") or 0xD800 <= ord(c) < 0xE000 or c == "\x7f"
                for c in text + name
            ):
                faults.append("control characters in an exception")
        _check_value(outcome.value, faults)
        _check_value(outcome.arguments, faults)
        if outcome.detail and not re.fullmatch(r"[A-Z][\w ,;.'()-]+[.]", outcome.detail):
            faults.append(f"a sentence that isn't ours: {outcome.detail!r:.100}")
        if outcome.arguments is not None and len(outcome.arguments) != 1:
            faults.append(f"{len(outcome.arguments)} arguments for one")
    return faults


def _numbers(outcome: CallOutcome) -> bytes:
    value = outcome.value
    if isinstance(value, WireArray):
        return value.data
    if isinstance(value, (list, tuple)):
        return b"".join(_numbers(CallOutcome(outcome.status, v)) for v in value)
    return repr(value).encode()


def _first_number(outcome: CallOutcome) -> float | None:
    leaf = outcome.value
    if isinstance(leaf, WireArray) and leaf.dtype == "float64" and len(leaf.data) == 8:
        return float(struct.unpack("<d", leaf.data)[0])
    return None


def _exact(outcome: CallOutcome, wanted: tuple[str, ...]) -> bool:
    if outcome.status is not CallStatus.RETURNED:
        return True
    numbers = [complex(text) for text in wanted]
    flat = [
        part
        for number in numbers
        for part in ((number.real, number.imag) if "j" in wanted[0] else (number.real,))
    ]
    return isinstance(outcome.value, WireArray) and outcome.value.data == struct.pack(f"<{len(flat)}d", *flat)


def _memory_mib(name: str) -> float:
    with open("/proc/self/status", errors="replace") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(name)) / 1024


def _forget_peak() -> float:
    """Reset the peak of our memory; return what we use now, in MiB."""
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    return _memory_mib("VmRSS")


class Arena:
    """Runners, naive grader and world of one user."""

    def __init__(self) -> None:
        arena_world.become_subreaper()
        self.world = World()
        self.world.prepare()
        self.project = Path(os.environ["ARENA_PROJECT"])
        self.site = Path(sysconfig.get_path("purelib"))
        self._runners: dict[str, Runner] = {}
        self._naive: subprocess.Popen[str] | None = None
        self._long_s, self._slack_s = _LONG_S, _SLACK_S

    # -- requests ---------------------------------------------------------------------------

    def do_open(self, name: str, tier: str, off: list[str]) -> dict[str, Any]:
        """Open a runner and see that it works."""
        runner = open_runner(SandboxOptions(tier=tier), layers=_without(off))
        self._runners[name] = runner
        fault = good_fault(runner)
        return {"tier": runner.tier, "good": fault}

    def do_close(self, name: str) -> dict[str, Any]:
        """Close a runner; say what it leaves running."""
        runner = self._runners.pop(name)
        keep = {pid: line for pid, line in descendants().items() if "child.zygote" not in line}
        begun = time.monotonic()
        runner.close()
        runner.close()
        left = left_running(keep) if not self._runners else []
        kill_all(left)
        return {"left": left, "seconds": time.monotonic() - begun}

    def do_attack(
        self,
        runner: str,
        path: str,
        long_s: float = _LONG_S,
        slack_s: float = _SLACK_S,
        more: str = "",
    ) -> dict[str, Any]:
        """Run one attack against a runner, with `more` at its end, then good submissions."""
        self._long_s, self._slack_s = long_s, slack_s
        attack = read_attack(Path(path))
        opened = self._runners[runner]
        self.world.prepare()
        before, resident = descendants(), _forget_peak()
        begun = time.monotonic()
        results, raised = self._run(opened, attack, more)
        seconds = time.monotonic() - begun
        grown = _memory_mib("VmHWM") - resident
        report: dict[str, Any] = {"raised": raised, "seconds": seconds, "grown_mib": grown}
        report |= self._judge_sandbox(attack, results, report, opened.tier)
        report["libraries"] = sorted({result.library for result in results})
        report["good"] = good_fault(opened)
        report["left"] = self._left(before)
        report["files"] = self.world.new_files() + self.world.sysv_left()
        proofs = {"survivor": report["left"], "file": report["files"]}
        proofs["engine"] = report["raised"] or report["good"]
        report["succeeded"] = bool(report["succeeded"] or proofs.get(attack.proof))
        return report

    def do_layer(self, tier: str, layer: str, paths: list[str]) -> dict[str, Any]:
        """Open a runner without one layer; say which attacks succeed there."""
        opened = self.do_open(f"{tier} without {layer}", tier, [layer])
        reports = {}
        for path in paths:
            reports[path] = self.do_attack(f"{tier} without {layer}", path, long_s=2.5, slack_s=1.0)
        closed = self.do_close(f"{tier} without {layer}")
        return {
            "opened": opened,
            "closed": closed,
            "succeeded": {p: bool(r["succeeded"]) for p, r in reports.items()},
            "reports": reports,
        }

    def do_naive(self, path: str) -> dict[str, Any]:
        """Run one attack against the naive grader."""
        attack = read_attack(Path(path))
        self.world.prepare()
        self._naive_process()
        before = descendants()
        reports = [self._ask_naive(attack, functions) for functions in _rounds(attack)]
        report: dict[str, Any] = {"reports": reports, "raised": None}
        last = reports[-1]
        heard = self.world.heard()
        # what is still there a moment after the answer is a survivor, the child itself included
        left = [pid for pid in descendants() if pid not in before]
        files = self.world.new_files()
        answers = b"".join(bytes.fromhex(r["bytes"]) for r in reports)
        proofs = {
            "value": last["last"] == 1.0,
            "next": last["last"] == 1.0,
            "loot": self.world.holds_secret(answers),
            "file": bool(files),
            "listener": heard,
            "canary": attack.proof == "canary" and self.world.canary_died(),
            "engine": attack.proof == "engine" and self.world.canary_died(),
            "survivor": bool(left),
            "victim": self.world.victim_changed(),
            "dies": not last["answered"] and last["ended"],
            "replaced": not last["answered"] and last["ended"],
            "time": not last["answered"] and not last["ended"],
            "flood": last["flood"],
            "naive-encode": last["encoding_failed"],
        }
        kill_all(left)
        self.world.sysv_left()
        unknown = any(r["number"] == 2.0 or r["last"] == 2.0 for r in reports)
        return report | {"succeeded": bool(proofs.get(attack.proof)), "unknown": unknown}

    def do_world(self) -> dict[str, Any]:
        """Say what this machine has."""
        return {"ipv6": self.world.has_ipv6, "uid": os.getuid()}

    def do_doctor(self, tier: str, off: list[str]) -> dict[str, Any]:
        """Let the doctor examine a tier."""
        import arena_doctor

        return arena_doctor.examine(tier, _without(off))

    # -- parts ------------------------------------------------------------------------------

    def _run(self, runner: Runner, attack: Attack, more: str) -> tuple[list[RunResult], str | None]:
        target = self._target(naive=False)
        source = attack.source(target)
        library = "torch" if "import torch" in source else "numpy"
        leaf = WireArray(library, "float64", (3,), struct.pack("<3d", 1.0, 2.0, 3.0))
        limits = Limits(attack.wall_s, attack.wall_s, attack.memory_mib, OUTPUT_BYTES)
        calls = (Call("softmax", (leaf,), return_arguments=True),) * attack.calls
        jobs = [Job(source + more, "attack.py", calls, limits, ("softmax",))]
        if attack.proof == "next":
            jobs.append(Job(source, "attack.py", (Call("collect", (leaf,)),), limits, ("collect",)))
        results: list[RunResult] = []
        for job in jobs:
            try:
                results.append(runner.run(job))
            except SoftmarkError as error:
                return results, f"{type(error).__name__}: {error}"
        return results, None

    def _target(self, *, naive: bool) -> dict[str, object]:
        target = self.world.target(naive=naive, project=self.project, site=self.site)
        return target | {"long_s": self._long_s}

    def _judge_sandbox(
        self, attack: Attack, results: list[RunResult], report: dict[str, Any], tier: str
    ) -> dict[str, Any]:
        if not results:
            return {
                "load": None,
                "statuses": [],
                "malformed": [],
                "succeeded": True,
                "detail": report["raised"],
            }
        first, last = results[0], results[-1]
        faults = malformed(first, attack.calls, tier)
        stolen = b"".join(_numbers(outcome) for outcome in first.outcomes) + first.output.encode(
            errors="replace"
        )
        stolen += "".join(o.exception.text for o in first.outcomes if o.exception).encode(errors="replace")
        number = _first_number(last.outcomes[-1]) if last.outcomes else None
        kept = sum(len(_numbers(outcome)) for outcome in first.outcomes) + len(first.output)
        proofs = {
            "value": number == 1.0,
            "next": len(results) == 2 and number == 1.0,
            "loot": self.world.holds_secret(stolen),
            "listener": self.world.heard(),
            "canary": attack.proof == "canary" and self.world.canary_died(),
            "victim": self.world.victim_changed(),
            "replaced": any(o.status is CallStatus.CRASHED for o in first.outcomes),
            "time": report["seconds"] > attack.wall_s + self._slack_s,
            "flood": kept > _FLOOD_BYTES or report["grown_mib"] > _GROWTH_MIB,
            "naive-encode": bool(faults),
            "malformed": bool(faults),
            "exact": not all(_exact(outcome, attack.value) for outcome in first.outcomes),
            "engine": number == 1.0,
            "ahead": any(o.status is CallStatus.RETURNED and o.value == 1.0 for o in first.outcomes),
        }
        return {
            "load": str(first.load.status),
            "statuses": [str(outcome.status) for outcome in first.outcomes],
            "missing": list(first.missing),
            "malformed": faults,
            "kept": kept,
            "detail": [repr(o.exception or o.detail or o.value)[:300] for o in (first.load, *last.outcomes)],
            "succeeded": bool(proofs.get(attack.proof)) or self.world.holds_secret(stolen),
        }

    def _left(self, before: dict[int, str]) -> list[int]:
        left = left_running(before)
        kill_all(left)
        return left

    def _naive_process(self) -> subprocess.Popen[str]:
        if self._naive is None or self._naive.poll() is not None:
            environment = os.environ | {
                "ARENA_EXPECTED": "KEY-IN-" + self.world.expected_secret,
                "ARENA_MEMORY": "KEY-IN-" + "MEMORY:" + self.world.expected_secret.split(":")[1],
            }
            self._naive = subprocess.Popen(
                [sys.executable, str(Path(__file__).with_name("arena_naive.py"))],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                errors="replace",  # an attack may name itself in bytes that are no text
                pass_fds=[self.world.secret_fd],
                env=environment,
                start_new_session=True,
                cwd=self.world.folder,
            )
        return self._naive

    def _ask_naive(self, attack: Attack, functions: list[str]) -> dict[str, Any]:
        naive = self._naive_process()
        target = self._target(naive=True)
        source = attack.source(target)
        request = {
            "source": source,
            "functions": functions,
            "calls": attack.calls,
            "torch": "import torch" in source,
            "unpickle": attack.control == "naive-pickle",
            "encode": attack.control == "naive-encode",
            "patience_s": attack.wall_s + _PATIENCE_S if attack.proof == "time" else 20.0,
        }
        assert naive.stdin is not None and naive.stdout is not None
        naive.stdin.write(json.dumps(request) + "\n")
        naive.stdin.flush()
        line = _read_line(naive.stdout, 40.0)
        if not line:
            naive.kill()
            naive.wait()
            self._naive = None
            raise RuntimeError(f"the naive grader itself was lost to {attack.name}")
        report: dict[str, Any] = json.loads(line)
        return report

    def close(self) -> None:
        """Give back everything."""
        for name in list(self._runners):
            self.do_close(name)
        if self._naive is not None:
            self._naive.kill()
            self._naive.wait()
        self.world.close()


def _rounds(attack: Attack) -> list[list[str]]:
    """Return which functions run in which naive child."""
    if attack.proof != "next":
        return [["softmax"]]
    return [["softmax", "collect"]] if attack.pair == "same" else [["softmax"], ["collect"]]


def _read_line(file: IO[str], timeout_s: float) -> str:
    ready, _, _ = select.select([file], [], [], timeout_s)
    return file.readline() if ready else ""


def main() -> None:
    """Serve until standard input closes."""
    requests = os.fdopen(os.dup(0), "r")
    reports = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    arena = Arena()
    try:
        for line in requests:
            request = json.loads(line)
            act = getattr(arena, "do_" + request.pop("do"))
            try:
                report = act(**request)
            except Exception as error:
                report = {"error": f"{type(error).__name__}: {error}"}
            reports.write(json.dumps(report) + "\n")
            reports.flush()
    finally:
        arena.close()


if __name__ == "__main__":
    main()
