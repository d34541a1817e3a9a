"""How long commands take as whole processes, beside ``import torch`` and ``import numpy``.

    python benchmarks/startup.py            # 15 rounds, about five minutes
    python benchmarks/startup.py --quick    # one round, to see that it works

Each round runs every row once, one after the other, so that all see the same machine. *First* is a command
whose cache of the bank is empty, *again* the same command once more; *new seed* finds the bank in the cache,
but not the variant. Ratios are medians of what a row took over what ``import torch`` took in the same round.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXERCISE = ROOT / "problems" / "code" / "softmax"
TORCH = "import torch"
ANSWER = ["submit", "softmax-weights", "--seed", "7", "--answer", "[0.1, 0.2, 0.7]"]

# row -> (arguments of Python or of `grade`, largest ratio that we aim at)
ROWS: dict[str, tuple[list[str], float | None]] = {
    TORCH: (["-c", "import torch"], None),
    "import numpy": (["-c", "import numpy"], None),
    "grade --help": (["--help"], None),
    "grade list, first": (["list"], None),
    "grade list, again": (["list"], 0.15),
    "grade show ITEM, first": (["show", "softmax-weights", "--seed", "7"], None),
    "grade show ITEM, again": (["show", "softmax-weights", "--seed", "7"], 0.25),
    "grade show ITEM, new seed": (["show", "softmax-weights", "--seed", "{round}"], 0.25),
    "grade show EXERCISE, first": (["show", "softmax"], None),
    "grade show EXERCISE, again": (["show", "softmax"], 0.25),
    "grade submit --answer, first": (ANSWER, None),
    "grade submit --answer, again": (ANSWER, 0.25),
    "grade submit numpy file": (["submit", "softmax", str(EXERCISE / "solution_numpy.py")], 0.5),
    "grade submit torch file": (["submit", "softmax", str(EXERCISE / "solution_torch.py")], 1.5),
}


def timed(arguments: list[str], home: Path) -> tuple[float, float]:
    """Return the seconds that a process took, and those of processor time with its children."""
    command = [sys.executable, *([] if arguments[0] == "-c" else ["-m", "cli"]), *arguments]
    environment = os.environ | {"SOFTMARK_HOME": str(home), "PYTHONPATH": str(ROOT)}
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    seconds, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1):  # 1: the answer is wrong
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one round, to see that it works")
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    rounds = 1 if options.quick else options.rounds
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    print(f"{rounds} rounds, {cores} cores, load {os.getloadavg()[0]:.1f} at the start")
    times: dict[str, list[tuple[float, float]]] = {row: [] for row in ROWS}
    for number in range(rounds):
        with tempfile.TemporaryDirectory() as name:
            for index, (row, (arguments, _)) in enumerate(ROWS.items()):
                # Every "first" has a home of its own; what follows it has the same one.
                if row.endswith("first") or not index:
                    home = Path(name, str(index))
                filled = [argument.format(round=1000 + number) for argument in arguments]
                times[row].append(timed(filled, home))
    print(f"\n{'':28} {'seconds':>8} {'× torch':>8} {'processor':>10} {'× torch':>8} {'aim':>6}")
    for name, (_, aim) in ROWS.items():
        pairs = list(zip(times[name], times[TORCH], strict=True))
        medians = [statistics.median(row[kind] for row, _ in pairs) for kind in (0, 1)]
        ratios = [statistics.median(row[kind] / torch[kind] for row, torch in pairs) for kind in (0, 1)]
        aimed = "" if aim is None else f"≤ {aim}"
        print(f"{name:28} {medians[0]:8.2f} {ratios[0]:8.2f} {medians[1]:10.2f} {ratios[1]:8.2f} {aimed:>6}")
    print(f"\nload {os.getloadavg()[0]:.1f} at the end")


if __name__ == "__main__":
    main()
