"""Disguised copies among independent right solutions: the figures of docs/integrity.md."""

from __future__ import annotations

import ast
import hashlib
import json
import random
from dataclasses import asdict
from importlib.resources import files
from statistics import mean

import pytest

from engine.code import freeze_plan, load_exercise
from engine.code.explain.in_process import TrustedRunner
from engine.grading import grade_code
from engine.items import load_spec
from engine.model import CodeSubmission, Mode, Outcome
from engine.similarity.compare import compare, known_spread
from engine.similarity.gather import ComparedFile
from tests.unit.similarity.disguises import FOUND, PARTLY, everything, renamed
from tests.unit.similarity.measure import CODE, ITEMS, independent, solutions, standings, starter, translated

# Here two of the independent solutions are the same but for names: nothing can rank above those.
SHORT = {"causal-mask", "context", "hard-alignment", "softmax-vjp"}


@pytest.mark.parametrize("item", sorted(set(ITEMS) - SHORT))
def test_a_copy_in_all_disguises_ranks_above_independent_pairs(item: str) -> None:
    found = list(standings(item, everything))
    assert mean(share for share, _ in found) > 0.995
    assert mean(first for _, first in found) > 0.78


@pytest.mark.parametrize("item", sorted(SHORT))
def test_in_very_short_exercises_nearly_so(item: str) -> None:
    known = known_spread(item)
    assert known is not None and known.highest == 1.0, "two independent solutions are the same"
    assert mean(share for share, _ in standings(item, everything)) > 0.98


@pytest.mark.parametrize("name", [*FOUND, *PARTLY])
def test_each_disguise_alone(name: str) -> None:
    disguise = (FOUND | PARTLY)[name]
    found = [standing for item in ("beam-search", "multi-head") for standing in standings(item, disguise)]
    assert mean(share for share, _ in found) > 0.995
    assert all(first for _, first in found) or name in PARTLY


def test_a_translation_to_torch_is_found_more_often_than_not_and_no_more_is_said() -> None:
    found = [translated(item) for item in ITEMS]
    assert 0.6 < mean(first for _, first in found) < 0.9


def test_the_shipped_figures_of_independent_solutions_are_those_measured() -> None:
    text = (files("engine.similarity") / "independent.json").read_text(encoding="utf-8")
    assert json.loads(text) == {item: asdict(independent(item)) for item in ITEMS}
    assert known_spread("no-such-item") is None


def test_disguised_solutions_are_still_right() -> None:
    """A disguise that breaks a file would prove nothing."""
    with TrustedRunner() as runner:
        for item in ("softmax", "sdpa", "beam-search", "multi-head"):
            path = CODE / item / f"{item}.yaml"
            exercise = load_exercise(load_spec(path), path.parent, "version")
            source = everything(solutions(item)["bank"], random.Random(item))
            submission = CodeSubmission(source, "copy.py", hashlib.sha256(source.encode()).hexdigest())
            plan = freeze_plan(exercise, b"seed")
            report = grade_code(exercise, plan, submission, runner, mode=Mode.PRACTICE, student=None)
            assert report.outcome is Outcome.RIGHT, (item, report.checks)


def test_what_is_found_is_named_by_its_lines_and_names() -> None:
    """The copy of one solution stands first, and its renaming is read off."""
    sources = solutions("beam-search")
    copy = renamed(sources["lecture"], random.Random(7))
    works = [ComparedFile(name, source) for name, source in sources.items()]
    found = compare(
        "beam-search", [*works, ComparedFile("copy", copy)], handouts=[starter("beam-search")], keep=3
    )
    first = found.pairs[0]
    assert {first.first.who, first.second.who} == {"copy", "lecture"}
    assert first.share_first == first.share_second == 1.0
    assert found.students == len(sources) + 1
    assert found.pairs[1].surprise < first.surprise / 5
    assert ast.dump(ast.parse(copy)) != ast.dump(ast.parse(sources["lecture"]))
