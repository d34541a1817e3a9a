"""The bank that we ship passes its own strict lint without a warning, and covers the syllabus."""

from __future__ import annotations

import os
from collections import Counter

import pytest

from engine.answers import kind_of
from engine.authoring.lint.lint_items import lint_item
from engine.authoring.lint.syllabus_coverage import coverage
from engine.items import ProblemSpec, builtin_bank
from engine.variants import draw_seeded

BANK = builtin_bank()
ANSWER_TYPES = {
    "single_choice",
    "multiple_choice",
    "number",
    "vector",
    "matrix",
    "ordering",
    "matching",
    "token",
    "free_text",
    "code",
}

# Variants of each item: as many as `grade lint` draws; `make sweep` takes 500. Where options are picked,
# rules take shares over the variants ("the longest is right too often"), which vary too much in so few.
SEEDS = int(os.environ.get("SOFTMARK_LINT_SEEDS", "30"))
SEEDS_OF_SHARES = 200


def seeds_of(spec: ProblemSpec) -> int:
    if spec.kind == "code":  # they have plans in the place of variants, and tests of their own
        return 4
    has_options = any(
        kind_of(answer.type).picks_options and getattr(answer, "options", ()) for _, answer in spec.answers
    )
    return max(SEEDS, SEEDS_OF_SHARES) if has_options else SEEDS


@pytest.mark.parametrize("item", BANK.ids())
def test_item_passes_lint(item: str) -> None:
    spec = BANK.load(item)
    report = lint_item(spec, BANK.path(item), BANK, seeds=seeds_of(spec), strict=True)
    assert report.findings == (), "\n".join(line for f in report.findings for line in f.lines())


def test_exactly_two_printed_exercises_have_faulty_options() -> None:
    faulty = {
        item: report.facts["errata"]
        for item in BANK.ids()
        if item.startswith("l16-ex")
        and (report := lint_item(BANK.load(item), BANK.path(item), BANK, seeds=1)).facts.get("errata")
    }
    assert faulty == {"l16-ex3-softmax-weights": ["F-02"], "l16-ex5-alignment-vector": ["F-03"]}


def test_every_answer_type_is_in_the_bank() -> None:
    types = set()
    for item in BANK.ids():
        spec = BANK.load(item)
        types |= {answer.type for answer in (spec.answer, *(s.answer for s in spec.steps)) if answer}
    assert types == ANSWER_TYPES


def test_every_item_says_where_it_comes_from_and_helps() -> None:
    for item in BANK.ids():
        spec = BANK.load(item)
        assert len(spec.hints) >= 2, item
        assert spec.solution, item


def test_the_syllabus_has_no_gap() -> None:
    specs, faulty = BANK.readable()
    assert not faulty
    assert [entry.id for entry in coverage(BANK, specs) if entry.is_gap] == []


@pytest.mark.parametrize("seed", [11, 4242, 987654])
def test_the_keys_of_one_seed_stand_at_different_letters(seed: int) -> None:
    """Chi-square over all shuffled single choices: one order for all items gives 40 and more."""
    expected: Counter[str] = Counter()
    seen: Counter[str] = Counter()
    for item in BANK.ids():
        spec = BANK.load(item)
        kinds = {name: answer for name, answer in spec.answers if answer.type == "single_choice"}
        if not kinds:
            continue
        variant = draw_seeded(spec, version="v", registry=BANK.registry(), seed=seed)
        for part in variant.parts:
            if part.id in kinds and kinds[part.id].shuffle and kinds[part.id].key_position is None:
                seen[part.key_ids[0]] += 1
                expected.update({option.id: 1 / len(part.options) for option in part.options})
    assert sum(seen.values()) > 20
    spread = sum((seen[letter] - mean) ** 2 / mean for letter, mean in expected.items())
    assert spread < 18.5  # exceeded by 0.1 % of independent orders, with four degrees of freedom
