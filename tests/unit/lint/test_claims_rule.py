"""Sentences that are false for a variant's numbers are found, and those that nothing vouches for."""

from __future__ import annotations

from typing import Any

import pytest

from engine.authoring.lint.rules import claims
from engine.authoring.lint.rules.rendered_text import faults_of
from engine.model import FloatArray, KnownWrong, Part, RenderedText

Data = dict[str, Any]


@pytest.mark.parametrize(
    ("sentence", "numbers", "is_true"),
    [
        ("One is negative, so these may be scores.", [-1, 3, 0, -2], False),
        ("One is negative, so these may be scores.", [-1, 3, 0, 2], True),
        ("Two of them are negative.", [-1, 3, 0, -2], True),
        ("None of them is negative.", [-1, 3], False),
        ("Not all of them are positive.", [-1, 3, 0, -2], True),
        ("Not all of them are positive.", [1, 3], False),
        ("All entries are positive and they sum to 1.", [0.4, 0.6], True),
        ("All entries are positive and they sum to 1.", [0.0, 1.0], False),
        ("They sum to 2. Weights sum to 1.", [0.6, 1.4], True),
        ("They sum to 2.", [0.4, 0.6], False),
        ("It has a negative entry.", [1, 2], False),
        ("Softmax leaves no position without weight.", [0.0, 1.0], True),
    ],
)
def test_what_is_said_of_numbers_is_compared_with_them(
    sentence: str, numbers: list[float], is_true: bool
) -> None:
    assert (list(claims.says_of_numbers(sentence, numbers)) == []) is is_true


@pytest.mark.parametrize(
    ("sentence", "value", "is_true"),
    [
        ("They no longer sum to 1.", (0.5, 0.5), False),
        ("They no longer sum to 1.", (0.5, 0.4), True),
        ("These weights are all equal.", (0.5, 0.4), False),
        ("The largest score got the smallest weight.", (0.1, 0.9), True),
        ("The largest score got the smallest weight.", (0.9, 0.1), False),
    ],
)
def test_what_is_said_of_a_mistake_is_compared_with_its_value(
    sentence: str, value: tuple[float, ...], is_true: bool
) -> None:
    part = Part("w", "vector", 1.0, key=FloatArray((2,), (0.8, 0.2)), settings={"simplex": True})
    known = KnownWrong("m-x", sentence, FloatArray((2,), value))
    assert (list(claims.says_of_value(sentence, known, part)) == []) is is_true


def test_one_number_is_not_spoken_of_in_the_plural() -> None:
    part = Part("n", "number", 1.0, key=FloatArray((), (3.0,)))
    known = KnownWrong("m-x", "", FloatArray((), (2.0,)))
    assert list(claims.says_of_value("These numbers come out when …", known, part)) != []
    assert list(claims.says_of_value("This comes out when …", known, part)) == []


def found(spoiler: Any, change: Any, item: str = "hard-vs-soft") -> list[str]:
    return [f.message for f in claims.check(spoiler.subject(item, change, seeds=20))]


def test_the_feedback_of_a_card_is_held_against_its_numbers(spoiler: Any) -> None:
    def change(data: Data) -> None:
        prompts = data["steps"][0]["answer"]["prompts"]
        (card,) = (card for card in prompts if "tex(e)" in card["text"])
        card["feedback"] = "One is negative, so these may be scores, but not weights."

    assert any("'One is negative', but 2 of them are" in message for message in found(spoiler, change))
    assert found(spoiler, lambda data: None) == []


def test_a_declared_claim_is_evaluated_wherever_it_is_shown(spoiler: Any) -> None:
    def says(holds: str, words: str = "one is negative") -> list[str]:
        change = lambda data: data.update(claims=[{"says": words, "holds": holds}])  # noqa: E731
        return [m for m in found(spoiler, change, "context-bounds") if "nothing says" not in m]

    assert says("sum(number(bad < 0)) == 1") == []
    assert says("sum(number(bad < 0)) == 2") == ["the text says 'one is negative', and that isn't so here"]
    assert says("1 > 0", "two are negative") == ["no text of the item says 'two are negative'"]


def test_a_count_of_signs_without_a_claim_is_found(spoiler: Any) -> None:
    messages = found(spoiler, lambda data: data.pop("claims"), "context-bounds")
    assert messages == ["nothing says for which numbers this is true: 'one is negative'"]


@pytest.mark.parametrize(
    ("text", "is_fault"), [("a 8 × 8 matrix", True), ("an 8 × 8 matrix", False), ("a 9 x 9", False)]
)
def test_the_article_fits_the_number_behind_it(text: str, is_fault: bool) -> None:
    assert bool(faults_of(RenderedText(text, text, text))) is is_fault


def test_variants_that_differ_much_in_effort_are_found(spoiler: Any) -> None:
    def change(data: Data) -> None:
        data["parameters"]["d"] = {"kind": "choice", "from": [4, 9]}

    report = spoiler.lint("scaled-dot-score", change, seeds=12, strict=True)
    assert "variants differ in operations, for the same marks" in [f.message for f in report.findings]
    assert spoiler.lint("scaled-dot-score", lambda data: None, seeds=12, strict=True).findings == ()
