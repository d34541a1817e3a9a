"""How well disguised copies stand out among independent right solutions (tables: benchmarks/similar.py)."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import combinations
from pathlib import Path

from engine.similarity.compare import FeatureChannel, spread
from engine.similarity.fingerprints import NormalForm, all_grams, fingerprints, normal_form
from engine.similarity.gather import ComparedFile, SimilaritySpread
from tests.unit.similarity.disguises import FOUND, PARTLY, Disguise, everything

ROOT = Path(__file__).parents[3]
RIGHT = ROOT / "tests/unit/code/right"
CODE = ROOT / "problems/code"
ITEMS = sorted(path.name for path in RIGHT.iterdir())
DISGUISES: dict[str, Disguise] = {**FOUND, "everything": everything, **PARTLY}


def solutions(item: str) -> dict[str, str]:
    """Return right solutions that were written independently: the tests' ones and the bank's first."""
    found = {path.stem: path.read_text("utf-8") for path in sorted((RIGHT / item).glob("*.py"))}
    return {**found, "bank": (CODE / item / "solution_numpy.py").read_text("utf-8")}


def starter(item: str) -> str:
    return (CODE / item / "starter.py").read_text("utf-8")


@cache
def _form(source: str) -> NormalForm:
    return normal_form(source)


def channel(item: str, works: list[ComparedFile]) -> FeatureChannel:
    marks = {work.source: fingerprints(_form(work.source)) for work in works}
    return FeatureChannel(works, marks, all_grams(_form(starter(item))))


def independent(item: str) -> SimilaritySpread:
    """Return how alike the independent solutions of an item are."""
    works = [ComparedFile(name, source) for name, source in solutions(item).items()]
    found = channel(item, works)
    matches = [found.match(a, b) for a, b in combinations(works, 2)]
    return spread(max(match.share_first, match.share_second) for match in matches)


def standings(
    item: str, disguise: Disguise, only: Iterable[str] | None = None
) -> Iterator[tuple[float, bool]]:
    """Yield for each solution how its disguised copy stands among all pairs of independent ones.

    The share of those pairs that are less surprising (a tie counts half), and whether all are.
    """
    sources = solutions(item)
    for name in only or sources:
        copy = ComparedFile("copy", disguise(sources[name], random.Random(name)))
        works = [ComparedFile(n, s) for n, s in sources.items()]
        found = channel(item, [*works, copy])
        own = found.match(ComparedFile(name, sources[name]), copy).surprise
        others = [found.match(a, b).surprise for a, b in combinations(works, 2)]
        below = sum(other < own for other in others) + sum(other == own for other in others) / 2
        yield below / len(others), own > max(others)


def translated(item: str) -> tuple[float, bool]:
    """Return how the bank's torch solution, written beside the numpy one, stands with that."""
    torch = (CODE / item / "solution_torch.py").read_text("utf-8")
    return next(standings(item, lambda source, chance: torch, ["bank"]))
