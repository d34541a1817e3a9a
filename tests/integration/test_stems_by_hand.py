"""The numbers that a student reads in a stem are those that the hand computation takes for each letter."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.integration.by_hand.concepts import grid
from tests.integration.by_hand.decoding import missed_table, table_of, worse_table
from tests.integration.by_hand.drawing import Numbers, numbers_of, variants_of
from tests.integration.by_hand.entering import flat
from tests.integration.by_hand.shown import LETTERS, TABLES, drawn, read_letter, read_table


@pytest.mark.parametrize("item", sorted(LETTERS))
def test_letters_of_the_stem_have_the_numbers_that_are_worked_with(item: str) -> None:
    for variant in variants_of(item):
        x = numbers_of(variant)
        for letter, name in LETTERS[item].items():
            assert read_letter(variant, letter) == drawn(x, name), letter


def _in_order(x: Numbers) -> list[list[float]]:
    """Rows A1, A2 … or B1, B2 …, as rows or (flipped) as columns."""
    rows = [x[name] for name in sorted(x) if name[0] in "AB" and name[1:].isdigit()]
    return [list(column) for column in zip(*rows, strict=True)] if x.get("flip") else rows


_TABLES: dict[str, Callable[[Numbers], list[list[float]]]] = {
    "alignment-not-monotone": grid,
    "beam-not-optimal": lambda x: list(missed_table(x).values()),
    "beam-survivors": lambda x: list(table_of(x["T"]).values()),
    "beam-vs-greedy-sequence": lambda x: list(table_of(x["T"]).values()),
    "beam-worse-than-greedy": lambda x: list(worse_table(x).values()),
    "greedy-path": lambda x: list(table_of(x["T"]).values()),
}


@pytest.mark.parametrize("item", sorted(TABLES))
def test_the_table_of_the_stem_is_the_one_that_is_worked_with(item: str) -> None:
    for variant in variants_of(item):
        worked_with = _TABLES.get(item, _in_order)(numbers_of(variant))
        assert flat(read_table(variant, TABLES[item])) == flat(worked_with)


def test_the_context_vector_that_is_shown_belongs_to_the_weights() -> None:
    for variant in variants_of("context-inverse"):
        x = numbers_of(variant)
        c = [x["a"] * p + (1 - x["a"]) * q for p, q in zip(x["h1"], x["h2"], strict=True)]
        assert read_letter(variant, "c⁽ᵗ⁾") == flat(c)
