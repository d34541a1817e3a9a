"""Whole responses: outcomes, unreadable fields told all at once, error carried forward."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from engine.answers import right_response
from engine.errors import UsageError
from engine.grading import grade_answers
from engine.items import ProblemSpec, builtin_bank
from engine.model import Mode, Outcome, Response, Variant, Verdict
from engine.variants import draw_seeded

# S0 (4)-(6) repaired by v, small enough to be worked out by hand
W = [[0.5, 0], [0.2, 0.4]]
U = [[0.3, -0.2], [0.1, 0.6]]
V = [1, 2]
H = [[1, 0], [0, 1], [1, 1]]
S = [1, -0.5]

STEPS = {
    "id": "full-pass",
    "title": "A whole pass",
    "source": {"document": "background"},
    "difficulty": 3,
    "bloom": "apply",
    "topics": ["attention"],
    "parameters": {
        name: {"kind": "fixed", "value": value}
        for name, value in {"W": W, "U": U, "v": V, "H": H, "s": S, "Wy": [[1, 0], [0, 1], [1, -1]]}.items()
    },
    "derived": {"half": "0.5 * v"},
    "stem": "Go through the stages.",
    "steps": [
        {
            "id": "e",
            "prompt": "Scores?",
            "answer": {"type": "vector", "key": "additive_scores(s, H, W, U, v)", "decimals": 4},
            "misconceptions": [{"id": "m-no-v", "expr": "additive_scores(s, H, W, U, 1 + 0 * v)"}],
        },
        {
            "id": "w",
            "prompt": "Weights?",
            "answer": {"type": "vector", "key": "softmax(e)", "decimals": 4, "simplex": True},
            "misconceptions": [{"id": "m-base2", "expr": "base2(e)"}],
        },
        {
            "id": "c",
            "prompt": "Context?",
            "answer": {"type": "vector", "key": "context(w, H)", "decimals": 3, "partial": "per-entry"},
            "misconceptions": [{"id": "m-swap-w", "expr": "context(reverse(w), H)"}],
        },
        {
            "id": "t",
            "prompt": "tanh?",
            "answer": {"type": "vector", "key": "tanh(c)", "decimals": 3},
            "invariants": ["max(abs(t)) < 1"],
        },
    ],
}
RIGHT = {
    "e": "0.8634 1.3654 1.7458",
    "w": "0.1973 0.3259 0.4768",
    "c": "0.674 0.803",
    "t": "0.588 0.666",
}


def variant(**changes) -> Variant:
    spec = ProblemSpec.model_validate({**STEPS, **changes})
    return draw_seeded(spec, version="v", registry={"m-base2": "Powers of 2.", "m-no-v": "No v."}, seed=0)


FULL = variant()


def grade(answers, item=FULL):
    return grade_answers(item, Response(answers), mode=Mode.PRACTICE, student="ada")


def points(report):
    return {check.id: check.points for check in report.checks if check.max_points}


def message(report, part):
    return next(check.message for check in report.checks if check.id == part)


def softmax(scores):
    powers = [math.exp(x) for x in scores]
    return [p / sum(powers) for p in powers]


def context(weights):
    return [sum(w * row[j] for w, row in zip(weights, H, strict=True)) for j in range(2)]


def typed(values, places):
    return ", ".join(f"{x:.{places}f}" for x in values)


def test_all_right():
    report = grade(RIGHT)
    assert (report.outcome, report.score, report.max_score) == (Outcome.RIGHT, 4.0, 4.0)
    assert (report.item, report.variant, report.student, report.mode) == (
        "full-pass", FULL.id, "ada", Mode.PRACTICE,
    )  # fmt: skip
    assert report.diagnosis == ()
    assert {check.message for check in report.checks if check.max_points} == {"Right."}


def test_blank_fields_earn_nothing_and_are_no_format_error():
    report = grade({"e": RIGHT["e"], "w": "  "})
    assert (report.outcome, report.score) == (Outcome.PARTIAL, 1.0)
    assert message(report, "w") == "No answer."
    report = grade({})
    assert (report.outcome, report.score) == (Outcome.WRONG, 0.0)


def test_format_errors_of_all_fields_at_once_and_no_mark():
    report = grade({**RIGHT, "w": "nan", "c": "1 2 3"})
    assert (report.outcome, report.score) == (Outcome.FORMAT_ERROR, None)
    verdicts = {check.id: check.verdict for check in report.checks}
    assert verdicts == {
        "e": Verdict.SKIPPED,
        "w": Verdict.FAILED,
        "c": Verdict.FAILED,
        "t": Verdict.SKIPPED,
    }
    assert "nan isn't a number" in message(report, "w")
    assert "this is 3 numbers, but the field takes 2 numbers" in message(report, "c")
    assert "no attempt was used" in report.notes[0]
    assert report.as_json()["score"] is None


def test_a_field_that_does_not_exist_is_a_format_error():
    report = grade({**RIGHT, "x\x1b[31m": "1"})
    assert report.outcome is Outcome.FORMAT_ERROR
    assert "no such field" in report.checks[-1].message
    assert "\x1b" not in report.checks[-1].id


def test_code_is_not_typed():
    code = {
        "id": "softmax",
        "title": "Softmax",
        "source": {"document": "background"},
        "difficulty": 1,
        "bloom": "apply",
        "topics": ["softmax"],
        "stem": "Write it.",
        "answer": {
            "type": "code",
            "function": "softmax",
            "signature": "softmax(x)",
            "exercise": "softmax",
            "solutions": ["s.py"],
            "checks": [{"id": "sum1", "property": "sum1", "points": 1}],
        },
    }
    item = draw_seeded(ProblemSpec.model_validate(code), version="v", registry={}, seed=0)
    with pytest.raises(UsageError):
        grade({"answer": "1"}, item)


# --- error carried forward --------------------------------------------------------------

WRONG_E = (0.5, 0.25, 1.0)


def test_a_right_step_after_a_wrong_one_earns_full_marks():
    own = softmax(WRONG_E)
    answers = {
        "e": typed(WRONG_E, 4),
        "w": typed(own, 4),
        "c": typed(context(own), 3),
        "t": typed([math.tanh(x) for x in context(own)], 3),
    }
    report = grade(answers)
    assert points(report) == {"e": 0.0, "w": 1.0, "c": 1.0, "t": 1.0}
    assert (report.outcome, report.score) == (Outcome.PARTIAL, 3.0)
    assert message(report, "w") == "Right, given your value of e."
    # w itself is right given e, yet it isn't the item's w
    assert message(report, "c").startswith("Right")


def test_each_step_is_marked_as_it_stands_first():
    # somebody who copies the right w from a friend after a wrong e still gets w's mark
    report = grade({**RIGHT, "e": typed(WRONG_E, 4)})
    assert points(report) == {"e": 0.0, "w": 1.0, "c": 1.0, "t": 1.0}
    assert message(report, "w") == "Right."


def test_a_blank_step_is_bridged():
    own = softmax(WRONG_E)
    report = grade({"e": typed(WRONG_E, 4), "c": typed(context(own), 3)})
    assert points(report) == {"e": 0.0, "w": 0.0, "c": 1.0, "t": 0.0}
    assert message(report, "c") == "Right, given your value of e."


def test_partial_credit_is_carried_forward_too():
    own = softmax(WRONG_E)
    c = context(own)
    report = grade({"e": typed(WRONG_E, 4), "w": typed(own, 4), "c": typed([c[0], 9], 3)})
    assert points(report)["c"] == 0.5
    assert message(report, "c") == "1 of 2 entries is right; entry 2 isn't, given your value of e."


def test_a_mistake_on_one_s_own_values_is_still_named():
    twos = [2**x for x in WRONG_E]
    base2 = [x / sum(twos) for x in twos]
    report = grade({"e": typed(WRONG_E, 4), "w": typed(base2, 4)})
    assert points(report)["w"] == 0
    assert [d.misconception for d in report.diagnosis] == ["m-base2"]


def test_values_that_can_not_be_weights_are_not_carried_on():
    report = grade({"e": RIGHT["e"], "w": "0.9 0.9 0.9", "c": typed(context([0.9] * 3), 3)})
    assert points(report)["c"] == 0
    assert "your value of w isn't carried on, as it can't be weights" in message(report, "c")


@pytest.mark.parametrize(
    "weights",
    [
        (1, 0, 0),
        (1 / 3, 1 / 3, 1 / 3),
        (0.33, 0.33, 0.34),
        (0.98, 0.01, 0.01),
        (0.01, 0.04, 0.95),
        (0.3, 0.34, 0.36),
    ],
)
def test_trivial_weights_are_not_carried_on(weights):
    report = grade({"e": RIGHT["e"], "w": typed(weights, 4), "c": typed(context(weights), 3)})
    assert points(report)["c"] == 0
    assert "makes the rest trivial" in message(report, "c")


@pytest.mark.parametrize("weights", [(0.25, 0.35, 0.4), (0.9, 0.05, 0.05)])
def test_weights_that_leave_work_to_do_are_carried_on(weights):
    report = grade({"e": RIGHT["e"], "w": typed(weights, 4), "c": typed(context(weights), 3)})
    assert points(report)["c"] == 1


@pytest.mark.parametrize(
    ("scores", "kind"), [((0, 0, 0), "zero"), ((2, 2, 2), "uniform"), ((0, 0, 40), "one-hot")]
)
def test_scores_that_make_the_weights_trivial_are_not_carried_on(scores, kind):
    report = grade({"e": typed(scores, 4), "w": typed(softmax(scores), 4)})
    assert points(report)["w"] == 0
    assert kind in message(report, "w")


def test_saturated_states_are_not_carried_on():
    report = grade({"e": RIGHT["e"], "w": RIGHT["w"], "c": "90, 90", "t": "1.000 1.000"})
    assert points(report)["t"] == 0
    assert "saturated" in message(report, "t")


def test_invariants_guard_what_is_carried_on():
    steps = [dict(step) for step in STEPS["steps"]]
    steps[2] = {**steps[2], "invariants": ["max(c) <= 1", "min(c) >= 0"]}
    item = variant(steps=steps)
    report = grade({"c": "1.5, 0.5", "t": typed([math.tanh(1.5), math.tanh(0.5)], 3)}, item)
    assert points(report)["t"] == 0
    assert "your value of c isn't carried on, as it can't be right in any case" in message(report, "t")
    report = grade({"c": "0.9, 0.5", "t": typed([math.tanh(0.9), math.tanh(0.5)], 3)}, item)
    assert points(report)["t"] == 1


def test_without_follow_through_nothing_is_carried_on():
    steps = [dict(step) for step in STEPS["steps"]]
    steps[1] = {**steps[1], "follow_through": False}
    report = grade({"e": typed(WRONG_E, 4), "w": typed(softmax(WRONG_E), 4)}, variant(steps=steps))
    assert points(report)["w"] == 0


def test_carrying_on_changes_no_variant():
    before = FULL.parts
    grade({"e": typed(WRONG_E, 4), "w": typed(softmax(WRONG_E), 4)})
    assert FULL.parts == before


def test_who_rounds_an_earlier_step_to_the_places_asked_is_right_as_it_stands():
    # c from the rounded weights, without any step handed in
    weights = [round(x, 4) for x in softmax([0.863373, 1.365412, 1.745785])]
    report = grade({"c": typed(context(weights), 3)})
    assert points(report)["c"] == 1


@pytest.mark.parametrize("points", [0.1, 1 / 3, 2 / 3, 0.7, 1 / 7])
def test_a_right_part_passes_with_all_its_points_whatever_fraction_they_are(points):
    """A blueprint shares an item's points among its parts, so they may have no end in decimals."""
    drawn = FULL
    item = replace(drawn, parts=tuple(replace(part, points=points) for part in drawn.parts))
    keys = {part.id: right_response(part) for part in item.parts}
    report = grade(keys, item)
    assert report.outcome is Outcome.RIGHT
    own = [check for check in report.checks if check.max_points]
    assert len(own) == len(item.parts)
    assert all(check.verdict is Verdict.PASSED and check.points == points for check in own)


BANK = builtin_bank()


def bank_variant(item: str, seed: int = 0):
    return draw_seeded(BANK.load(item), version="1", registry=BANK.registry(), seed=seed)


def known_text(item, step: str, mistake: str) -> str:
    part = next(part for part in item.parts if part.id == step)
    value = next(known.value for known in part.known_wrong if known.misconception == mistake)
    return right_response(replace(part, key=value))


def as_rows(rows) -> str:
    return "; ".join(" ".join(f"{entry:.3f}" for entry in row) for row in rows)


def test_one_trivial_row_of_weights_is_not_carried_on():
    """The step that follows reads one row, so that row alone decides whether there is anything to do."""
    item = bank_variant("causal-self-attention")
    key = item.parts[0].key
    rows = [list(key.data[at : at + 3]) for at in range(0, 9, 3)]
    for place in range(3):
        peaked = [1.0 if at == place else 0.0 for at in range(3)]
        for weights in ([rows[0], peaked, rows[2]], [rows[0], rows[1], peaked]):
            for answer in ("m-argmax", "m-own-token"):
                report = grade({"W": as_rows(weights), "y": known_text(item, "y", answer)}, item)
                assert points(report)["y"] < item.parts[1].points, (weights, answer)


def test_values_by_which_a_known_mistake_is_right_earn_nothing_by_it():
    """Next to no context makes "the context is left out" right; nobody's slip gives such a context."""
    item = bank_variant("decoder-full-step")
    step = next(part for part in item.parts if part.id == "s_new")
    wrong = [known.misconception for known in step.known_wrong]
    for mistake in wrong:
        report = grade({"c": "0.002, 0.001", "s_new": known_text(item, "s_new", mistake)}, item)
        assert points(report)["s_new"] < step.points, mistake


def test_one_slip_keeps_the_credit_of_its_consequences_though_a_known_mistake_gives_them():
    """Weights without the mask give the output that somebody without a mask gets: one slip, not two."""
    for seed in range(3):
        item = bank_variant("causal-self-attention", seed)
        weights, output = known_text(item, "W", "m-no-mask"), known_text(item, "y", "m-no-mask")
        report = grade({"W": weights, "y": output}, item)
        assert points(report)["W"] < item.parts[0].points
        assert points(report)["y"] == item.parts[1].points


@pytest.mark.parametrize("number", ["8e73", "1e307", "-1e300"])
def test_a_huge_earlier_value_is_carried_forward_without_a_crash(number: str) -> None:
    variant = draw_seeded(builtin_bank().load("additive-precompute"), version="", registry={}, seed=1)
    answers = {part.id: right_response(part) for part in variant.parts} | {"once": number, "whole": "1"}
    report = grade_answers(variant, Response(answers), mode=Mode.MARKS, student=None)
    assert report.outcome is Outcome.PARTIAL
