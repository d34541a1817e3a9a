"""Grade a whole class from its download to pages and gradebook.

Usage: python benchmarks/class.py [--quick] [--students N] [--json FILE]

A class of 1,000 with 3 code exercises and one quiz of 10 items: right and wrong programs (each file of its
own), right and wrong answers, 4,000 files in one folder. ``grade batch`` runs as a process of its own, on all
cores, explanations and pages included. It reports submissions per second (a code file is one submission, and
so is each quiz file), the peak of the grader's own memory and how it grows, and the share of the database:
seconds that the threads spent in transactions, of all that they had.

The 2PL side by side with girth is ``benchmarks/irt.py``.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from classes.mixing import class_of, read_exercises

ROOT = Path(__file__).parents[1]
EXERCISES = ("softmax", "sdpa", "causal-mask")
QUIZ_ITEMS = 10
SAMPLE_S = 0.5


def grade(*arguments: object) -> None:
    """Run a command of ``grade`` that must not fail."""
    subprocess.run(
        [sys.executable, "-m", "cli", *map(str, arguments)], cwd=ROOT, check=True, capture_output=True
    )


def make_class(folder: Path, students: int) -> tuple[Path, Path]:
    """Make a course and what its class hands in; return both folders."""
    course, handed = folder / "course", folder / "handed-in"
    grade("init", course)
    names = [f"s{number:05}" for number in range(students)]
    rows = "".join(f"{name},Student {name}\n" for name in names)
    (course / "roster.csv").write_text(f"id,name\n{rows}", encoding="utf-8")
    plan = f"title: Bench\nsections:\n  - {{title: All, count: {QUIZ_ITEMS}}}\n"
    (course / "blueprints" / "bench.yaml").write_text(plan, encoding="utf-8")
    grade("quiz", "new", "bench", "--course", course)
    subprocess.run(
        [sys.executable, ROOT / "examples" / "answer_quizzes.py", course, "bench", handed],
        cwd=ROOT, check=True, capture_output=True,
    )  # fmt: skip
    exercises = [e for e in read_exercises(ROOT / "problems/code") if e.item in EXERCISES]
    for number, program in enumerate(class_of(students * len(EXERCISES), exercises)):
        place = handed / names[number // len(EXERCISES)] / f"{program.item}.py"
        place.write_text(program.source, encoding="utf-8")
    return course, handed


# --- the measured process ----------------------------------------------------------------


def resident_mib() -> float:
    """Return this process's resident memory in MiB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


@contextmanager
def counted_transactions(spent: list[float]) -> Iterator[None]:
    """Add the seconds of every transaction, its queue included, to `spent`."""
    from engine.store.database import Database

    def timed(method: Any) -> Any:
        @contextmanager
        def block(self: Any) -> Iterator[Any]:
            begin = time.perf_counter()
            with method(self) as connection:
                yield connection
            spent.append(time.perf_counter() - begin)

        return block

    kept = Database.read, Database.write
    Database.read, Database.write = timed(kept[0]), timed(kept[1])  # type: ignore[method-assign]
    try:
        yield
    finally:
        Database.read, Database.write = kept  # type: ignore[method-assign]


def measure(course: str, handed: str, out: str) -> None:
    """Grade in this process and print the figures as one line of JSON."""
    from engine.commands import run

    memory: list[float] = []
    done = threading.Event()

    def watch() -> None:
        while not done.wait(SAMPLE_S):
            memory.append(resident_mib())

    watcher = threading.Thread(target=watch)
    watcher.start()
    spent: list[float] = []
    with counted_transactions(spent):
        begin = time.perf_counter()
        # what the command prints isn't measured, and isn't this process's own output
        with Path(os.devnull).open("w") as nowhere:
            kept, sys.stdout = sys.stdout, nowhere
            code = run(["batch", handed, "--course", course, "--out", out])
            sys.stdout = kept
        seconds = time.perf_counter() - begin
    done.set()
    watcher.join()
    print(
        json.dumps(
            {"code": code, "seconds": seconds, "database_s": sum(spent), "transactions": len(spent),
             "memory": memory}
        )
    )  # fmt: skip


def figures_of(result: dict[str, Any], students: int) -> dict[str, Any]:
    """Return the figures of one run."""
    memory = result["memory"] or [0.0]
    submissions = students * (1 + len(EXERCISES))
    cores = os.cpu_count() or 1
    return {
        "students": students,
        "submissions": submissions,
        "seconds": result["seconds"],
        "per_s": submissions / result["seconds"],
        "peak_mib": max(memory),
        "mib_at": {f"{share} %": memory[(len(memory) - 1) * share // 100] for share in (10, 25, 50, 75, 100)},
        "database_percent": 100 * result["database_s"] / (result["seconds"] * cores),
        "transactions": result["transactions"],
        "exit_code": result["code"],
    }


def main() -> None:
    if sys.argv[1:2] == ["--measure"]:
        measure(*sys.argv[2:5])
        return
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="see that it works; no figures to quote")
    parser.add_argument("--students", type=int, help="size of the class (1,000, quick: 4)")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    options = parser.parse_args()
    students = options.students or (4 if options.quick else 1000)
    with tempfile.TemporaryDirectory() as folder:
        course, handed = make_class(Path(folder), students)
        said = subprocess.run(
            [sys.executable, __file__, "--measure", course, handed, Path(folder) / "out"],
            capture_output=True, text=True, check=True, cwd=ROOT,
            env=os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        )  # fmt: skip
    figures = figures_of(json.loads(said.stdout.splitlines()[-1]), students)
    print(
        "{students} students, {submissions} submissions: {seconds:.1f} s, {per_s:.1f}/s; "
        "the grader's peak memory {peak_mib:.0f} MiB; database {database_percent:.1f} % "
        "of the threads' time in {transactions} transactions".format(**figures)
    )
    print("memory: " + ", ".join(f"{at}: {mib:.0f} MiB" for at, mib in figures["mib_at"].items()))
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
