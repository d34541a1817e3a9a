"""How well `grade similar` finds disguised copies, and how fast: the tables of docs/integrity.md.

python -m benchmarks.similar            accuracy, and engine/similar/independent.json anew
python -m benchmarks.similar --class N  N disguised files of one exercise, in seconds
"""

from __future__ import annotations

import json
import random
import sys
import time
from dataclasses import asdict

from engine.similar.compare import compare
from engine.similar.work import Work
from tests.unit.similar.disguises import FOUND
from tests.unit.similar.measure import (
    CODE,
    DISGUISES,
    ITEMS,
    ROOT,
    independent,
    solutions,
    standings,
    starter,
    translated,
)


def accuracy() -> None:
    figures = {item: independent(item) for item in ITEMS}
    text = json.dumps({item: asdict(found) for item, found in figures.items()}, indent=1)
    (ROOT / "engine/similar/independent.json").write_text(text + "\n", encoding="utf-8")
    print("| exercise | solutions | half | 95 % | highest |\n|---|---|---|---|---|")
    for item, found in figures.items():
        cells = [f"{100 * share:.0f} %" for share in (found.half, found.most, found.highest)]
        print(f"| {item} | {len(solutions(item))} | {' | '.join(cells)} |")
    print("\n| disguise | copies | AUC | above all independent pairs |\n|---|---|---|---|")
    for name, disguise in DISGUISES.items():
        print(_row(name, [standing for item in ITEMS for standing in standings(item, disguise)]))
    print(_row("numpy translated to torch", [translated(item) for item in ITEMS]))


def _row(name: str, every: list[tuple[float, bool]]) -> str:
    area, first = (sum(column) / len(every) for column in zip(*every, strict=True))
    return f"| {name} | {len(every)} | {area:.4f} | {100 * first:.0f} % |"


def speed(students: int) -> None:
    chance = random.Random(1)
    for item in ("softmax", "sdpa", "beam-search"):
        mutants = [path.read_text("utf-8") for path in sorted((CODE / item / "mutants").glob("*.py"))]
        sources = [*solutions(item).values(), *mutants]
        works = []
        for number in range(students):
            source = chance.choice(sources)
            for name in chance.sample(sorted(FOUND), 3):
                source = FOUND[name](source, chance)
            works.append(Work(f"s{number}", source))
        begun = time.perf_counter()
        found = compare(item, works, given=[starter(item)])
        print(f"| {item} | {students} | {time.perf_counter() - begun:.1f} s | {len(found.groups)} groups |")


if __name__ == "__main__":
    speed(int(sys.argv[2])) if sys.argv[1:2] == ["--class"] else accuracy()
