"""How long a student waits after a save: ``grade watch`` from the save to the printed report.

    python benchmarks/watch.py [--item softmax] [--rounds 20] [--tier T1] [--quick]

It starts the real command on a pipe, saves files as editors do (another file, renamed), and takes the time
from just before the rename until the last line of the report has arrived.  Three kinds of saves, each with
a text of its own so that nothing is graded twice:

right   the exercise's own solution: all checks run
new     a known mistake seen for the first time: checks, diagnosis, search for a counterexample
again   the same mistakes once more: what the file does is known, its counterexample is kept

The first report is counted separately: it waits for the sandbox.  Aim: the median of every kind under 100 ms.
Exit code 1 if it isn't reached.
"""

from __future__ import annotations

import argparse
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import IO

ROOT = Path(__file__).parents[1]
AIM_MS = 100.0
PAUSE_S = 0.2  # between two saves; nobody types faster


def main() -> int:
    arguments = parsed()
    folder = ROOT / "problems/code" / arguments.item
    right = (folder / "solution_numpy.py").read_text(encoding="utf-8")
    wrong = [path.read_text(encoding="utf-8") for path in sorted((folder / "mutants").glob("*.py"))]
    saves = [("right", right) for _ in range(arguments.rounds)]
    saves += [(kind, text) for kind in ("new", "again") for text in wrong[: arguments.rounds]]
    with tempfile.TemporaryDirectory() as scratch:
        first, times = measure(Path(scratch) / "mine.py", right, saves, arguments)
    print(f"{arguments.item} at {arguments.tier}: first report after {first:.1f} s, sandbox started")
    print(f"{'save':8}{'saves':>6}{'median':>10}{'p90':>10}{'max':>10}   ms")
    for kind, found in times.items():
        tenth = statistics.quantiles(found, n=10)[-1] if len(found) > 1 else found[0]
        print(f"{kind:8}{len(found):6}{statistics.median(found):10.1f}{tenth:10.1f}{max(found):10.1f}")
    return int(not arguments.quick and max(statistics.median(found) for found in times.values()) > AIM_MS)


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--item", default="softmax", help="code exercise of the built-in bank")
    parser.add_argument("--rounds", type=int, default=20, help="saves of each kind, at most")
    parser.add_argument("--tier", default="T1", choices=["T1", "T2", "T3"])
    parser.add_argument("--quick", action="store_true", help="one save of each kind, whatever time it takes")
    arguments = parser.parse_args()
    arguments.rounds = 1 if arguments.quick else arguments.rounds
    return arguments


def measure(
    path: Path, before: str, saves: list[tuple[str, str]], arguments: argparse.Namespace
) -> tuple[float, dict[str, list[float]]]:
    """Return the seconds to the first report and, by kind, the milliseconds of the saves."""
    path.write_text(before, encoding="utf-8")
    command = [sys.executable, str(ROOT / "cli.py"), "watch", arguments.item, str(path)]
    began = time.perf_counter()
    watch = subprocess.Popen(
        [*command, "--tier", arguments.tier], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert watch.stdout is not None
    times: dict[str, list[float]] = {}
    try:
        block(watch.stdout)
        first = time.perf_counter() - began
        time.sleep(1.0)  # the rehearsal
        for number, (kind, text) in enumerate(saves):
            time.sleep(PAUSE_S)
            beside = path.with_suffix(".part")
            beside.write_text(f"{text}\n# save {number}\n", encoding="utf-8")
            start = time.perf_counter()
            beside.replace(path)
            lines = block(watch.stdout)
            times.setdefault(kind, []).append((time.perf_counter() - start) * 1000)
            if (": right" in lines[0]) is not (kind == "right"):
                raise SystemExit(f"save {number} ({kind}) was graded as: {lines[0]}")
    finally:
        watch.send_signal(signal.SIGINT)
        watch.wait(60)
    return first, times


def block(stream: IO[str]) -> list[str]:
    """Read one report, which ends with a blank line."""
    lines = []
    while (line := stream.readline().rstrip("\n")) != "":
        lines.append(line)
    if not lines:
        raise SystemExit("grade watch ended")
    return lines


if __name__ == "__main__":
    sys.exit(main())
