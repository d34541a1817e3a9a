"""decoder_step: expected values, gradients, sizes and relations; what a single mistake is told."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import pytest

from engine.code.arguments import flat, rebuilt
from engine.code.explain.counterexample import CandidateInput, simpler
from engine.code.plan import InputPlan, PlanCase
from engine.model import GradeReport, Verdict
from tests.builtin_bank import inputs_of
from tests.oracles.code_exercises import decoder_step
from tests.oracles.differences import gradient

pytestmark = pytest.mark.slow

Plans = Callable[[str, int], InputPlan]
Grade = Callable[..., GradeReport]
ITEM = "decoder-step"
FAMILY = inputs_of("decoder-step")


def _oracle(args: tuple[Any, ...]) -> list[np.ndarray]:
    y, s, H, p = args
    lists = {name: array.astype(float).tolist() for name, array in p.items()}
    found = decoder_step(y.astype(float).tolist(), s.astype(float).tolist(), H.astype(float).tolist(), lists)
    return [np.array(part) for part in found]


def _sizes(case: PlanCase) -> tuple[int, ...]:
    y, s, H, p = case.args
    assert isinstance(y, np.ndarray) and isinstance(s, np.ndarray) and isinstance(H, np.ndarray)
    assert isinstance(p, Mapping)
    return (len(y), len(s), H.shape[1], len(p["v"]), len(H), len(p["Wy"]))


@pytest.mark.parametrize("seed", range(3))
def test_expected_values_are_those_of_loops(seed: int, plan_of: Plans) -> None:
    cases = [case for case in plan_of(ITEM, seed).cases if case.expected is not None]
    assert len(cases) > 60
    for case in cases:
        assert case.expected is not None
        for part, wanted in zip(case.expected.parts, _oracle(case.args), strict=True):
            np.testing.assert_allclose(part.values, wanted, rtol=1e-9, atol=1e-11)


def test_gradients_are_those_of_central_differences(plan_of: Plans) -> None:
    cases = [case for case in plan_of(ITEM, 1).cases if case.cotangents is not None]
    assert len(cases) >= 3
    for case in cases:
        assert case.cotangents is not None and case.expected is not None and case.expected.gradients
        leaves = [np.asarray(leaf) for leaf in flat(case.args)]
        assert len(case.expected.gradients) == len(leaves) == 9

        def total(array: np.ndarray, place: int, case: PlanCase = case, leaves: list[Any] = leaves) -> float:
            changed = rebuilt(case.args, [*leaves[:place], array, *leaves[place + 1 :]])
            pairs = zip(_oracle(changed), case.cotangents or (), strict=True)
            return float(sum((part * weight).sum() for part, weight in pairs))

        for place, (leaf, part) in enumerate(zip(leaves, case.expected.gradients, strict=True)):
            wanted = gradient(partial(total, place=place), leaf)
            np.testing.assert_allclose(part.values, wanted, atol=1e-7)


def test_hidden_sizes_vary_and_a_square_input_is_among_them(plan_of: Plans) -> None:
    drawn = []
    for seed in range(4):
        hidden = [case for case in plan_of(ITEM, seed).cases if re.fullmatch(r"hidden-\d", case.id) and
                  case.kind == "ordinary"]  # fmt: skip
        assert not any(case.public for case in hidden)
        first, second, square = (_sizes(case) for case in hidden)
        assert len(set(first)) == len(set(second)) == 6
        assert len(set(square[:4])) == 1 and square[5] == square[0]
        assert first != second
        drawn += [first, second]
    assert len(set(drawn)) > 4


def test_candidates_are_sound_and_the_first_ones_are_tiny() -> None:
    candidates = FAMILY.candidates()
    assert all(FAMILY.is_valid_input(args) for args in candidates)
    assert sum(np.asarray(leaf).size for leaf in flat(candidates[0])) == 10
    for args in candidates:
        names = FAMILY.axes(args)
        assert [len(axes) for axes in names] == [np.asarray(leaf).ndim for leaf in flat(args)]


def test_an_input_that_shrinks_stays_sound_or_is_seen_not_to_be() -> None:
    args = FAMILY.candidates()[-4]
    neighbours = simpler(CandidateInput(args, FAMILY.axes(args)))
    sound = [found for found in neighbours if FAMILY.is_valid_input(found.args)]
    assert len(sound) > 20
    for found in sound:
        assert len(_oracle(found.args)) == 4


@pytest.mark.parametrize("change", ["empty", "dtype", "missing", "more", "matrix", "short"])
def test_other_inputs_are_not_sound(change: str) -> None:
    y, s, H, p = (value for value in FAMILY.candidates()[2])
    assert isinstance(y, np.ndarray) and isinstance(H, np.ndarray) and isinstance(p, Mapping)
    changed: dict[str, tuple[Any, ...]] = {
        "empty": (y, s, H[:0], p),
        "dtype": (y.astype(np.float32), s, H, p),
        "missing": (y, s, H, {name: array for name, array in p.items() if name != "v"}),
        "more": (y, s, H, {**p, "b": p["v"]}),
        "matrix": (y[np.newaxis], s, H, p),
        "short": (y, s, H),
    }
    assert FAMILY.is_valid_input((y, s, H, p)) and not FAMILY.is_valid_input(changed[change])


def test_inputs_that_must_be_refused_are_not_sound(plan_of: Plans) -> None:
    refused = [case for case in plan_of(ITEM, 0).cases if case.kind == "refused"]
    assert len(refused) >= 5
    assert not any(FAMILY.is_valid_input(case.args) for case in refused)


RIGHT = """import numpy as np


def softmax(x):
    e = np.exp(x - x.max())
    return e / e.sum()


def decoder_step(y, s, H, p):
    sizes = len(p["W"]), len(s)  # numpy would broadcast rows of size 1
    if sizes != (len(p["U"]), len(p["Ws"])) or len(p["Wx"]) != len(s):
        raise ValueError("sizes")
    w = softmax(np.tanh(p["W"] @ s + H @ p["U"].T) @ p["v"])
    c = w @ H
    s_new = np.tanh(p["Wx"] @ np.concatenate([c, y]) + p["Ws"] @ s)
    return w, c, s_new, softmax(p["Wy"] @ s_new)
"""


def test_a_right_function_earns_everything(grade: Grade) -> None:
    report = grade(ITEM, RIGHT)
    assert report.score == report.max_score and not report.diagnosis


def test_a_function_that_looks_at_sizes_only_earns_little(grade: Grade) -> None:
    even = "np.full({0}, 1 / {0}, H.dtype)"
    results = [even.format("len(H)"), "H.mean(axis=0)", "0 * s", even.format("len(p['Wy'])")]
    source = f"import numpy as np\n\n\ndef decoder_step(y, s, H, p):\n    return {', '.join(results)}\n"
    report = grade(ITEM, source)
    assert report.score is not None and report.score <= 0.35 * report.max_score


@pytest.mark.parametrize(
    ("right", "wrong", "check", "told"),
    [
        ("c = w @ H", "c = w[::-1] @ H", "reordered", "reversed-weights"),
        ("c = w @ H", "c = H.sum(axis=0)", "hull", "m-sum"),
        ("np.tanh(p['Wx']", "(p['Wx']", "bounded", "no-outer-tanh"),
        ("p['W'] @ s + H", "0 + H", "added", "ignores-s"),
        ("[c, y]", "[y, c]", "token-alone", "m-concat-order"),
        ("softmax(p['Wy'] @ s_new)", "softmax(p['Wy'] @ s)", "output", "m-out-prev"),
        ("p['W'] @ s + H", "p['W'] @ np.tanh(p['Wx'][:, H.shape[1]:] @ y + p['Ws'] @ s) + H",
         "other-token", "score-from-new"),
    ],
)  # fmt: skip
def test_a_named_check_finds_the_mistake(right: str, wrong: str, check: str, told: str, grade: Grade) -> None:
    source = RIGHT.replace('"', "'")
    assert source.count(right) == 1
    report = grade(ITEM, source.replace(right, wrong))
    failed = {found.id for found in report.checks if found.verdict is Verdict.FAILED}
    assert check in failed and report.score is not None and report.score < report.max_score
    assert [found.misconception for found in report.diagnosis] == [told]


def test_two_mistakes_are_both_told(grade: Grade) -> None:
    source = RIGHT.replace('softmax(p["Wy"] @ s_new)', 'p["Wy"] @ s_new').replace("[c, y]", "[y, c]")
    told = {found.misconception for found in grade(ITEM, source).diagnosis}
    assert told == {"m-concat-order", "m-logits"}


def test_every_result_has_a_cotangent_of_its_own(plan_of: Plans) -> None:
    case = next(case for case in plan_of(ITEM, 0).cases if case.cotangents is not None)
    assert case.expected is not None and case.cotangents is not None
    shapes = [part.values.shape for part in case.expected.parts]
    assert [weight.shape for weight in case.cotangents] == shapes
