"""What spreadsheets do to answers, and that nothing that people type is taken for it."""

from __future__ import annotations

import pytest

from engine.answers import right_responses, wrong_responses
from engine.intake.spreadsheet_cells import damage
from engine.items import builtin_bank
from engine.variants import draw_seeded


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("01.Feb", "date or time"),
        ("1-Feb", "date or time"),
        ("Feb-01", "date or time"),
        ("1. Mrz", "date or time"),
        ("02-Mai-2026", "date or time"),
        ("2026-02-01", "date or time"),
        ("2026-02-01 00:00:00", "date or time"),
        ("01.02.2026", "date or time"),
        ("1/2/2026", "date or time"),
        ("01:02:00", "date or time"),
        ("1E+05", "shortened the number to 1E+05"),
        ("1.23457E+11", "shortened"),
        ("1,23E-05", "shortened"),
        ("=1/3", "a formula (=1/3)"),
        ("=SUM(A1)", "a formula"),
        ("=cmd|' /C calc'!A0", "a formula"),
        ("#DIV/0!", "an error of the spreadsheet"),
        ("#WERT!", "an error"),
    ],
)
def test_damage(text: str, told: str) -> None:
    assert told in str(damage(text))


TYPED = [
    *("1/2", "0.5", ".5", "-0.5", "1e5", "5e-1", "5E-1", "0,5", "1.5", "1.2 3.4", "3", "10.5."),
    *("[0.1, 0.9]", "0.1; 0.2", "a, c", "1a 2b", "1:a, 2:b", "12:a", "1-a, 2-b", "b > a > c", "c."),
    *("may", "B A C"),
]


@pytest.mark.parametrize("text", TYPED)
def test_what_people_type_is_no_damage(text: str) -> None:
    assert damage(text) is None


def test_no_answer_of_the_bank_looks_like_damage() -> None:
    bank = builtin_bank()
    for item in bank.ids():
        if bank.path(item).parent.name == item:
            continue  # code
        variant = draw_seeded(bank.load(item), version="v", registry=bank.registry(), seed=1)
        for part in variant.parts:
            typed = [*right_responses(part), *(text for text, _ in wrong_responses(part))]
            assert [text for text in typed if damage(text.strip())] == [], item
