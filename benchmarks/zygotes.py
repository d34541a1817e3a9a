"""What the two zygotes cost, measured in turn in one run: start, memory, and a submission that does nothing.

Processor time wherever the system tells it, because it depends least on what else the machine does.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from engine.runner import Job, SandboxOptions
from engine.sandbox.tiers import choose_tier
from engine.sandbox.zygote_runner import SandboxRunner

SOURCES = {"numpy": "import numpy as np\n", "torch": "import torch\n"}
NAMES = (
    "first result after, s",
    "start, processor s",
    "resident, MiB",
    "proportional, MiB",
    "address space, MiB",
    "page tables, KiB",
)
_TICK_MS = 1000 / os.sysconf("SC_CLK_TCK")


def processor_ms(pid: int, *, children: bool = False) -> float:
    """Return the processor time of a process, or of those of its children that it has waited for, in ms."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    first = 13 if children else 11
    return (int(fields[first]) + int(fields[first + 1])) * _TICK_MS


def kibibytes(file: str, *names: str) -> list[float]:
    """Return the values of a file of /proc that gives them in KiB."""
    lines = (line.partition(":") for line in Path(file).read_text().splitlines())
    values = {name: float(value.split()[0]) for name, _, value in lines if name in names}
    return [values[name] for name in names]


def zygote_of(pid: int) -> int:
    """Return the last of a chain of processes: bubblewrap, its own child, the zygote."""
    while children := Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        pid = int(children[0])
    return pid


@contextmanager
def opened(tier: str) -> Iterator[tuple[SandboxRunner, dict[str, int], dict[str, float]]]:
    """Open a runner with both zygotes; give their process numbers, and the seconds until each was ready."""
    with SandboxRunner(tier, 1) as runner:
        pids, waits = {}, {}
        for library, source in SOURCES.items():
            begun = time.perf_counter()
            runner.run(Job(source, "empty.py", ()))
            waits[library] = time.perf_counter() - begun
            pending = runner._slots[0][library]._pending
            assert pending is not None
            pids[library] = zygote_of(pending.result()._process.pid)
        yield runner, pids, waits


def submissions(runner: SandboxRunner, pids: dict[str, int], rounds: int) -> dict[str, dict[str, float]]:
    """Run empty submissions in turn; return ms a submission, by library, by who spends them."""
    wall: dict[str, list[float]] = {library: [] for library in SOURCES}
    spent = {library: dict.fromkeys(("zygote", "child", "grader"), 0.0) for library in SOURCES}
    for library, pid in pids.items():
        spent[library]["zygote"] -= processor_ms(pid)
        spent[library]["child"] -= processor_ms(pid, children=True)
    for _ in range(rounds):
        for library, source in SOURCES.items():
            begun, cpu = time.perf_counter(), time.process_time()
            runner.run(Job(source, "empty.py", ()))
            wall[library].append(1000 * (time.perf_counter() - begun))
            spent[library]["grader"] += 1000 * (time.process_time() - cpu)
    for library, pid in pids.items():
        spent[library]["zygote"] += processor_ms(pid)
        spent[library]["child"] += processor_ms(pid, children=True)
    return {
        library: {who: ms / rounds for who, ms in spent[library].items()}
        | {"wall": statistics.median(wall[library])}
        for library in SOURCES
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few rounds, to see that it works")
    parser.add_argument("--tier", choices=["T1", "T2"], help="otherwise the stronger one that is possible")
    options = parser.parse_args()
    rounds = 20 if options.quick else 500
    tier = options.tier or choose_tier(SandboxOptions())
    with opened(tier) as (runner, pids, waits):
        rows: dict[str, list[float]] = {}
        for library, pid in pids.items():
            size, tables = kibibytes(f"/proc/{pid}/status", "VmSize", "VmPTE")
            resident, share = kibibytes(f"/proc/{pid}/smaps_rollup", "Rss", "Pss")
            started = [waits[library], processor_ms(pid) / 1000]
            rows[library] = [*started, resident / 1024, share / 1024, size / 1024, tables]
        costs = submissions(runner, pids, rounds)
    print(f"{'':28}{'numpy alone':>14}{'with torch':>14}{'ratio':>9}")
    for place, name in enumerate(NAMES):
        light, heavy = (rows[library][place] for library in SOURCES)
        print(f"{name:28}{light:14.2f}{heavy:14.2f}{heavy / light:7.1f} ×")
    print(f"\nan empty submission at {tier}, {rounds} of each kind in turn, ms")
    for name in ("zygote", "child", "grader", "wall"):
        light, heavy = (costs[library][name] for library in SOURCES)
        print(f"  {name:26}{light:14.2f}{heavy:14.2f}{heavy / max(light, 1e-9):7.1f} ×")
    print(f"peak of the grader itself: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")


if __name__ == "__main__":
    main()
