"""Keys that the numbers of the text give are found: each case is worked out here with ``math`` alone."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from engine.authoring.importing.suggest_keys import (
    TYPED_BY_HAND,
    AuthorKey,
    find_values,
    read_value,
    suggested_expressions,
    suggestion_lines,
)
from engine.expressions.language import evaluate
from engine.expressions.values import array_of


def keys(words: str, right: str) -> list[str]:
    value = read_value(right)
    assert value is not None
    return suggested_expressions(find_values(words), value)


def softmax(scores: Sequence[float]) -> list[float]:
    total = sum(math.exp(score) for score in scores)
    return [math.exp(score) / total for score in scores]


def dot(a: Sequence[float], b: Sequence[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


def listed(numbers: Sequence[float]) -> str:
    return "[" + ", ".join(f"{x:.3f}" for x in numbers) + "]"


Q, K, KEYS, VALUES = [1.0, 2.0, 0.5], [0.3, -1.0, 2.0], [[1.0, 0.0], [0.0, 3.0]], [[1.0, 2.0], [3.0, 5.0]]
SCORES = [dot([2.0, 1.0], row) for row in KEYS]
SCALED = [score / math.sqrt(2) for score in SCORES]
MIXED = [dot(softmax(SCALED), [row[j] for row in VALUES]) for j in range(2)]

CASES = [
    ("Scores are 2, 1 and 0. The first weight?", f"{softmax([2, 1, 0])[0]:.3f}", "softmax([2, 1, 0])[0]"),
    (r"e = (2, 1, 0)^T, all weights?", listed(softmax([2, 1, 0])), "softmax([2, 1, 0])"),
    ("q = [1, 2, 0.5], k = [0.3, -1, 2]: q·k?", f"{dot(Q, K):.3f}", "dot([1, 2, 0.5], [0.3, -1, 2])"),
    (
        r"q = (1, 2, 0.5) and k = \begin{pmatrix}0.3\\-1\\2\end{pmatrix}, scaled?",
        f"{dot(Q, K) / math.sqrt(3):.3f}",
        "/ sqrt(3)",
    ),
    (
        "weights (0.2, 0.8) and states (1.5, -2.5)",
        f"{dot([0.2, 0.8], [1.5, -2.5]):.3f}",
        "dot([0.2, 0.8], [1.5, -2.5])",
    ),
    ("w = [0.2, 0.8], H = [[1, 2], [3, 5]]", listed([0.2 * 1 + 0.8 * 3, 0.2 * 2 + 0.8 * 5]), "context("),
    (
        "scores (1, 3), values (2, 5): the mean",
        f"{dot(softmax([1, 3]), [2, 5]):.4f}",
        "dot(softmax([1, 3]), [2, 5])",
    ),
    ("tanh of 0.5?", f"{math.tanh(0.5):.3f}", "tanh(0.5)"),
    ("the product is 12 and d_k = 50", f"{12 / math.sqrt(50):.3f}", "12 / sqrt(50)"),
    ("Probabilities 0.5, 0.4 and 0.3", "0.06", "prod([0.5, 0.4, 0.3])"),
    (r"K = \begin{bmatrix} 1 & 0 \\ 0 & 3 \end{bmatrix}, q = (2, 1)", listed(SCALED), "scaled_dot_scores("),
    (r"K = [[1, 0], [0, 3]], q = (2, 1), weights", listed(softmax(SCALED)), "softmax(scaled_dot_scores("),
    ("q = (2, 1), K = [[1, 0], [0, 3]], V = [[1, 2], [3, 5]]", listed(MIXED), "sdpa("),
]


@pytest.mark.parametrize(("words", "right", "part"), CASES, ids=[case[2] for case in CASES])
def test_a_key_is_found_and_its_expression_gives_it(words: str, right: str, part: str) -> None:
    found = keys(words, right)
    assert any(part in expression for expression in found), found
    value = read_value(right)
    assert value is not None
    written = [float(entry) for row in value.rows for entry in row]
    for expression in found:
        given = array_of(evaluate(expression, {})).data
        assert all(abs(a - b) < 0.0006 for a, b in zip(given, written, strict=True))


@pytest.mark.parametrize(
    ("words", "right"),
    [
        ("Scores are 2, 1 and 0.", "0.664"),  # not what softmax gives
        ("The year 1914?", "1918"),
        ("Scores are 2, 1 and 0.", "[0.665, 0.245]"),
        ("Use 0.5.", "0.5"),
    ],
)
def test_no_expression_is_made_up(words: str, right: str) -> None:
    assert keys(words, right) == []


def test_a_single_digit_must_be_met_exactly() -> None:
    assert keys("tanh of 2.5?", "1") == []
    assert keys("p = 0.5, then 0.4", "0.2") == ["0.5 * 0.4"]


def test_exact_matches_stand_before_rounded_ones() -> None:
    assert keys("weights (0.7, 0.3), values (1, 5)", "2.2") == ["dot([0.7, 0.3], [1, 5])"]


@pytest.mark.parametrize(
    ("words", "expressions"),
    [
        ("x = [1, 2; 3]", ["[1, 2, 3]"]),
        ("a (1 2 3) b", ["[1, 2, 3]"]),
        (r"\left[ 0.1,\, .2 \right]", ["[0.1, 0.2]"]),
        (r"\begin{pmatrix} 1 & 2 \end{pmatrix}", ["[1, 2]"]),
        ("[[1, 2], [3, 4]] and [5, 6]", ["[[1, 2], [3, 4]]", "[5, 6]"]),
        ("2, 1 and 0", ["[2, 1, 0]"]),
        ("3 and 4", ["[3, 4]", "3", "4"]),
        ("x_1 = 0.3, h_{2} = \u22120.4, y^2", ["0.3", "-0.4"]),
        ("Round to 3 decimal places, 2 significant digits", []),
        ("[1, 2], [3", ["[1, 2]", "3"]),
        ("[[1, 2], [3]]", []),
        ("", []),
    ],
)
def test_numbers_of_a_text(words: str, expressions: list[str]) -> None:
    assert [value.expression for value in find_values(words)] == expressions


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("0.5", "number"),
        (" $-3$ ", "number"),
        ("[1, 2]", "vector"),
        ("(1, 2)^\\top", "vector"),
        ("[[1, 2], [3, 4]]", "matrix"),
        ("1, 2", None),
        ("about 3", None),
        ("", None),
    ],
)
def test_what_an_option_is(text: str, kind: str | None) -> None:
    value = read_value(text)
    assert (value.kind if value else None) == kind


def test_comment_lines() -> None:
    assert suggestion_lines("no numbers", AuthorKey("number", "3")) == []
    assert suggestion_lines("the 3", AuthorKey("single_choice", "three")) == []
    assert suggestion_lines("the 3", None) == []
    (only,) = suggestion_lines("In 1914?", AuthorKey("number", "1918"))
    assert only.startswith(TYPED_BY_HAND)
    lines = suggestion_lines("tanh of 0.5", AuthorKey("single_choice", "0.462"))
    assert lines[2] == '  key: "tanh(0.5)"'
    assert "distractors" in lines[3]


@pytest.mark.parametrize(
    "text", ["(" * 20_000, "[1, " * 5000, "1 " * 10_000, "1, " * 9000, "-" * 9000, "1e" * 9000]
)
def test_long_texts_take_no_longer(text: str) -> None:
    assert len(find_values(text)) <= 10
