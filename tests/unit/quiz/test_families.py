"""A family in a class: nobody gets what another has before all variants are given out."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from math import comb

import pytest

from engine.items import builtin_bank
from engine.model import Quiz
from engine.quiz import compose
from engine.quiz.blueprint import Blueprint, PlacedBlueprint
from engine.quiz.compose import ItemVariants, content, with_points

SECRET = b"s" * 32
SMALL = "advantages-limitations"  # a pool of options and no numbers


def family(item: str) -> ItemVariants:
    return ItemVariants.of(builtin_bank(), item, SECRET, "q")


def test_a_small_family_is_used_up_before_anything_comes_again() -> None:
    spec = builtin_bank().load(SMALL)
    assert spec.answer is not None
    two_of_five = spec.answer.model_copy(update={"draw": (2, 3)})
    right = sum(option.correct is True for option in spec.answer.options)
    size = comb(right, 2) * comb(len(spec.answer.options) - right, 3)
    one = ItemVariants(
        spec.model_copy(update={"answer": two_of_five, "variants": size}), "v", {}, SECRET, "q"
    )
    often = Counter(content(one.first(f"s{n}", 0)) for n in range(2 * size))
    assert len(often) == size
    assert set(often.values()) == {2}


def test_a_single_variant_comes_for_everybody() -> None:
    one = family("l16-ex1-context-vector")
    assert len({content(one.first(f"s{n}", 0)) for n in range(5)}) == 1


@pytest.mark.slow
def test_the_order_of_options_is_no_other_content() -> None:
    variant = family("l16-ex1-context-vector").first("ada", 0)
    part = variant.parts[0]
    turned = replace(variant, parts=(replace(part, options=part.options[::-1]),))
    assert content(turned) == content(variant)
    fewer = replace(variant, parts=(replace(part, options=part.options[1:]),))
    assert content(fewer) != content(variant)


def test_who_is_alone_in_a_class_gets_the_plain_draw() -> None:
    assert family("softmax-weights").first("ada", 0) == family("softmax-weights").first("ada", 0)
    assert content(family("softmax-weights").first("ada", 0)) != content(
        family("softmax-weights").first("ada", 1)
    )


def test_a_retry_is_unlike_everything_before() -> None:
    one = family("softmax-weights")
    had = [one.first("ada", 0)]
    for retry in range(1, 6):
        variant = one.again("ada", 0, retry, had)
        assert variant is not None
        had.append(variant)
    assert len({content(variant) for variant in had}) == 6
    assert one.again("ada", 0, 1, had[:1]) == had[1], "drawn again, it is the same"


def test_a_family_without_another_variant_says_so() -> None:
    one = family("l16-ex1-context-vector")
    assert one.again("ada", 0, 1, [one.first("ada", 0)]) is None


@pytest.mark.parametrize("points", [None, 1.0, 7.5])
def test_points_keep_their_proportions(points: float | None) -> None:
    variant = family("l16-full-pass").first("ada", 0)
    scaled = with_points(variant, points)
    assert scaled.points == pytest.approx(points or variant.points)
    shares = [
        (a.points / variant.points, b.points / scaled.points)
        for a, b in zip(variant.parts, scaled.parts, strict=True)
    ]
    assert all(before == pytest.approx(after) for before, after in shares)


def class_of(students: list[str], stored: list[Quiz] | None = None) -> list[Quiz]:
    plan = PlacedBlueprint(Blueprint.model_validate({"title": "T", "sections": [{"items": [SMALL]}]}))
    return compose(plan, builtin_bank(), students, secret=SECRET, name="q", stored=stored or [])


def test_who_comes_later_gets_nothing_that_the_class_has() -> None:
    first = class_of([f"s{n}" for n in range(60)])
    both = class_of([*(f"s{n}" for n in range(60)), *(f"t{n}" for n in range(40))], first)
    assert both[:60] == first
    assert len({content(quiz.questions[0].variant) for quiz in both}) == 100
