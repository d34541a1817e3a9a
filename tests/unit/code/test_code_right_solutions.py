"""No right solution fails, however it is written and whatever the plan's seed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.model import GradeReport, Outcome, Verdict

pytestmark = pytest.mark.slow

RIGHT = Path(__file__).parent / "right"
BANK = Path(__file__).parents[3] / "problems" / "code"
# Each file on three of eight plans by turns, so that each plan of an exercise meets three ways to write it or
# more; `make sweep` tries each file on 10,000 (benchmarks/right_code.py).
SEEDS = range(8)
EACH = 3
# right solutions are frozen before their exercise exists; test_right_corpus.py holds those to an oracle
FILES = [
    path
    for path in sorted(RIGHT.glob("*/*.py"))
    if (BANK / path.parent.name / f"{path.parent.name}.yaml").exists()
]


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_right_solution_passes_every_plan(path: Path, grade: Callable[..., GradeReport]) -> None:
    source = path.read_text()
    turn = EACH * FILES.index(path)
    for seed in (SEEDS[(turn + step) % len(SEEDS)] for step in range(EACH)):
        report = grade(path.parent.name, source, seed)
        failed = [(c.id, c.message) for c in report.checks if c.verdict is not Verdict.PASSED]
        assert not failed, (seed, failed, report.notes)
        assert report.outcome is Outcome.RIGHT and report.score == report.max_score
        assert report.diagnosis == () and report.counterexample is None


def test_each_plan_meets_three_files_or_more() -> None:
    met = Counter(
        (path.parent.name, (EACH * number + step) % len(SEEDS))
        for number, path in enumerate(FILES)
        for step in range(EACH)
    )
    assert len(met) == len({path.parent for path in FILES}) * len(SEEDS)
    assert min(met.values()) >= 3


def test_there_are_many_styles() -> None:
    for item in ("softmax", "sdpa"):
        sources = [path.read_text() for path in FILES if path.parent.name == item]
        assert len(sources) >= 8
        assert sum("torch" in source for source in sources) >= 3
