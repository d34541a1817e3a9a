"""Keys, known mistakes and shown numbers of drawn variants against what was worked out by hand.

The hand computation (``tests/integration/by_hand``) was written from stems and lectures. It uses neither the
reference nor torch nor the files' key expressions.
"""

from __future__ import annotations

import pytest

from engine.answers import right_response
from engine.grading import grade_answers
from engine.model import Mode, Outcome, Part, Response
from tests.integration.by_hand.drawing import bank, numbers_of, variants_of
from tests.integration.by_hand.entering import agrees, keyed, same_numbers, typed
from tests.integration.by_hand.everything import MISTAKEN, WORKED
from tests.integration.by_hand.words import Read


@pytest.mark.parametrize("item", sorted(WORKED))
def test_the_key_is_what_is_worked_out_by_hand(item: str) -> None:
    for seed, variant in enumerate(variants_of(item)):
        answers = WORKED[item](numbers_of(variant))
        assert set(answers) == {part.id for part in variant.parts}
        wrong = {p.id: (answers[p.id], keyed(p)) for p in variant.parts if not agrees(p, answers[p.id])}
        assert wrong == {}, f"seed {seed}: by hand and key"


@pytest.mark.parametrize("item", sorted(WORKED))
def test_a_student_who_works_it_out_gets_full_marks(item: str) -> None:
    for seed, variant in enumerate(variants_of(item)):
        answers = WORKED[item](numbers_of(variant))
        entered = {p.id: typed(p, answers[p.id]) or " ".join(p.key_ids) for p in variant.parts}
        words = {p.id: right_response(p) for p in variant.parts if p.type == "free_text"}
        report = grade_answers(variant, Response(entered | words), mode=Mode.PRACTICE, student=None)
        # What a person marks waits; everything else earns full marks.
        assert report.outcome is (Outcome.UNGRADED if words else Outcome.RIGHT), f"seed {seed}: {entered}"
        computed = [check for check in report.checks if check.id.partition(".")[0] not in words]
        assert all(check.points == check.max_points for check in computed), f"seed {seed}: {entered}"


def _mistakes_of(part: Part) -> list[tuple[str, object]]:
    options = [(o.misconception, o.value) for o in part.options if o.misconception and o.value]
    known = [(k.misconception, k.value.data if k.value else k.text) for k in part.known_wrong]
    return [*known, *((name, value.data) for name, value in options)]


@pytest.mark.parametrize("item", sorted(WORKED))
def test_known_mistakes_give_what_the_registry_says(item: str) -> None:
    for seed, variant in enumerate(variants_of(item)):
        by_hand = MISTAKEN[item](numbers_of(variant)) if item in MISTAKEN else {}
        for part in variant.parts:
            for name, value in _mistakes_of(part):
                assert name in by_hand.get(part.id, {}), f"{part.id}: nobody worked out {name}"
                worked = by_hand[part.id][name]
                if isinstance(value, str):
                    assert worked.replace(",", "") == value.replace(",", ""), (
                        f"seed {seed}, {part.id}: {name}"
                    )
                else:
                    assert same_numbers(worked, list(value)), (
                        f"seed {seed}, {part.id}: {name}, {worked}, {value}"
                    )  # type: ignore[call-overload]


def test_every_item_that_draws_or_computes_something_is_worked_out_here() -> None:
    needed = set()
    for spec in bank().readable()[0]:
        answers = [spec.answer, *(step.answer for step in spec.steps)]
        has_key = any(getattr(answer, "key", None) is not None for answer in answers)
        orders = any(answer is not None and answer.type == "ordering" for answer in answers)
        if spec.kind != "code" and (has_key or orders or spec.parameters):
            needed.add(spec.id)
    assert set(WORKED) == needed


def test_a_statement_that_depends_on_drawn_numbers_is_judged_and_not_only_read() -> None:
    """Options with a number in them, or with a condition, are recomputed for every variant that is drawn."""
    only_read = []
    for spec in bank().readable()[0]:
        for name, answer in spec.answers:
            options = getattr(answer, "options", ())
            if any("{{" in option.text or option.when is not None for option in options):
                variant = next(iter(variants_of(spec.id)))
                if isinstance(WORKED[spec.id](numbers_of(variant))[name], Read):
                    only_read.append((spec.id, name))
    assert only_read == []
