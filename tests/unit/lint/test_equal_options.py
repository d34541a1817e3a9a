"""Two options of one value are an error, in whatever way they are written."""

from __future__ import annotations

from typing import Any

import pytest

from engine.authoring.lint.rules.keys import value_of

Data = dict[str, Any]
SAME = [
    ("0.50", "0.5"),
    (".5", "5e-1"),
    ("1/2", "0.5"),
    ("50 %", "0.50"),
    ("-3", "−3.0"),
    ("[1, 2.0]", "(1.00, 2)"),
    ("The sum is 0.50.", "the sum is .5"),
    ("-0.0", "0"),
]
OTHER = [
    ("0.5", "0.05"),
    ("-3", "3"),
    ("[1, 2]", "[2, 1]"),
    ("h1", "h01"),
    ("version 1.2.0", "version 1.2.00"),
    ("1/2", "1/3"),
    ("1/0", "2/0"),
    ("2 - 1", "2 - 2"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_texts_of_one_value(one: str, other: str) -> None:
    assert value_of(one) == value_of(other)


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_texts_of_two_values(one: str, other: str) -> None:
    assert value_of(one) != value_of(other)


def by_hand(*texts: str) -> Any:
    def change(data: Data) -> None:
        options = [{"text": text, "correct": not n} for n, text in enumerate(texts)]
        data["answer"] = {"type": "single_choice", "options": options}
        data["variants"] = 1
        data["covers"] = []

    return change


def test_a_right_and_a_wrong_option_of_one_value_are_an_error(spoiler) -> None:
    report = spoiler.lint("io-length-claims", by_hand("0.50", "0.5", "0.7"))
    (found,) = report.errors
    assert found.message == "two options are the same value: 0.50 and 0.5" or (
        found.message == "two options are the same value: 0.5 and 0.50"
    )
    assert spoiler.lint("io-length-claims", by_hand("0.50", "0.6", "0.7")).errors == ()


def test_long_options_that_differ_at_their_end_are_two(spoiler) -> None:
    long = "The decoder compares its state with every encoder state of the sentence, and then it"
    report = spoiler.lint("io-length-claims", by_hand(f"{long} waits", f"{long} stops", "0.7"))
    assert [found for found in report.errors if "read the same" in found.message] == []
    report = spoiler.lint("io-length-claims", by_hand(f"{long} waits", f"{long} Waits", "0.7"))
    assert any("read the same: The decoder" in found.message for found in report.errors)
