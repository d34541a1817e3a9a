"""Whose variant is this: the right student from what they see, and no certainty where there is none."""

from __future__ import annotations

import random
from functools import cache

import pytest

from engine.model import Quiz, Variant
from engine.quiz import compose
from engine.quiz.blueprint import Blueprint, PlacedBlueprint
from engine.quiz.variant_search import VariantOwner, find_variants, numbers_in
from tests.unit.quiz.test_credit import BANK, SECRET

ITEMS = ["softmax-weights", "advantages-limitations", "context-vector"]


@cache
def quizzes() -> tuple[Quiz, ...]:
    items = [item for item in ITEMS if item in BANK]
    plan = PlacedBlueprint(Blueprint.model_validate({"title": "T", "sections": [{"items": items}]}))
    return tuple(compose(plan, BANK, [f"s{n:02d}" for n in range(40)], secret=SECRET, name="week"))


@cache
def variants() -> tuple[tuple[VariantOwner, Variant], ...]:
    return tuple(
        (VariantOwner(quiz.name, q.number, quiz.student), q.variant)
        for quiz in quizzes()
        for q in quiz.questions
    )


@pytest.mark.parametrize("student", [3, 17, 39])
def test_a_stem_finds_its_student(student: int) -> None:
    variant = quizzes()[student].questions[0].variant
    result = find_variants(variants(), f"Can anybody help me?\n\n{variant.stem.plain}\nThanks!")
    best = result.matches[0]
    assert [owner.student for owner in best.owners] == [f"s{student:02d}"]
    assert best.certainty > 0.99
    assert next(iter(result.questions)) == ("week", variant.item)


@pytest.mark.parametrize("student", [0, 8, 21])
def test_the_numbers_alone_find_it_in_another_spelling(student: int) -> None:
    variant = quizzes()[student].questions[0].variant
    numbers = [entry for value in variant.values.values() for entry in value.entries if "." in entry]
    random.Random(student).shuffle(numbers)
    text = " ".join(numbers).replace(".", ",") + "0"
    best = find_variants(variants(), text).matches[0]
    assert f"s{student:02d}" in [owner.student for owner in best.owners]


def test_the_order_of_options_tells() -> None:
    """Two students with the same options in another order."""
    chosen = [q.variant for quiz in quizzes() for q in quiz.questions if q.variant.parts[0].options]
    variant = chosen[5]
    text = "\n".join(option.text.plain for option in variant.parts[0].options)
    owners = [owner for match in find_variants(variants(), text).matches[:1] for owner in match.owners]
    assert any(v is variant for owner, v in variants() if owner in owners)


def test_words_alone_tell_the_question_and_nobodys_name() -> None:
    stem = quizzes()[0].questions[0].variant.stem.plain
    text = " ".join(word for word in stem.split() if not any(c.isdigit() for c in word))
    result = find_variants(variants(), text)
    assert next(iter(result.questions)) == ("week", "softmax-weights")
    assert result.matches == () or result.matches[0].certainty < 0.5


@pytest.mark.parametrize(
    "text",
    ["", "Hello world, is anybody out there?", "1 2 3 4 5", "the year 2026, room 3.14", "\0\ud800" * 50],
)
def test_any_other_text_is_nobodys(text: str) -> None:
    result = find_variants(variants(), text)
    assert all(match.certainty < 0.5 for match in result.matches)


def test_a_long_page_of_numbers_accuses_nobody() -> None:
    stream = random.Random(1)
    text = " ".join(f"{stream.uniform(-5, 5):.1f}" for _ in range(20_000))
    result = find_variants(variants(), text)
    assert all(match.certainty < 0.5 for match in result.matches)


def test_those_who_share_a_variant_are_named_together() -> None:
    (owner, variant), *_ = variants()
    other = VariantOwner("week", 1, "twin", retry=1)
    result = find_variants([*variants(), (other, variant)], variant.stem.plain)
    assert set(result.matches[0].owners) == {owner, other}


def test_without_variants_nothing_is_found() -> None:
    assert find_variants([], "0.5").matches == ()


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("1.20 and 1.2", {"1.2"}), ("-0.0 +3", {"0", "3"}), ("x1 v2.3.4", set()), ("1e3", {"1000"}),
        ("a-0.5", {"0.5"}), ("(-0.5; 100)", {"-0.5", "100"}),
    ],
)  # fmt: skip
def test_numbers_have_one_spelling(text: str, numbers: set[str]) -> None:
    assert numbers_in(text) == numbers
