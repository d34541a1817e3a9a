"""Exported variants are all different, the same again from the same seed, and secret in a course."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import UnknownItemError
from engine.export.drawn_families import (
    WantedQuestion,
    draw_families,
    quiz_name,
    wanted_items,
    wanted_of_blueprint,
)
from engine.items.bank import Bank, builtin_root
from engine.quiz import read_blueprint
from engine.variants import draw_seeded

BANK = Bank([builtin_root()])
SECRET = b"s" * 32


def test_variants_differ_and_come_again_from_the_same_seed() -> None:
    calls: list[None] = []
    questions = [WantedQuestion("softmax-weights", 2.0, "Weights"), WantedQuestion("scale-symbol")]
    families, losses = draw_families(
        BANK, questions, 5, secret=None, seed=4, progress=lambda: calls.append(None)
    )
    assert losses == [] and [family.item for family in families] == ["softmax-weights", "scale-symbol"]
    weights, symbol = families
    assert [item.name for item in weights.items] == [f"softmax-weights-00{n}" for n in range(1, 6)]
    assert len({item.variant.stem.plain for item in weights.items}) == 5
    assert (weights.points, weights.section, {item.points for item in weights.items}) == (
        2.0,
        "Weights",
        {2.0},
    )
    assert weights.category == (BANK.load("softmax-weights").topics[0],)
    assert "softmax-weights" in weights.tags and "difficulty-2" in weights.tags
    # other orders of the same options are no other variants
    options = {frozenset(o.text.plain for o in i.variant.parts[0].options) for i in symbol.items}
    assert len(options) == len(symbol.items) <= 5
    assert len(calls) == sum(len(family.items) for family in families)
    again, _ = draw_families(BANK, questions, 5, secret=None, seed=4)
    assert again == families


def test_an_open_seed_gives_what_grade_show_shows() -> None:
    spec = BANK.load("softmax-weights")
    (family,), _ = draw_families(BANK, [WantedQuestion(spec.id)], 1, secret=None, seed=7)
    shown = draw_seeded(spec, version=BANK.version(spec.id), registry=BANK.registry(), seed=7)
    assert family.items[0].variant == shown and family.points == spec.points


def test_the_draws_of_a_course_depend_on_its_secret_and_on_the_seed() -> None:
    stems = set()
    for secret, seed in ((SECRET, 0), (SECRET, 1), (b"t" * 32, 0), (None, 0)):
        (family,), _ = draw_families(BANK, [WantedQuestion("softmax-weights")], 1, secret=secret, seed=seed)
        stems.add(family.items[0].variant.stem.plain)
    assert len(stems) == 4


def test_a_program_is_said_to_be_none_of_a_platforms_questions() -> None:
    questions = [WantedQuestion("softmax"), WantedQuestion("scale-symbol")]
    families, (loss,) = draw_families(BANK, questions, 1, secret=None)
    assert [family.item for family in families] == ["scale-symbol"]
    assert loss.is_refusal and loss.item == "softmax" and "a program" in loss.message


def test_items_are_asked_once_each_and_must_exist() -> None:
    assert [q.item for q in wanted_items(BANK, ["scale-symbol", "softmax", "scale-symbol"])] == [
        "scale-symbol",
        "softmax",
    ]
    with pytest.raises(UnknownItemError):
        wanted_items(BANK, ["no-such-item"])


def test_a_blueprint_gives_its_items_with_their_points_and_sections() -> None:
    path = Path(builtin_root(), "blueprints", "l16.yaml")
    plan = read_blueprint(path)
    questions = wanted_of_blueprint(plan, BANK, SECRET, "l16")
    assert len({q.item for q in questions}) == len(questions) > 3
    assert {q.section for q in questions} == {section.title for section in plan.blueprint.sections}
    assert questions == wanted_of_blueprint(plan, BANK, SECRET, "l16")


@pytest.mark.parametrize(
    ("text", "name"), [("Week 3: Attention!", "week-3-attention"), ("…", "quiz"), ("a" * 300, "a" * 200)]
)
def test_names_hold_nothing_that_a_file_or_an_identifier_cant(text: str, name: str) -> None:
    assert quiz_name(text) == name
