"""Weights of public inputs beside the right ones: which are kept, and that nothing hidden is among them."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from engine.code import CodeExercise
from engine.code.comparison import MOST_CASES
from engine.code.explain.in_process import TrustedRunner
from engine.code.plan import InputPlan
from engine.grading import grade_code
from engine.model import CodeSubmission, GradeReport, Mode, Outcome
from engine.store.sql_tables import decode, encode
from tests.oracles.loops import softmax as softmax_by_loops

Grade = Callable[..., GradeReport]
RIGHT = """
import numpy as np
def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)
"""
BASE_TWO = RIGHT.replace("np.exp(", "np.exp2(")
NAN = "import numpy as np\ndef softmax(x, axis=-1):\n    return x * np.nan\n"
RAISES = "def softmax(x, axis=-1):\n    raise ValueError\n"
TRANSPOSED = RIGHT.replace(
    "return e / e.sum(axis=axis, keepdims=True)",
    "return (e / e.sum(-1)[:, None]).T",
)
SQUARE = [[2, 1, 0], [-1, 3, 0.5], [0, 1.5, 2.5]]


def test_right_code_keeps_one_input_and_nothing_differs(grade: Grade) -> None:
    report = grade("softmax", RIGHT)
    (kept,) = report.weights
    assert report.outcome is Outcome.RIGHT
    assert (kept.call, kept.place, kept.differing) == (f"softmax({json.dumps(SQUARE)})", "", ())
    expected = [value for row in SQUARE for value in softmax_by_loops(np.array(row, float))]
    assert kept.right.shape == (3, 3) and kept.right.data == pytest.approx(expected, abs=1e-8)
    assert kept.got.data == pytest.approx(expected, abs=1e-8)


def test_wrong_weights_come_first_and_name_their_entries(grade: Grade) -> None:
    kept = grade("softmax", BASE_TWO).weights
    assert len(kept) == MOST_CASES and len({one.call for one in kept}) == MOST_CASES
    powers = [2.0**value for value in SQUARE[0]]
    assert kept[0].got.data[:3] == pytest.approx([power / sum(powers) for power in powers])
    assert kept[0].differing == tuple(range(9))
    row = next(one for one in kept if one.call == "softmax([2, 1, 0])")
    assert row.got.shape == (1, 3), "a vector is one row"


def test_nan_is_kept_and_never_right(grade: Grade) -> None:
    first = grade("softmax", NAN).weights[0]
    assert all(map(math.isnan, first.got.data)) and first.differing == tuple(range(9))


@pytest.mark.parametrize("source", [RAISES, "import numpy as np\ndef softmax(x, axis=-1):\n    return 1\n"])
def test_where_no_weights_came_back_none_are_kept(grade: Grade, source: str) -> None:
    assert grade("softmax", source).weights == ()


def test_another_shape_is_left_out(grade: Grade) -> None:
    calls = {one.call for one in grade("softmax", TRANSPOSED).weights}
    assert calls and not any("], [-1, 3, 0.5]]" in call for call in calls), "2 x 3 came back as 3 x 2"


def test_what_is_no_weight_is_not_taken_for_one(grade: Grade) -> None:
    context = "import numpy as np\ndef context(w, V):\n    return w @ V\n"
    assert grade("context", context).weights == ()


def test_only_public_inputs_are_ever_kept(
    exercise_of: Callable[[str], CodeExercise],
    plan_of: Callable[[str, int], InputPlan],
    submission_of: Callable[[str], CodeSubmission],
) -> None:
    exercise, plan = exercise_of("softmax"), plan_of("softmax", 0)
    hidden = replace(plan, cases=tuple(replace(case, public=False) for case in plan.cases))
    with TrustedRunner() as runner:
        report = grade_code(exercise, hidden, submission_of(BASE_TWO), runner, mode=Mode.MARKS, student="s")
    assert report.weights == ()


def test_they_are_stored_and_a_report_from_before_has_none(grade: Grade) -> None:
    report = grade("softmax", BASE_TWO)
    assert decode(GradeReport, encode(report), "here") == report
    old = json.loads(encode(report))
    del old["weights"]
    assert decode(GradeReport, json.dumps(old), "here") == replace(report, weights=())


def test_where_everything_is_hidden_the_row_of_zeros_is_weights_too(grade: Grade) -> None:
    source = """
import numpy as np
def masked_softmax(x, mask):
    e = np.where(mask, np.exp(x), 0)
    return e / e.sum(axis=-1, keepdims=True)
"""
    report = grade("masked-softmax", source)
    row = next(one for one in report.weights if any(map(math.isnan, one.got.data)))
    assert row.right.data[row.differing[0]] == 0.0
