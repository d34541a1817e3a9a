"""How long a student waits for feedback on code, over HTTP, on a server that is warm.

Usage: python benchmarks/web_code.py [--quick] [--hand-ins N] [--per-minute R] [--minutes M] [--json FILE]

`grade serve` runs as a process of its own on a course with a few exercises; programs are right and wrong in
turn, each file of its own. It measures, from the beginning of the upload to the page with the feedback:

1. *One after another*: nobody else is there.
2. *A class*: hand-ins come at random moments, R a minute, while ten students each load a page every second
   and one hands in an endless loop every 20 seconds. It also says how long those pages took.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from classes.mixing import class_of, read_exercises

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.live.code_visitor import CodeVisitor  # noqa: E402
from tests.live.site import LiveSite, new_course  # noqa: E402

EXERCISES = ("softmax", "sdpa", "causal-mask")
LOOP = "def softmax(x, axis=-1):\n    while True: pass\n"
LOOP_EVERY_S = 20.0
READERS = 10


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="see that it works; no figures to quote")
    parser.add_argument("--hand-ins", type=int, help="one after another (60, quick: 3)")
    parser.add_argument("--per-minute", type=int, default=30, help="hand-ins of the class (30)")
    parser.add_argument("--minutes", type=float, help="of the class (3, quick: 0.15)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here too")
    options = parser.parse_args()
    options.hand_ins = options.hand_ins or (3 if options.quick else 60)
    options.minutes = options.minutes or (0.15 if options.quick else 3.0)
    return options


def spread(seconds: Sequence[float]) -> dict[str, float]:
    """Return median, 95th percentile and maximum, in milliseconds."""
    in_order = sorted(seconds)
    return {
        "count": len(in_order),
        "median": round(1000 * statistics.median(in_order), 1),
        "p95": round(1000 * in_order[min(len(in_order) - 1, int(0.95 * len(in_order)))], 1),
        "max": round(1000 * in_order[-1], 1),
    }


def timed(visitor: CodeVisitor, item: str, source: str) -> float:
    """Hand in, wait for the feedback, and return how long that took."""
    begun = time.perf_counter()
    visitor.feedback(item, visitor.hand_in(item, source))
    return time.perf_counter() - begun


def one_after_another(visitors: Sequence[CodeVisitor], programs: Sequence[Any]) -> dict[str, float]:
    return spread(
        [
            timed(visitors[number % len(visitors)], program.item, program.source)
            for number, program in enumerate(programs)
        ]
    )


class ClassAtWork:
    """Students who hand in, read, and one who hands in endless loops."""

    def __init__(self, visitors: Sequence[CodeVisitor], programs: Sequence[Any], rate: float) -> None:
        self.feedback_s: list[float] = []
        self.pages_s: list[float] = []
        self.faults: list[BaseException] = []
        self._visitors = visitors
        self._programs = programs
        self._rate = rate
        self._end = threading.Event()

    def run(self) -> None:
        rng = random.Random(1)
        helpers = [threading.Thread(target=self._read, args=(v,)) for v in self._visitors[1 : 1 + READERS]]
        helpers.append(threading.Thread(target=self._loop, args=(self._visitors[0],)))
        for thread in helpers:
            thread.start()
        writers = []
        at = time.perf_counter()
        rest = self._visitors[1 + READERS :]
        for number, program in enumerate(self._programs):
            at += rng.expovariate(self._rate)
            time.sleep(max(0.0, at - time.perf_counter()))
            visitor = rest[number % len(rest)]
            writers.append(threading.Thread(target=self._hand_in, args=(visitor, program)))
            writers[-1].start()
        for thread in writers:
            thread.join()
        self._end.set()
        for thread in helpers:
            thread.join()

    def _hand_in(self, visitor: CodeVisitor, program: Any) -> None:
        try:
            self.feedback_s.append(timed(visitor, program.item, program.source))
        except BaseException as error:
            self.faults.append(error)

    def _read(self, visitor: CodeVisitor) -> None:
        while not self._end.wait(1.0):
            begun = time.perf_counter()
            visitor.client.get("/code/softmax")
            self.pages_s.append(time.perf_counter() - begun)

    def _loop(self, visitor: CodeVisitor) -> None:
        number = 0
        while True:
            visitor.hand_in("softmax", f"{LOOP}# {number}\n")
            number += 1
            if self._end.wait(LOOP_EVERY_S):
                return


def main() -> int:
    options = parse_options()
    # the site prepares each exercise at its first hand-in: one is enough to see that it works
    items = EXERCISES[:1] if options.quick else EXERCISES
    exercises = [e for e in read_exercises(ROOT / "problems/code") if e.item in items]
    in_class = max(3, round(options.per_minute * options.minutes))
    programs = list(class_of(options.hand_ins + in_class + len(items), exercises))
    students = [f"s{number}" for number in range(max(2 * READERS if options.quick else 40, in_class // 3))]
    rows = tuple(f"{student},{student},{student}@example.edu" for student in students)
    rules = "  assignments:\n" + "".join(f"    {item}: {{ due: 2900-01-01 }}\n" for item in items)
    with tempfile.TemporaryDirectory() as folder:
        course = new_course(Path(folder) / "course", students=rows)
        with (course / "course.yaml").open("a", encoding="utf-8") as settings:
            settings.write(rules)
        site = LiveSite(course)
        try:
            visitors = [CodeVisitor(site, student) for student in students]
            for visitor in visitors:
                visitor.token()
            for program in programs[: len(items)]:  # warm: plans and processes are there
                timed(visitors[-1], program.item, program.source)
            rest = programs[len(items) :]
            alone = one_after_another(visitors[-20:], rest[: options.hand_ins])
            work = ClassAtWork(visitors, rest[options.hand_ins :], options.per_minute / 60)
            work.run()
            for visitor in visitors:
                visitor.close()
        finally:
            site.kill()
    if work.faults:
        raise work.faults[0]
    figures = {
        "one after another": alone,
        f"a class, {options.per_minute} a minute": spread(work.feedback_s),
        "pages meanwhile": spread(work.pages_s),
    }
    print(f"{'from upload to feedback, ms':32} {'count':>6} {'median':>8} {'p95':>8} {'max':>8}")
    for name, row in figures.items():
        print(f"{name:32} {row['count']:6} {row['median']:8} {row['p95']:8} {row['max']:8}")
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
