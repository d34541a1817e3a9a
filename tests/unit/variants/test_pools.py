"""Options, prompts and cards that are drawn from pools, or belong to some variants only."""

from __future__ import annotations

from collections import Counter
from math import comb

import pytest

from engine.errors import DrawError
from engine.items import ProblemSpec
from engine.variants import draw_seeded, family_size

SEEDS = range(60)


def spec(answer, **more):
    head = {"id": "pool", "title": "A pool", "source": {"document": "background"}, "difficulty": 1}
    head |= {"bloom": "remember", "topics": ["attention"], "stem": "Which?"}
    return ProblemSpec.model_validate(head | {"answer": answer} | more)


def parts(problem):
    for seed in SEEDS:
        variant = draw_seeded(problem, version="v", registry={}, seed=seed)
        yield variant.parts[0], variant


def options(right, wrong):
    return [{"text": f"right {i}", "correct": True} for i in range(right)] + [
        {"text": f"wrong {i}"} for i in range(wrong)
    ]


def test_a_single_choice_draws_one_right_option_and_some_wrong_ones():
    problem = spec({"type": "single_choice", "options": options(3, 5), "draw": [1, 3]})
    seen = set()
    for part, _ in parts(problem):
        texts = [option.text.plain for option in part.options]
        assert len(set(texts)) == 4
        assert [option.id for option in part.options] == ["a", "b", "c", "d"]
        (right,) = [option for option in part.options if option.correct]
        assert part.key_ids == (right.id,)
        assert right.text.plain.startswith("right")
        seen |= set(texts)
    assert len(seen) == 8
    assert family_size(problem) == 3 * comb(5, 3)


def test_a_multiple_choice_shows_six_of_which_one_to_four_are_right():
    problem = spec({"type": "multiple_choice", "options": options(4, 5), "draw": 6})
    counts = Counter(len(part.key_ids) for part, _ in parts(problem))
    assert set(counts) == {1, 2, 3, 4}
    assert min(counts.values()) >= 5, "each number is equally likely: 15 of 60 on average"
    for part, _ in parts(problem):
        assert len({option.text.plain for option in part.options}) == 6
        assert part.key_ids == tuple(option.id for option in part.options if option.correct)
    assert family_size(problem) == sum(comb(4, right) * comb(5, 6 - right) for right in (1, 2, 3, 4))


@pytest.mark.parametrize(
    ("right", "wrong", "shown", "counts"),
    [(3, 3, 4, {1, 2, 3}), (2, 5, 6, {1, 2}), (5, 1, 3, {2}), (2, 2, 3, {1, 2})],
)
def test_the_pool_bounds_how_many_are_right(right, wrong, shown, counts):
    problem = spec({"type": "multiple_choice", "options": options(right, wrong), "draw": shown})
    seen = {len(part.key_ids) for part, _ in parts(problem)}
    assert seen == counts


def test_a_pool_without_enough_options_in_some_variant_is_told():
    written = [*options(2, 3), {"text": "sometimes", "when": "m > 2"}]
    parameters = {"m": {"kind": "integer", "range": [1, 4]}}
    problem = spec({"type": "multiple_choice", "options": written, "draw": 6}, parameters=parameters)
    with pytest.raises(
        DrawError, match="6 options are to be drawn, and this variant has 2 right and 3 wrong"
    ):
        list(parts(problem))


@pytest.mark.parametrize("kind", ["single_choice", "multiple_choice"])
def test_a_condition_decides_for_which_variants_an_option_is_right(kind):
    written = [
        {"text": "{{ m }} rows give a vector", "correct": True, "when": "m > 1"},
        {"text": "{{ m }} rows give a vector", "when": "m == 1"},
        {"text": "one row gives a number", "correct": True, "when": "m == 1"},
        {"text": "always wrong"},
    ]
    parameters = {"m": {"kind": "integer", "range": [1, 4]}}
    seen = set()
    for part, variant in parts(spec({"type": kind, "options": written}, parameters=parameters)):
        (m,) = variant.values["m"].entries
        told = {option.text.plain: option.correct for option in part.options}
        assert told[f"{m} rows give a vector"] is (m != "1")
        assert ("one row gives a number" in told) is (m == "1")
        seen.add(m)
    assert seen == {"1", "2", "3", "4"}


def test_prompts_of_a_matching_are_drawn_and_keep_their_targets():
    answer = {
        "type": "matching",
        "draw": 3,
        "prompts": [{"text": f"prompt {i}", "target": f"t{i % 2}"} for i in range(8)],
        "targets": [{"id": "t0", "text": "even"}, {"id": "t1", "text": "odd"}],
    }
    problem = spec(answer)
    for part, _ in parts(problem):
        text = {option.id: option.text.plain for option in part.options}
        numbers = [int(prompt.text.plain.split()[1]) for prompt in part.prompts]
        assert len(set(numbers)) == 3
        assert [text[key] for key in part.key_ids] == [("even", "odd")[n % 2] for n in numbers]
    assert family_size(problem) == comb(8, 3)


def test_drawn_cards_stay_in_their_order():
    answer = {
        "type": "ordering",
        "draw": 4,
        "cards": [{"id": f"c{i}", "text": f"card {i}"} for i in range(7)],
    }
    problem = spec(answer)
    for part, _ in parts(problem):
        text = {option.id: option.text.plain for option in part.options}
        right = [text[key] for key in part.key_ids]
        assert len(right) == 4
        assert right == sorted(right)
        assert [option.text.plain for option in part.options] != right
    assert family_size(problem) == comb(7, 4)


def test_the_order_may_depend_on_what_was_drawn():
    cards = [
        {"id": "early", "text": "move", "when": 'first == "yes"'},
        {"id": "stay", "text": "stay"},
        {"id": "late", "text": "move", "when": 'first == "no"'},
    ]
    parameters = {"first": {"kind": "choice", "from": ["yes", "no"]}}
    for part, variant in parts(spec({"type": "ordering", "cards": cards}, parameters=parameters)):
        text = {option.id: option.text.plain for option in part.options}
        expected = ["move", "stay"] if variant.values["first"].entries == ("yes",) else ["stay", "move"]
        assert [text[key] for key in part.key_ids] == expected


Z = {"text": "z", "correct": True}
NEVER = {"id": "b", "text": "b", "when": "1 < 0"}
TOO_SMALL = {
    "2 options are marked correct, exactly one is needed": {
        "type": "single_choice",
        "options": [*options(1, 2), Z | {"when": "1 > 0"}],
    },
    "at least one right and one wrong option are needed": {
        "type": "multiple_choice",
        "options": [Z | {"when": "1 < 0"}, {"text": "y"}],
    },
    "2 wrong options are to be drawn, and this variant has 1": {
        "type": "multiple_choice",
        "draw": [1, 2],
        "options": [*options(1, 1), {"text": "y", "when": "1 < 0"}],
    },
    "an order needs two cards, and this variant has 1": {
        "type": "ordering",
        "cards": [{"id": "a", "text": "a"}, NEVER],
    },
}


@pytest.mark.parametrize("said", TOO_SMALL)
def test_a_pool_too_small_for_a_variant_is_said(said):
    with pytest.raises(DrawError, match=said):
        draw_seeded(spec(TOO_SMALL[said]), version="v", registry={}, seed=0)
