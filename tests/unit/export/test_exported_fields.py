"""Fields of exported questions hold what our own marking would say, for every item of the bank."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from functools import cache

import pytest

from engine.answers import answer_type
from engine.answers.asked_precision import NumericSettings
from engine.export.exported_fields import (
    ChoiceField,
    EssayField,
    FieldNotExportable,
    MatchField,
    NumbersField,
    OrderField,
    WordsField,
    exported_field,
)
from engine.export.exported_item import exported_item
from engine.items.bank import Bank, builtin_root
from engine.model import Part, Variant
from engine.variants import draw_seeded

BANK = Bank([builtin_root()])
NUMERIC = ("number", "vector", "matrix")
NUMERIC_ITEMS = [
    item for item in BANK.ids() if any(answer.type in NUMERIC for _, answer in BANK.load(item).answers)
]


def drawn(item: str, seed: int) -> Variant:
    return draw_seeded(BANK.load(item), version="v", registry=BANK.registry(), seed=seed)


@cache
def parts_of(item: str) -> tuple[Part, ...]:
    return drawn(item, 0).parts


def all_parts() -> list[Part]:
    return [part for item in BANK.ids() for part in parts_of(item)]


def earned(part: Part, text: str) -> float:
    """Return the share of the points that our own marking gives."""
    return answer_type(part.type).grade(part, text).points / part.points


@pytest.mark.parametrize("item", NUMERIC_ITEMS)
def test_bounds_and_groups_of_numbers_are_those_of_our_marking(item: str) -> None:
    numeric = [part for part in parts_of(item) if part.type in NUMERIC]
    assert numeric
    for part in numeric:
        _check_bounds_and_groups(part)


def _check_bounds_and_groups(part: Part) -> None:
    field = exported_field(part)
    assert isinstance(field, NumbersField) and field.shape == (part.key.shape if part.key else None)
    step = Decimal(1).scaleb(-12)
    right = [entry.right for entry in field.entries]
    assert earned(part, _written(right, field.shape)) == 1
    for group in field.groups:
        i = group[0]
        for bound, inside in ((field.entries[i].lower, 1), (field.entries[i].upper, -1)):
            if field.whole:
                continue
            at = [*right[:i], f"{bound:f}", *right[i + 1 :]]
            beyond = [*right[:i], f"{bound - inside * step:f}", *right[i + 1 :]]
            assert earned(part, _written(at, field.shape)) == 1
            left = 1 - 1 / len(field.groups) * (1 - float(field.near_credit))
            assert earned(part, _written(beyond, field.shape)) == pytest.approx(left)


def _written(texts: list[str], shape: tuple[int, ...]) -> str:
    if len(shape) < 2:
        return ", ".join(texts)
    rows = [texts[i : i + shape[1]] for i in range(0, len(texts), shape[1])]
    return "; ".join(", ".join(row) for row in rows)


def _with_near_credit() -> Iterator[Part]:
    # no item of the bank gives it; an author may
    for part in all_parts():
        settings = NumericSettings.of(part)
        if part.type in NUMERIC and not settings.is_whole and None not in settings.places:
            yield replace(part, settings={**part.settings, "near_credit": 0.5})


def test_nearly_right_is_what_our_marking_calls_so() -> None:
    tried = list(_with_near_credit())[::4]
    assert len(tried) > 15
    for part in tried:
        _check_nearly_right(part)


def _check_nearly_right(part: Part) -> None:
    field = exported_field(part)
    assert isinstance(field, NumbersField)
    right = [entry.right for entry in field.entries]
    for i, entry in enumerate(field.entries):
        assert entry.near is not None
        for bound, outward in zip(entry.near, (-1, 1), strict=True):
            at = [*right[:i], f"{bound:f}", *right[i + 1 :]]
            beyond = [*right[:i], f"{bound + outward * Decimal('1e-12'):f}", *right[i + 1 :]]
            if not entry.lower <= bound <= entry.upper:
                assert earned(part, _written(at, field.shape)) > earned(part, _written(beyond, field.shape))


def test_known_mistakes_are_recognised_within_their_intervals() -> None:
    seen = 0
    for part in all_parts():
        field = exported_field(part) if part.type in NUMERIC else None
        if not isinstance(field, NumbersField) or field.whole:
            continue
        for wrong in field.wrong:
            for texts in ([e.right for e in wrong.entries], [f"{e.lower:f}" for e in wrong.entries]):
                checks = answer_type(part.type).grade(part, _written(texts, field.shape))
                assert wrong.misconception in {d.misconception for d in checks.diagnosis}
                seen += 1
    assert seen > 200


def test_the_other_kinds_of_field_hold_the_key() -> None:
    kinds: dict[type, int] = {}
    for part in all_parts():
        if part.type == "code":
            with pytest.raises(FieldNotExportable, match="a program"):
                exported_field(part)
            continue
        field = exported_field(part)
        kinds[type(field)] = kinds.get(type(field), 0) + 1
        match field:
            case ChoiceField():
                picked = " ".join(option.id for option in field.options if option.correct)
                assert field.multiple == (part.type == "multiple_choice")
                assert earned(part, picked) == 1
            case OrderField():
                assert earned(part, " ".join(field.order)) == 1
                assert {card.id for card in field.cards} == set(field.order)
            case MatchField():
                assert earned(part, ", ".join(f"{a}-{b}" for a, b in field.pairs.items())) == 1
            case WordsField():
                assert [earned(part, text) for text in field.accepted] == [1] * len(field.accepted)
                assert all(earned(part, text) < 1 for text, _ in field.wrong)
            case EssayField():
                assert field.rubric and field.sample is not None
            case NumbersField():
                assert field.right == answer_type(part.type).right_responses(part)[0]
        assert field.hint and field.points == part.points
    assert set(kinds) == {ChoiceField, OrderField, MatchField, WordsField, EssayField, NumbersField}


def test_shares_of_steps_sum_to_one() -> None:
    for variant in (drawn(item, 3) for item in BANK.ids()):
        if any(part.type == "code" for part in variant.parts):
            continue
        item = exported_item(f"{variant.item}-1", variant, points=5.0)
        assert sum(item.shares()) == pytest.approx(1) and item.points == 5.0
        assert len(item.fields) == len(variant.parts) and item.title
        assert len(item.general_feedback) == (variant.solution is not None) + len(variant.told_after)
