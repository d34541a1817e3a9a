"""Does any right implementation ever fail?  Grades the frozen right files on many plan seeds.

    python benchmarks/right_code.py [--seeds 10000] [--first 0] [--quick] [ITEM ...]

Every file of ``tests/unit/code/right`` is graded on every seed, in this process's workers; a plan is built
once per exercise and seed.  Exit code 1 and the seed if one fails.  ``make sweep`` runs 10,000 seeds.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from engine.model import CodeSubmission, Mode, Outcome

RIGHT = Path(__file__).resolve().parent.parent / "tests" / "unit" / "code" / "right"
_CHUNK = 50


def failures(item: str, first: int, count: int) -> list[str]:
    """Return a line for each right file and seed that didn't get full marks."""
    from engine.code import exercise_of, freeze_plan
    from engine.code.explain.in_process import TrustedRunner
    from engine.grading import grade_code
    from engine.items import builtin_bank

    bank = builtin_bank()
    exercise = exercise_of(bank, item)
    files = [
        CodeSubmission(text, path.name, hashlib.sha256(text.encode()).hexdigest())
        for path in sorted((RIGHT / item).glob("*.py"))
        for text in [path.read_text(encoding="utf-8")]
    ]
    found = []
    with TrustedRunner() as runner:
        for seed in range(first, first + count):
            plan = freeze_plan(exercise, f"sweep {seed}".encode())
            for file in files:
                report = grade_code(
                    exercise, plan, file, runner, mode=Mode.PRACTICE, student=None, explain=False
                )
                if report.outcome is not Outcome.RIGHT:
                    failed = [f"{c.id}: {c.message}" for c in report.checks if c.verdict.value != "passed"]
                    found.append(f"{item}/{file.filename}, seed {seed}: {'; '.join(failed or report.notes)}")
    return found


def main() -> int:
    """Run the sweep and print a line per exercise."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("items", nargs="*", help="code exercises; all that have right files if none")
    parser.add_argument("--seeds", type=int, default=10_000, help="how many seeds")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument(
        "--quick", action="store_true", help="two exercises on one seed, to see that it works"
    )
    options = parser.parse_args()
    if options.quick:
        options.items, options.seeds = options.items or ["causal-mask", "softmax"], 1
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    items = options.items or sorted(path.name for path in RIGHT.iterdir() if path.is_dir())
    wrong: list[str] = []
    with ProcessPoolExecutor() as pool:
        for item in items:
            begun, starts = time.perf_counter(), range(options.first, options.first + options.seeds, _CHUNK)
            counts = [min(_CHUNK, options.first + options.seeds - start) for start in starts]
            found = [
                line for lines in pool.map(failures, [item] * len(counts), starts, counts) for line in lines
            ]
            wrong += found
            files = len(list((RIGHT / item).glob("*.py")))
            seconds = time.perf_counter() - begun
            print(
                f"{item}: {files} files x {options.seeds} seeds, {len(found)} failures, {seconds:.0f} s",
                flush=True,
            )
            for line in found[:5]:
                print(f"  {line}", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
