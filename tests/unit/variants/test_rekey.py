"""A variant that is out gets the keys of its corrected item, and keeps all that its student saw."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.errors import DrawError
from engine.items import ProblemSpec
from engine.items.bank import builtin_bank
from engine.variants import draw_seeded, rekey

BANK = builtin_bank()
QUIZ_ITEMS = [item for item in BANK.ids() if BANK.path(item).parent.name != item]
SEEDS = range(25)


def spec(answer, **more):
    head = {"id": "it", "title": "An item", "source": {"document": "background"}, "difficulty": 1}
    head |= {"bloom": "remember", "topics": ["attention"], "stem": "Which?"}
    return ProblemSpec.model_validate(head | {"answer": answer} | more)


def drawn(problem, seed):
    return draw_seeded(problem, version="v1", registry={}, seed=seed)


def again(problem, variant):
    return rekey(problem, variant, version="v2", registry={})


def seen(variant):
    """All that a student sees of a variant."""
    return (
        variant.id,
        variant.stem,
        variant.values,
        variant.hints,
        variant.points,
        [(p.id, p.type, p.prompt, [(o.id, o.text) for o in (*p.prompts, *p.options)]) for p in variant.parts],
    )


@pytest.mark.parametrize("item", QUIZ_ITEMS)
def test_an_item_that_is_as_it_was_gives_the_very_same_variant(item):
    problem, version = BANK.load(item), BANK.version(item)
    for seed in range(3):
        variant = draw_seeded(problem, version=version, registry=BANK.registry(), seed=seed)
        assert rekey(problem, variant, version=version, registry=BANK.registry()) == variant


NUMBER = {"a": {"kind": "integer", "range": [1, 9]}, "b": {"kind": "integer", "range": [10, 19]}}


def test_a_corrected_key_holds_for_the_numbers_that_were_shown():
    wrong = {"type": "number", "key": "a - b", "decimals": 0}
    old = spec(wrong, parameters=NUMBER, points=4, solution="It is {{ key }}.")
    new = spec(
        wrong | {"key": "a + b"},
        parameters={"a": NUMBER["a"], "b": {"kind": "integer", "range": [90, 99]}},
        constraints=[{"expr": "b > 80", "message": "large"}],
        misconceptions=[{"id": "m-minus", "expr": "a - b", "feedback": "The difference."}],
        solution="It is {{ key }}.",
    )
    for seed in SEEDS:
        before = drawn(old, seed)
        after = again(new, before)
        a, b = (int(before.values[name].entries[0]) for name in "ab")
        assert after.parts[0].key.data == (a + b,)
        assert after.parts[0].known_wrong[0].value.data == (a - b,)
        assert after.solution.plain == f"It is {a + b}."
        assert seen(after) == seen(before)
        assert (after.item_version, after.parts[0].points) == ("v2", 4)


def choice(*texts, right, kind="single_choice", **more):
    options = [{"text": text, "correct": i in right} for i, text in enumerate(texts)]
    return spec({"type": kind, "options": options} | more)


@pytest.mark.parametrize("kind", ["single_choice", "multiple_choice"])
def test_another_option_is_right_where_it_was_shown(kind):
    old = choice("one", "two", "three", "four", right=[0], kind=kind)
    new = choice("four", "one", "three", "two", right=[0], kind=kind)
    for seed in SEEDS:
        before = drawn(old, seed)
        after = again(new, before)
        assert seen(after) == seen(before)
        (right,) = after.parts[0].key_ids
        assert [o.text.plain for o in after.parts[0].options if o.id == right] == ["four"]
        assert [o.text.plain for o in after.parts[0].options if o.correct] == ["four"]


def test_one_reworded_option_is_known_by_what_is_left():
    old = choice("one", "tvo", "three", right=[1])
    before = drawn(old, 1)
    after = again(choice("one", "two", "three", right=[1]), before)
    assert after.parts[0].key_ids == before.parts[0].key_ids
    assert seen(after) == seen(before)
    with pytest.raises(DrawError, match="has no option"):
        again(choice("uno", "two", "three", right=[1]), before)


def test_of_a_pool_those_count_that_were_shown():
    pool = [f"right {i}" for i in range(3)] + [f"wrong {i}" for i in range(5)]
    old = choice(*pool, right=range(3), draw=[1, 3])
    # right 0 is found to be wrong, and wrong 0 to be right
    new = choice(*pool, right=[1, 2, 3], draw=[1, 3])
    undecided = decided = 0
    for seed in range(80):
        before = drawn(old, seed)
        texts = [o.text.plain for o in before.parts[0].options]
        right = [text for text in texts if text in ("right 1", "right 2", "wrong 0")]
        if len(right) == 1:
            after = again(new, before)
            assert [o.text.plain for o in after.parts[0].options if o.correct] == right
            decided += 1
        else:
            with pytest.raises(DrawError, match="right now"):
                again(new, before)
            undecided += 1
    assert decided and undecided


COMPUTED = {"type": "single_choice", "key": "2 * a", "decimals": 1, "distractors": ["m-half", "m-square"]}
WRONG = [{"id": "m-half", "expr": "a / 2"}, {"id": "m-square", "expr": "a * a + 1"}]


def test_a_computed_key_must_be_among_the_options_that_were_shown():
    parameters = {"a": {"kind": "integer", "range": [11, 90]}}
    old = spec(COMPUTED, parameters=parameters, misconceptions=WRONG)
    swapped = spec(
        COMPUTED | {"key": "a / 2"},
        parameters=parameters,
        misconceptions=[{"id": "m-half", "expr": "2 * a"}, WRONG[1]],
    )
    other = spec(COMPUTED | {"key": "2 * a + 7"}, parameters=parameters, misconceptions=WRONG)
    for seed in SEEDS:
        before = drawn(old, seed)
        a = int(before.values["a"].entries[0])
        after = again(swapped, before)
        assert seen(after) == seen(before)
        assert [o.value.data for o in after.parts[0].options if o.correct] == [(a / 2,)]
        with pytest.raises(DrawError, match="has no option"):  # never the old key under another name
            again(other, before)


def test_an_order_and_its_pool():
    cards = [{"id": text, "text": text} for text in ("a1", "b2", "c3", "d4", "e5")]
    old = spec({"type": "ordering", "cards": cards, "draw": 3})
    new = spec({"type": "ordering", "cards": cards[::-1], "draw": 3})
    for seed in SEEDS:
        before = drawn(old, seed)
        after = again(new, before)
        assert seen(after) == seen(before)
        assert after.parts[0].key_ids == before.parts[0].key_ids[::-1]


def test_a_matching_goes_by_the_letters_that_were_shown():
    targets = [{"id": name, "text": name.upper()} for name in ("x", "y", "z")]
    pairs = [("one", "x"), ("two", "y"), ("three", "z"), ("four", "x")]

    def problem(told):
        prompts = [{"text": text, "target": target} for text, target in told]
        return spec({"type": "matching", "prompts": prompts, "targets": targets, "draw": 3})

    new = problem([("four", "y"), *pairs[:3]])
    right = {"one": "X", "two": "Y", "three": "Z", "four": "Y"}
    for seed in SEEDS:
        before = drawn(problem(pairs), seed)
        after = again(new, before)
        assert seen(after) == seen(before)
        (part,) = after.parts
        letter = {o.id: o.text.plain for o in part.options}
        said = {p.text.plain: letter[k] for p, k in zip(part.prompts, part.key_ids, strict=True)}
        assert said == {text: right[text] for text in said}


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"parameters": NUMBER | {"c": NUMBER["a"]}}, "the item draws c now"),
        ({"answer": {"type": "vector", "key": "[a, b]", "decimals": 0}}, "other answer fields"),
        ({"answer": {"type": "number", "key": "1 / (a - a)", "decimals": 0}}, "no clear key"),
        ({"answer": {"type": "number", "key": "a + 0.5", "decimals": 0}}, "no clear key"),
    ],
)
def test_what_no_key_can_be_found_for_is_left_to_a_person(changes, told):
    answer = {"type": "number", "key": "a + b", "decimals": 0}
    before = drawn(spec(answer, parameters=NUMBER), 3)
    with pytest.raises(DrawError, match=told):
        again(spec(**({"answer": answer, "parameters": NUMBER} | changes)), before)


def test_full_marks_stay_and_the_rubric_decides_the_shares():
    def steps(first, second):
        answer = {"type": "number", "decimals": 0}
        return ProblemSpec.model_validate(
            {
                "id": "it",
                "title": "Steps",
                "source": {"document": "background"},
                "difficulty": 1,
                "bloom": "apply",
                "topics": ["attention"],
                "stem": "Two steps.",
                "parameters": NUMBER,
                "steps": [
                    {"id": "s1", "prompt": "First", "points": first, "answer": answer | {"key": "a + b"}},
                    {"id": "s2", "prompt": "Then", "points": second, "answer": answer | {"key": "s1 + 1"}},
                ],
            }
        )

    before = drawn(steps(1, 1), 2)
    before = replace(before, parts=tuple(replace(part, points=3.0) for part in before.parts))
    after = again(steps(1, 2), before)
    assert [part.points for part in after.parts] == [2.0, 4.0]


def test_a_hidden_constant_counts_as_it_stands_now_and_a_shown_one_needs_a_person():
    parameters = NUMBER | {"factor": {"kind": "fixed", "value": 3}}
    number = {"type": "number", "key": "factor * a", "decimals": 0}
    old = spec(number, parameters=parameters, stem="Three times {{ a }}?")
    right = spec(
        number, parameters=parameters | {"factor": {"kind": "fixed", "value": 4}}, stem="Three times {{ a }}?"
    )
    before = drawn(old, 1)
    after = again(right, before)
    assert after.parts[0].key.data == (4 * int(before.values["a"].entries[0]),)
    assert after.values["factor"].entries == ("4",)
    shown = spec(number, parameters=parameters, stem="{{ factor }} times {{ a }}?")
    now = spec(
        number,
        parameters=parameters | {"factor": {"kind": "fixed", "value": 4}},
        stem="{{ factor }} times {{ a }}?",
    )
    with pytest.raises(DrawError, match="the fixed value of factor is another one now"):
        again(now, drawn(shown, 1))
    # a constant that is new changes nothing that was drawn
    added = spec(
        number | {"key": "factor * a + c"},
        parameters=parameters | {"c": {"kind": "fixed", "value": 1}},
        stem="Three times {{ a }}?",
    )
    assert again(added, before).parts[0].key.data == (3 * int(before.values["a"].entries[0]) + 1,)


def test_a_constant_that_only_a_prompt_shows_needs_a_person_too():
    def item(value):
        return ProblemSpec.model_validate(
            {
                "id": "it",
                "title": "Steps",
                "source": {"document": "background"},
                "difficulty": 1,
                "bloom": "apply",
                "topics": ["attention"],
                "stem": "Two steps.",
                "parameters": NUMBER | {"factor": {"kind": "fixed", "value": value}},
                "steps": [
                    {
                        "id": step,
                        "prompt": f"{step}: {{{{ factor }}}} times {{{{ a }}}}?",
                        "answer": {"type": "number", "key": "factor * a", "decimals": 0},
                    }
                    for step in ("s1", "s2")
                ],
            }
        )

    with pytest.raises(DrawError, match="the fixed value of factor is another one now"):
        again(item(4), drawn(item(3), 1))


def test_a_corrected_wording_is_the_same_option_also_in_a_pool():
    texts = [
        "The weights of one step sum to one.",
        "Every state gets a weight of its own.",
        "A weight is negative if its score is negative.",
        "The largest weight is always one.",
        "Weights are learned, one for each position.",
    ]
    old = choice(*texts, right={0, 1}, kind="multiple_choice")
    old = old.model_copy(update={"answer": old.answer.model_copy(update={"draw": (1, 2)})})
    corrected = [*texts]
    corrected[2] = "A weight is negative where its score is negative."
    corrected[3] = "The largest weight is always 1."
    new = choice(*corrected, right={0, 1}, kind="multiple_choice")
    new = new.model_copy(update={"answer": new.answer.model_copy(update={"draw": (1, 2)})})
    for seed in SEEDS:
        before = drawn(old, seed)
        after = again(new, before)
        assert seen(after) == seen(before) and after.parts[0].key_ids == before.parts[0].key_ids
    foreign = choice(
        *texts[:3], "Something else entirely.", "Nothing of the kind.", right={0, 1}, kind="multiple_choice"
    )
    foreign = foreign.model_copy(update={"answer": foreign.answer.model_copy(update={"draw": (1, 2)})})
    with pytest.raises(DrawError, match="has no option"):
        for seed in SEEDS:
            again(foreign, drawn(old, seed))
