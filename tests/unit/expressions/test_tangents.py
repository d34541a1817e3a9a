"""Derivatives by tangents against autograd through torch, and against differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import reference
from engine.expressions.functions import FUNCTIONS
from engine.expressions.language import evaluate
from reference.tangents import TangentArray, gradients_of, plain

Arrays = list[np.ndarray]
MASK = np.array([[True, False, True], [False] * 3, [True] * 3, [False, True, True]])


def drawn(*shapes: tuple[int, ...], seed: int = 0) -> Arrays:
    rng = np.random.default_rng(seed)
    return [rng.normal(size=shape) for shape in shapes]


REFERENCE: dict[str, tuple[Callable[..., Any], tuple[tuple[int, ...], ...]]] = {
    "softmax": (lambda x: reference.softmax(x, 0, 0.7), ((4, 3),)),
    "masked_softmax": (lambda x: reference.masked_softmax(x, MASK), ((4, 3),)),
    "sdpa": (reference.sdpa, ((4, 5), (6, 5), (6, 2))),
    "sdpa, batches": (reference.sdpa, ((3, 4, 5), (3, 6, 5), (3, 6, 2))),
    "sdpa, batches of queries": (reference.sdpa, ((3, 4, 5), (6, 5), (6, 2))),
    "sdpa, batches of keys": (reference.sdpa, ((4, 5), (3, 6, 5), (3, 6, 2))),
    "self_attention": (
        lambda *a: reference.self_attention(*a, causal=True), ((4, 5), (5, 3), (5, 3), (5, 2)),
    ),
    "multi_head": (lambda *a: reference.multi_head(*a, 2), ((4, 6), (6, 4), (6, 4), (6, 8), (8, 6))),
    "additive_scores": (reference.additive_scores, ((3,), (4, 5), (6, 3), (6, 5), (6,))),
    "concat_scores": (reference.concat_scores, ((3,), (4, 5), (6, 8), (6,))),
    "bilinear_scores": (reference.bilinear_scores, ((3,), (4, 5), (3, 5))),
    "dot_scores": (reference.dot_scores, ((2, 3), (2, 4, 3))),
    "context": (reference.context, ((2, 4), (2, 4, 3))),
    "context of one row": (reference.context, ((4,), (4, 3))),
    "rnn_forward": (reference.rnn_forward, ((4, 3), (2, 2), (2, 3), (2,))),
    "rnn_forward, tanh": (lambda *a: reference.rnn_forward(*a, "tanh"), ((4, 3), (2, 2), (2, 3), (2,))),
    "a row times matrices": (lambda a, b: a @ b, ((3,), (3, 3, 2))),
    "matrices times a column": (lambda a, b: a @ b, ((3, 2, 3), (3,))),
    "a matrix times matrices": (lambda a, b: a @ b, ((2, 3), (4, 3, 2))),
    "a row times a column": (lambda a, b: (a @ b)[..., None], ((3,), (3,))),
    "softmax_jacobian": (reference.softmax_jacobian, ((2, 4),)),
    "softmax_vjp": (reference.softmax_vjp, ((2, 4), (2, 4))),
    "grad_attention": (lambda *a: reference.grad_attention(*a).dK, ((4, 5), (6, 5), (6, 2), (4, 2))),
    "chain_prob": (lambda p: reference.chain_prob(1 / (1 + p * p)), ((2, 4),)),
}  # fmt: skip


@pytest.mark.parametrize("name", REFERENCE)
def test_gradients_through_the_reference_are_those_of_autograd(name: str) -> None:
    function, shapes = REFERENCE[name]
    arrays = drawn(*shapes)
    leaves = [torch.tensor(array, requires_grad=True) for array in arrays]
    result = function(*leaves)
    (cotangent,) = drawn(tuple(result.shape), seed=1)
    due = torch.autograd.grad((result * torch.tensor(cotangent)).sum(), leaves)
    for got, right in zip(gradients_of(function, arrays, cotangent), due, strict=True):
        np.testing.assert_allclose(got, right.numpy(), rtol=1e-12, atol=1e-13)


def test_the_logistic_function_has_its_slope_where_its_two_branches_meet() -> None:
    arrays = [np.zeros(3), np.zeros(2), np.zeros((2, 2)), np.ones((2, 3))]
    (gradient, *_) = gradients_of(reference.rnn_step, arrays, np.ones(2))
    np.testing.assert_allclose(gradient, 0.5)


# Every function of expressions that computes with numbers; x and y are vectors of 4, M is 3 by 4.
EXPRESSIONS = [
    "M @ x", "matmul(M, transpose(M))", "matvec(M, x)", "dot(x, y)", "outer(x, y)", "tanh(x)", "sigmoid(x)",
    "relu(x)", "exp(x)", "log(x * x)", "log2(x * x)", "log10(x * x)", "sqrt(x * x + 1)", "abs(x)", "sum(M)",
    "sum(M, 0)", "mean(M)", "mean(M, 1)", "prod(x)", "max(M)", "min(M)", "norm(M)", "row_norms(M)",
    "cumsum(M)", "softmax(M, 0, 2)", "masked_softmax(x, [1, 0, 1, 1])", "dot_scores(x, M)",
    "scaled_dot_scores(x, M)", "bilinear_scores(x, M, outer(x, y))", "additive_scores(x, M, M, M, M @ y)",
    "concat_scores(x, M, beside(M, M), M @ y)", "alignment_vector(x, y, M, M)", "context(M @ x, M)",
    "sdpa(M, M, M)", "sdpa(x, M, M, [1, 0, 1])", "softmax_jacobian(x)", "softmax_vjp(x, y)",
    "grad_q(M, M, M, M)", "grad_k(M, M, M, M)", "grad_v(M, M, M, M)", "base2(x)", "linear_norm(x)",
    "rank_norm(x)", "sigmoid_norm(x)", "softmax_all(M)", "rnn_step(x, y, outer(x, x), outer(y, y))",
    "self_attention(M, outer(x, x), outer(x, y), outer(y, y), causal=True)",
    "multi_head(M, outer(x, x), outer(x, y), outer(y, y), outer(x, y), 2)", "chain_prob(1 / (1 + x * x))",
    *(
        f"decoder_{part}(y, x, M, outer(x, x), outer(x, y), x, beside(outer(x, x), outer(y, y)), "
        "outer(x, y), M)"
        for part in ("scores", "weights", "context", "state", "probabilities")
    ),
    "reverse(x)", "sort(x)", "sort(x, descending=True)", "row(M, -1)", "column(M, 1)", "column(x)",
    "entry(M, 1, 2)", "take(x, [2, 0])", "with_row(M, 1, x)", "first(M)", "last(x)", "rows(M, 0, 2)",
    "columns(M, 1, 3)", "concat(x, 2, y)", "stack(x, y)", "[x[0], x[1] * y[2]]", "diagonal(x)",
    "diagonal(outer(x, y))", "where(x > 0, x * x, y)", "M[1:, :2]", "-x / y", "2 ** x", "x ** 3",
    "(x * x) ** y",
    "M / sum(M, 0)[0]", "x - 1 / y", "x % 10", "max(x[0], x[1])",
]  # fmt: skip
# of tokens, words, counts and truth values; steps, which no small change moves; arrays of their own
NOT_SMOOTH = {
    "round", "floor", "ceil", "argmax", "argmin", "argsort", "size", "width", "identity", "zeros", "ones",
    "one_hot", "number", "causal_mask", "hard_alignment", "aligned_positions", "threshold_alignment", "hard",
    "words", "greedy_decode", "beam_search", "beam_survivors", "best_sequence", "sequence_prob", "step_probs",
    "second_choice", "step_max", "step_max_prob", "count_params", "count_ops", "sequential_depth", "all",
    "any", "same", "distinct", "symmetric", "between", "whole",
}  # fmt: skip


def test_every_function_of_numbers_is_tried() -> None:
    searches = {name for name in FUNCTIONS if name.startswith(("beam_", "mistaken_"))}
    tried = {name for name in FUNCTIONS if any(f"{name}(" in text for text in EXPRESSIONS)}
    assert set(FUNCTIONS) == tried | NOT_SMOOTH | searches


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_derivatives_of_expressions_are_those_of_differences(text: str) -> None:
    arrays = drawn((4,), (4,), (3, 4), seed=5)

    def value(*given: Any) -> Any:
        return evaluate(text, dict(zip("xyM", given, strict=True)))

    (cotangent,) = drawn(np.shape(value(*arrays)), seed=6)
    due = []
    for place, array in enumerate(arrays):
        slopes = np.zeros(array.shape)
        for index in np.ndindex(array.shape):
            sides = []
            for step in (1e-5, -1e-5):
                moved = array.copy()
                moved[index] += step
                sides.append(np.sum(value(*arrays[:place], moved, *arrays[place + 1 :]) * cotangent))
            slopes[index] = (sides[0] - sides[1]) / 2e-5
        due.append(slopes)
    for got, slopes in zip(gradients_of(value, arrays, np.asarray(cotangent)), due, strict=True):
        np.testing.assert_allclose(got, slopes, rtol=2e-6, atol=2e-6)


def test_rounding_moves_nothing() -> None:
    (gradient,) = gradients_of(lambda x: np.round(x) + np.floor(x) * np.sign(x), drawn((3,)), np.ones(3))
    assert not gradient.any()


def test_values_are_those_of_plain_arrays() -> None:
    (x,) = drawn((3, 4))
    followed = TangentArray(x, np.zeros((0, 3, 4)))
    assert (followed.shape, followed.ndim, followed.size, len(followed)) == ((3, 4), 2, 12, 3)
    assert np.array_equal(plain(reference.softmax(followed)), reference.softmax(x))
    assert plain("word") == "word"


@pytest.mark.parametrize("function", [np.linalg.inv, np.fft.fft, np.var, np.sinh, np.add.accumulate])
def test_no_derivative_is_lost_silently(function: Callable[..., Any]) -> None:
    with pytest.raises(TypeError):
        function(TangentArray(np.eye(3), np.zeros((0, 3, 3))))
