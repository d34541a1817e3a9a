"""How well `grade similar` finds disguised copies, and how fast: the figures of docs/integrity.md.

Usage: python benchmarks/similar.py               accuracy: the tables
       python benchmarks/similar.py --independent engine/similarity/independent.json, to standard output
       python benchmarks/similar.py --quick       accuracy on one exercise, to see that it works
       python benchmarks/similar.py --class N     N disguised files of one exercise, in seconds

Accuracy doesn't depend on the machine. A class is compared on one core, in seconds of the processor and of
the clock; files are disguised before the clock starts.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from code_grading import machine

sys.path.insert(0, str(Path(__file__).parents[1]))

from engine.similarity import compare as comparing
from engine.similarity.gather import ComparedFile
from tests.unit.similarity.disguises import FOUND
from tests.unit.similarity.measure import (
    CODE,
    DISGUISES,
    ITEMS,
    independent,
    solutions,
    standings,
    starter,
    translated,
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--independent", action="store_true", help="print the data that is shipped")
    parser.add_argument("--class", dest="students", type=int, help="time a class of so many")
    parser.add_argument("--quick", action="store_true", help="one exercise, to see that it works")
    options = parser.parse_args()
    if options.independent:
        print(json.dumps({item: asdict(independent(item)) for item in ITEMS}, indent=1))
    elif options.students:
        speed(options.students)
    else:
        accuracy(ITEMS[:1] if options.quick else ITEMS)


def accuracy(items: Sequence[str]) -> None:
    print("| exercise | solutions | half | 95 % | highest |\n|---|---|---|---|---|")
    for item in items:
        found = independent(item)
        cells = [f"{100 * share:.0f} %" for share in (found.half, found.most, found.highest)]
        print(f"| {item} | {len(solutions(item))} | {' | '.join(cells)} |")
    print("\n| disguise | copies | AUC | above all independent pairs |\n|---|---|---|---|")
    for name, disguise in DISGUISES.items():
        print(_row(name, [standing for item in items for standing in standings(item, disguise)]))
    print(_row("numpy translated to torch", [translated(item) for item in items]))


def _row(name: str, every: list[tuple[float, bool]]) -> str:
    area, first = (sum(column) / len(every) for column in zip(*every, strict=True))
    return f"| {name} | {len(every)} | {area:.4f} | {100 * first:.0f} % |"


def speed(students: int) -> None:
    comparing._FORK_FROM = sys.maxsize
    print(json.dumps(machine()))
    print("| exercise | files | processor | clock | close pairs' groups |\n|---|---|---|---|---|")
    chance = random.Random(1)
    for item in ("softmax", "sdpa", "beam-search"):
        mutants = [path.read_text("utf-8") for path in sorted((CODE / item / "mutants").glob("*.py"))]
        sources = [*solutions(item).values(), *mutants]
        works = []
        for number in range(students):
            source = chance.choice(sources)
            for name in chance.sample(sorted(FOUND), 3):
                source = FOUND[name](source, chance)
            works.append(ComparedFile(f"s{number}", source))
        clock, processor = time.perf_counter(), time.process_time()
        found = comparing.compare(item, works, handouts=[starter(item)])
        taken = f"{time.process_time() - processor:.1f} s | {time.perf_counter() - clock:.1f} s"
        print(f"| {item} | {students} | {taken} | {len(found.groups)} |")


if __name__ == "__main__":
    main()
