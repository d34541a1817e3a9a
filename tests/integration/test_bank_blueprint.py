"""The quiz on the lecture can be drawn, and each student gets other numbers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import problems
from engine.items import builtin_bank
from engine.quiz import compose, read_blueprint
from engine.quiz.choose import slots_of

BLUEPRINT = Path(problems.__file__).parent / "blueprints" / "l16.yaml"


def test_the_lecture_quiz_is_drawn_for_two_students() -> None:
    blueprint = read_blueprint(BLUEPRINT)
    bank = builtin_bank()
    ada, bob = compose(blueprint, bank, ["ada", "bob"], secret=b"secret of a test", name="l16")
    items = [question.variant.item for question in ada.questions]
    assert items == [question.variant.item for question in bob.questions]
    assert len(set(items)) == len(items) == 8
    assert {
        "l16-ex2-greedy-vs-beam",
        "l16-ex4-problems-addressed",
        "softmax-weights",
        "l16-full-pass",
    } <= set(items)
    assert sum(question.points for question in ada.questions) == 13
    different = [
        a.variant.item
        for a, b in zip(ada.questions, bob.questions, strict=True)
        if a.variant.values != b.variant.values
    ]
    assert {"softmax-weights", "context-vector", "l16-full-pass"} <= set(different)


BLUEPRINTS = sorted(BLUEPRINT.parent.glob("*.yaml"))


def test_there_is_a_plan_for_each_week_and_an_exam() -> None:
    names = {path.stem for path in BLUEPRINTS}
    assert {"week-1-seq2seq", "week-2-attention", "week-3-decoder", "week-4-self-attention", "exam"} <= names


@pytest.mark.parametrize("path", BLUEPRINTS, ids=lambda path: path.stem)
def test_a_built_in_plan_can_be_drawn_whatever_the_secret(path: Path) -> None:
    bank, plan = builtin_bank(), read_blueprint(path)
    minutes = set()
    for secret in (b"one", b"two", b"three"):
        (quiz,) = compose(plan, bank, ["ada"], secret=secret, name=path.stem)
        items = [question.variant.item for question in quiz.questions]
        assert len(set(items)) == len(items) >= 5
        minutes.add(sum(bank.load(item).minutes or 0 for item in items))
    assert 10 <= min(minutes) <= max(minutes) <= 90


WEEKS = {
    # week: what is taught in it, in the terms of problems/terms.yaml; later weeks know the earlier ones
    "week-1-seq2seq": {"seq2seq", "recurrence", "gradients", "decoding"},
    "week-2-attention": {"attention", "alignment-score", "softmax", "context-vector", "queries"},
    "week-3-decoder": {"decoder-step", "interpretation", "history"},
    "week-4-self-attention": {
        "scaled-dot-product",
        "masking",
        "self-attention",
        "transformer",
        "multi-head",
    },
}


def test_no_week_asks_what_a_later_one_teaches() -> None:
    bank, taught = builtin_bank(), set()
    items, _ = bank.summaries()
    for week, new in WEEKS.items():
        taught |= new
        plan = read_blueprint(BLUEPRINT.parent / f"{week}.yaml")
        assert set(plan.blueprint.needs or ()) == taught
        for slot in slots_of(plan, items):
            for item in slot.pool:
                assert set(bank.load(item).needs) <= taught, (week, item)
        assert plan.blueprint.exercises, week
        for item in plan.blueprint.exercises:
            assert set(bank.load(item).needs) <= taught, (week, item)


def test_the_quiz_on_one_lecture_quotes_no_other() -> None:
    bank = builtin_bank()
    items, _ = bank.summaries()
    for slot in slots_of(read_blueprint(BLUEPRINT), items):
        for item in slot.pool:
            assert not {"S1", "S2", "S3", "S4"} & set(bank.load(item).needs), item


def test_every_built_in_item_says_what_it_needs() -> None:
    specs, _ = builtin_bank().readable()
    assert [spec.id for spec in specs if "needs" not in spec.model_fields_set] == []


def test_an_item_that_asks_about_the_lectures_names_them() -> None:
    lectures = {"S0", "S1", "S2", "S3", "S4"}
    specs, _ = builtin_bank().readable()
    asking = [
        spec
        for spec in specs
        if re.search(r"\b(which|whom)\b.*\bthe lectures\b", " ".join(str(spec.stem).split()), re.IGNORECASE)
    ]
    assert {"history-impact", "who-introduced"} <= {spec.id for spec in asking}
    for spec in asking:
        cited = {source.document for source in spec.source} & lectures
        assert cited <= set(spec.needs), spec.id
