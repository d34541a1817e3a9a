"""A decoder step worked to six decimals, and students who make one mistake and work on with it."""

from __future__ import annotations

import math

import pytest

from engine.expressions.language import evaluate
from engine.expressions.values import as_tensor
from engine.grading import grade_answers
from engine.model import Mode, Response, Variant
from tests.integration.by_hand.decoder import full_step, new_state, scores
from tests.integration.by_hand.drawing import Numbers, bank, numbers_of, variants_of
from tests.oracles.loops import context, dot, product, softmax

WORKED: Numbers = {
    "W_s": [[0.5, 0], [0.2, 0.4]],
    "W_h": [[0.3, -0.2], [0.1, 0.6]],
    "v": [1, 2],
    "H": [[1, 0], [0, 1], [1, 1]],
    "s": [0.5, -0.5],
    "y": [1, 0],
    "Wx": [[0.4, -0.3, 0.2, 0.1], [0.1, 0.5, -0.2, 0.3]],
    "Ws": [[0.2, 0.1], [-0.1, 0.3]],
    "Wy": [[1, 0], [0, 1], [1, -1]],
}


def test_worked_instance_of_the_decoder_step() -> None:
    """One full pass: what equations (4)-(8) give, to six decimals."""
    worked = full_step(WORKED)
    assert worked["e"] == pytest.approx([0.500520, 0.974193, 1.410475], abs=6e-7)
    assert worked["w"] == pytest.approx([0.196460, 0.315492, 0.488048], abs=6e-7)
    assert worked["c"] == pytest.approx([0.684508, 0.803540], abs=6e-7)
    assert worked["s_new"] == pytest.approx([0.275440, 0.070106], abs=6e-7)
    assert worked["P"] == pytest.approx([0.364077, 0.296495, 0.339428], abs=6e-7)


def test_the_item_gives_the_worked_instance() -> None:
    """The key expressions of decoder-full-step on the worked instance, stage by stage."""
    spec = bank().load("decoder-full-step")
    names = {name: as_tensor(value) for name, value in WORKED.items()}
    by_hand = full_step(WORKED)
    for step in spec.steps:
        assert step.answer is not None
        names[step.id] = evaluate(step.answer.key, names)  # type: ignore[union-attr]
        assert names[step.id].tolist() == pytest.approx(by_hand[step.id], abs=1e-12)


def entered(values: list[float], decimals: int) -> str:
    return "[" + ", ".join(f"{value:.{decimals}f}" for value in values) + "]"


def marks(variant: Variant, answers: dict[str, str]) -> dict[str, float]:
    report = grade_answers(variant, Response(answers), mode=Mode.PRACTICE, student=None)
    return {check.id: check.points / check.max_points for check in report.checks if check.max_points}


def test_scores_without_v_cost_only_their_own_step() -> None:
    for variant in variants_of("l16-full-pass"):
        x = numbers_of(variant)
        e = scores({**x, "v": [1, 1]})
        weights = [round(w, 3) for w in softmax([round(score, 3) for score in e])]
        answers = {
            "e": entered(e, 3),
            "w": entered(weights, 3),
            "c": entered(context(weights, x["H"]), 2),
        }
        report = grade_answers(variant, Response(answers), mode=Mode.PRACTICE, student=None)
        assert marks(variant, answers) == {"e": 0.0, "w": 1.0, "c": 1.0}
        assert [d.misconception for d in report.diagnosis] == ["m-no-v"]


def test_a_swapped_concatenation_costs_only_the_state() -> None:
    for variant in variants_of("decoder-full-step"):
        x = numbers_of(variant)
        right = full_step(x)
        y_first = [
            math.tanh(dot(wx, [*x["y"], *right["c"]]) + dot(ws, x["s"]))
            for wx, ws in zip(x["Wx"], x["Ws"], strict=True)
        ]
        assert y_first != new_state(x, right["c"])
        answers = {
            "e": entered(right["e"], 4),
            "w": entered(right["w"], 4),
            "c": entered(right["c"], 3),
            "s_new": entered(y_first, 3),
            "P": entered(softmax(product(x["Wy"], [round(value, 3) for value in y_first])), 3),
        }
        assert marks(variant, answers) == {"e": 1.0, "w": 1.0, "c": 1.0, "s_new": 0.0, "P": 1.0}


def test_weights_that_do_not_sum_to_one_are_not_carried_forward() -> None:
    variant = variants_of("l16-full-pass")[0]
    x = numbers_of(variant)
    e = scores(x)
    weights = [1 / (1 + math.exp(-score)) for score in e]
    answers = {"e": entered(e, 3), "w": entered(weights, 3), "c": entered(context(weights, x["H"]), 2)}
    assert marks(variant, answers) == {"e": 1.0, "w": 0.0, "c": 0.0}
