"""The student with pencil and paper: right when nothing is rounded, off by a little when it is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine.authoring.lint.rules import working
from engine.authoring.lint.rules.responses import answer_text, notations, right_answers
from engine.authoring.lint.rules.working import PaperArithmetic, known_calls, worked_answers
from engine.authoring.lint.subject import LintSubject
from engine.expressions.language import evaluate
from engine.expressions.values import as_tensor
from engine.items import builtin_bank
from engine.model import FloatArray, Part

NAMES: dict[str, Any] = {
    "e": [1.3, -0.4, 0.2],
    "H": [[1, 2], [-3, 0], [2, 5]],
    "w": [0.2, 0.5, 0.3],
    "Q": [[1, 0.5], [0.2, -1]],
    "K": [[1, 1], [0, 2], [-1, 0.3]],
    "W": [[0.5, 0.1], [-0.2, 0.4]],
    "U": [[0.3, -0.7], [0.6, 0.2]],
    "v": [1, -2],
    "s": [0.5, -1],
    "y": [1.5, 0.5],
}
EXPRESSIONS = (
    "softmax(e)",
    "context(w, H)",
    "additive_scores(s, H, W, U, v)",
    "alignment_vector(s, y, W, U)",
    "sdpa(Q, K, H)",
    "softmax(scaled_dot_scores(Q, K))",
    "dot_scores(Q, K)",
    "tanh(W @ s + U @ y)",
    "concat(s, y)",
    "dot(s, y) / sqrt(2) - 1",
    "softmax(Q @ W) @ U",
    "concat(s, e) @ stack(y, s, v, y, s)",
    "H[1]",
    "sum(exp(e))",
    "-log(w) * 2 ** e",
    "[dot(s, y), 3]",
)


def tensors() -> dict[str, Any]:
    return {name: as_tensor(value) for name, value in NAMES.items()}


def work(decimals: int) -> PaperArithmetic:
    names = tensors()
    return PaperArithmetic(names, decimals, lambda text: evaluate(text, names))


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_without_rounding_it_equals_the_engine(expression: str) -> None:
    exact = evaluate(expression, tensors())
    np.testing.assert_allclose(work(12).evaluate(expression), exact, rtol=0, atol=1e-10)


@pytest.mark.parametrize("expression", ["softmax(e)", "sdpa(Q, K, H)", "additive_scores(s, H, W, U, v)"])
def test_rounding_every_intermediate_moves_the_result(expression: str) -> None:
    exact = evaluate(expression, tensors())
    rough = work(1).evaluate(expression)
    assert np.abs(rough - exact).max() > 1e-3
    np.testing.assert_allclose(rough, np.round(rough, 1), atol=1e-12)


def test_every_call_that_is_known_is_tried_above() -> None:
    tried = {name for name in known_calls() if any(f"{name}(" in text for text in EXPRESSIONS)}
    assert tried == known_calls()


def test_an_unknown_call_is_taken_from_the_engine() -> None:
    assert float(work(3).evaluate("norm(v)")) == pytest.approx(2.236)


def test_what_is_no_arithmetic_is_refused() -> None:
    with pytest.raises(ValueError, match="not arithmetic"):
        work(3).evaluate("w[0] if 1 < 2 else w[1]")


def test_a_student_carries_rounded_steps_forward() -> None:
    bank = builtin_bank()
    item = "additive-all-positions"
    subject = LintSubject(bank.load(item), "0", bank.registry(), 8, bank.path(item))
    differing = 0
    for variant in subject.variants:
        worked, exact = worked_answers(subject, variant, as_typed=True), right_answers(variant)
        assert set(worked) == {"e", "w"}
        differing += worked != exact
    assert differing, "rounding to two places never mattered, so the rule tests nothing"


# --- what is typed ----------------------------------------------------------------------------


def part(kind: str, array: FloatArray) -> Part:
    size = len(array.data)
    return Part("answer", kind, 1.0, key=array, settings={"places": [2] * size, "lower": [], "upper": []})


def test_typed_values_have_no_negative_zero_and_stay_in_shape() -> None:
    assert answer_text(FloatArray((), (-0.001,)), [2]) == "0.00"
    assert answer_text(FloatArray((2,), (0.5, -1.0)), [2, 1]) == "[0.50, -1.0]"
    assert answer_text(FloatArray((2, 2), (1.0, 2.0, 3.0, 4.0)), [0] * 4) == "[[1, 2], [3, 4]]"


def test_notations_of_numbers_vectors_and_matrices() -> None:
    number = list(notations(part("number", FloatArray((), (-0.25,))), "-0.25"))
    assert {"\u22120.25", "-.25", "-0.25e0", "-25/100"} <= set(number)
    vector = list(notations(part("vector", FloatArray((2,), (0.5, -1.0))), "[0.50, -1.00]"))
    assert {"(0.50, -1.00)", "0.50, -1.00", "0.50 -1.00", "[.50, -1.00]"} <= set(vector)
    matrix = list(notations(part("matrix", FloatArray((2, 2), (1.0, 2.0, 3.0, 4.0))), "[[1, 2], [3, 4]]"))
    assert {"1, 2; 3, 4", "1 2\n3 4"} <= set(matrix)


def test_a_step_whose_tolerance_is_too_small_is_the_one_that_is_named(spoiler: Any) -> None:
    def strict(data: dict[str, Any]) -> None:
        data["steps"][2]["answer"] |= {"tolerance": 0.005, "working_decimals": 2}
        data["steps"][2]["follow_through"] = False

    (found,) = working.check(spoiler.subject("l16-full-pass", strict, seeds=40))
    assert found.expected is not None
    assert found.expected.startswith("full marks for [")
    assert found.line is not None
    assert found.source_line.strip().startswith("answer:")
