"""Each ready relation holds of a function that has it, and is broken by one that hasn't."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import engine.exercises
from engine.code import CodeExercise
from engine.code.exercise import RubricCheck
from engine.code.plan import group_key
from engine.code.plan_builder import ExactValues
from engine.exercises import (
    Exercise,
    Relation,
    RelationCall,
    array,
    causal,
    in_range_of,
    increasing_in,
    keeps_norm,
    linear_in,
    not_negative,
    numbers,
    permutation_equivariant,
    permutation_invariant,
    positive,
    probabilities,
    relation,
    rows_independent,
    scale_invariant,
    scores,
    shift_invariant,
    sums_to_one,
)
from engine.model import GradeReport, Verdict
from engine.runner import Limits

Grade = Callable[[CodeExercise, str], GradeReport]
X = {"x": array("n d", scores())}
MIX = {"w": array("m n", probabilities()), "V": array("n d", scores())}
SOFTMAX = "e = np.exp(x - x.max(-1, keepdims=True)); r = e / e.sum(-1, keepdims=True)"

CASES: dict[str, tuple[Relation, Any, str, str]] = {
    "sums": (sums_to_one(), X, SOFTMAX, "r = x / 2"),
    "columns": (sums_to_one(axis=0), X, "e = np.exp(x); r = e / e.sum(0)", SOFTMAX),
    "not negative": (not_negative(), X, "r = x * x", "r = x * x - 1"),
    "range": (in_range_of("V"), MIX, "r = w @ V", "r = 2 * (w @ V)"),
    "shift": (shift_invariant("x"), X, SOFTMAX, "r = x / 2 + 1"),
    "scale": (scale_invariant("x"), X, "r = x / np.abs(x).sum()", "r = x + 1"),
    "equivariant": (permutation_equivariant("x"), X, "r = x * 2", "r = x * np.arange(len(x))[:, None]"),
    "invariant": (permutation_invariant({"w": 1, "V": 0}), MIX, "r = w @ V", "r = w @ np.cumsum(V, 0)"),
    "causal": (causal("x"), X, "r = np.cumsum(x, 0)", "r = x + x.sum(0)"),
    "linear": (linear_in("V"), MIX, "r = w @ V", "r = w @ (V + 1)"),
    "rows": (rows_independent("x"), X, SOFTMAX, "r = x - x.mean(0)"),
    "increasing": (increasing_in("x"), X, "r = x * 3", "r = -x"),
    "norm": (keeps_norm("x"), X, "r = -x[:, ::-1]", "r = x / 2"),
}  # fmt: skip


def _source(arguments: Any, body: str) -> str:
    return f"import numpy as np\n\n\ndef f({', '.join(arguments)}):\n    {body}\n    return r\n"


def _exercise(relation: Relation, arguments: Any, body: str, **more: Any) -> CodeExercise:
    space: dict[str, Any] = {}
    exec(_source(arguments, body), space)
    inputs = Exercise(arguments, relations=[relation], reference=space["f"], **more)
    judged = inputs.properties[relation.name]
    key = group_key(relation.name, relation.cases)
    check = RubricCheck("law", judged, key, 1.0, True, (), judged.sentence)
    signature = f"f({', '.join(arguments)})"
    return CodeExercise("f", "v", "f", "f", signature, inputs, (check,), (), {}, "", Limits())


def _law(report: GradeReport) -> Any:
    (check,) = (check for check in report.checks if check.id == "law")
    return check


@pytest.mark.parametrize("case", CASES)
def test_it_holds_of_a_right_program_and_breaks_for_a_wrong_one(case: str, grade: Grade) -> None:
    relation, arguments, right, wrong = CASES[case]
    exercise = _exercise(relation, arguments, right)
    assert _law(grade(exercise, _source(arguments, right))).verdict is Verdict.PASSED
    check = _law(grade(exercise, _source(arguments, wrong)))
    assert check.verdict is Verdict.FAILED and relation.sentence in check.message


@pytest.mark.parametrize("case", CASES)
def test_a_reference_that_breaks_it_is_a_fault_of_the_author(case: str) -> None:
    relation, arguments, _, wrong = CASES[case]
    with pytest.raises(ValueError, match="the reference itself breaks the relation"):
        _exercise(relation, arguments, wrong).inputs.plan(b"seed")


def test_every_ready_relation_is_tried_here() -> None:
    tree = ast.parse(inspect.getsource(engine.exercises.ready_relations))
    ready = {
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and ast.unparse(node.returns or node) == "Relation"
    }
    tried = inspect.getsource(inspect.getmodule(test_every_ready_relation_is_tried_here))  # type: ignore[arg-type]
    assert len(ready) >= 12 and ready <= set(engine.exercises.__all__)
    assert {name for name in ready if f'": ({name}(' not in tried} == set()


def test_the_worst_entry_is_shown(grade: Grade) -> None:
    relation, arguments, right, _ = CASES["shift"]
    exercise = _exercise(relation, arguments, right)
    wrong = "e = np.exp(x); r = e / e.sum(-1, keepdims=True); r[0, 0] += x[0, 0] / 8"
    check = _law(grade(exercise, _source(arguments, wrong)))
    assert " an entry is " in check.message and " instead of " in check.message


def test_a_plan_is_a_function_of_its_seed() -> None:
    inputs = Exercise(
        {"x": array("... n d", scores()), "gain": array("d", positive())}, reference=lambda x, gain: x * gain
    )
    assert inputs.plan(b"a").id == inputs.plan(b"a").id != inputs.plan(b"b").id


@pytest.mark.parametrize("seed", range(5))
def test_gradients_by_differences_are_those_of_autograd(seed: int) -> None:
    import torch

    inputs = Exercise(MIX, reference=lambda w, V: np.tanh(w @ V) * 2)
    plan = inputs.plan(bytes([seed]))
    cases = [case for case in plan.cases if case.kind == "gradient"]
    assert cases
    for case in cases:
        assert (
            case.expected is not None and case.expected.gradients is not None and case.cotangents is not None
        )
        leaves = [torch.tensor(array, requires_grad=True) for array in case.args]
        total = (torch.tanh(leaves[0] @ leaves[1]) * 2 * torch.from_numpy(case.cotangents[0])).sum()
        for got, right in zip(case.expected.gradients, torch.autograd.grad(total, leaves), strict=True):
            np.testing.assert_allclose(got.values, right.numpy(), atol=got.slack / 100)


KINKED: dict[str, tuple[Any, Callable[[Any], Any], Callable[[Any], Any]]] = {
    "abs": (numbers(), np.abs, lambda x: x.abs()),
    "relu": (numbers(), lambda x: np.maximum(x, 0), lambda x: x.relu()),
    "max": (numbers(1), lambda x: x.max(axis=-1), lambda x: x.amax(dim=-1)),
    "top 2": (
        numbers(1),
        lambda x: np.sort(x, axis=-1)[..., -2:].sum(axis=-1),
        lambda x: x.topk(2).values.sum(dim=-1),
    ),
    # kinks anywhere: some lie within a step of the differences
    "relu of a sine": (numbers(), lambda x: np.maximum(np.sin(200 * x), 0), lambda x: (200 * x).sin().relu()),
}


@pytest.mark.parametrize("name", KINKED)
def test_gradients_are_expected_beside_kinks_only(name: str) -> None:
    import torch

    entries, right, in_torch = KINKED[name]
    inputs = Exercise({"x": array("n d", entries)}, reference=right, sizes={"n": 2, "d": 3})
    for seed in range(25):
        for case in (case for case in inputs.plan(bytes([seed])).cases if case.kind == "gradient"):
            assert case.expected is not None and case.expected.gradients and case.cotangents is not None
            x, (due,) = torch.tensor(case.args[0], requires_grad=True), case.expected.gradients
            (got,) = torch.autograd.grad((in_torch(x) * torch.from_numpy(case.cotangents[0])).sum(), x)
            np.testing.assert_allclose(got.numpy(), due.values, atol=due.slack)


def test_an_example_at_a_kink_is_judged_elsewhere() -> None:
    inputs = Exercise({"x": array("n")}, reference=np.abs).with_examples([{"x": [0, 1, 2]}])
    cases = [case for case in inputs.plan(b"seed").cases if case.kind == "gradient"]
    assert len(cases) == 3 and not any(case.public or (case.args[0] == 0).any() for case in cases)


def _scored(relation: Relation, **more: Any) -> CodeExercise:
    arguments = {"Q": array("m d"), "K": array("n d")}
    return _exercise(relation, arguments, f"x = Q @ K.T / 3; {SOFTMAX}", **more)


SHIFTED = "Adding one vector to all keys must change nothing."


@pytest.mark.parametrize("by", [2.0**10, 2.0**20, 2.0**26])
def test_close_follows_what_rounding_does_to_large_arguments(by: float, grade: Grade) -> None:
    @relation(SHIFTED, name="law")
    def shifted(call: RelationCall) -> bool:
        return call.close(call.again(K=call.K + by), call.result)

    exercise = _scored(shifted)
    for right in ("(Q / 3) @ K.T", "np.einsum('md,nd->mn', Q, K) * (1 / 3)", "(Q @ (K / 3).T)"):
        source = _source(("Q", "K"), f"x = {right}; {SOFTMAX}")
        assert _law(grade(exercise, source)).verdict is Verdict.PASSED
    # rounded to single precision, and a bound on how large a score may be
    for wrong in ("(Q @ K.T / 3).astype('float32').astype('float64')", "np.clip(Q @ K.T / 3, -500, 500)"):
        source = _source(("Q", "K"), f"x = {wrong}; {SOFTMAX}")
        assert _law(grade(exercise, source)).verdict is Verdict.FAILED


def test_a_law_on_a_large_variation_has_that_tolerance_too(grade: Grade) -> None:
    far = {"far": lambda arguments: {"K": 2.0**28 + arguments["K"] / 7, "Q": arguments["Q"] / 7}}

    @relation(SHIFTED, name="law")
    def shifted(call: RelationCall) -> bool:
        return call.close(call.again(K=call.K - 2.0**27), call.result)

    exercise = _scored(shifted.on("far"), variations=far)
    for right in ("(Q / 3) @ K.T", "(K @ Q.T / 3).T", "np.einsum('md,nd->mn', Q, K / 3)"):
        assert _law(grade(exercise, _source(("Q", "K"), f"x = {right}; {SOFTMAX}"))).verdict is Verdict.PASSED
    wrong = _source(("Q", "K"), f"x = Q @ (K - 1e-12 * K * np.abs(K)).T / 3; {SOFTMAX}")
    assert _law(grade(exercise, wrong)).verdict is Verdict.FAILED


def test_a_law_can_be_asked_of_leading_axes(grade: Grade) -> None:
    @relation("The mean must be that of all entries.", name="law")
    def mean(call: RelationCall) -> bool:
        return call.close(call.result, call.x.mean())

    exercise = _exercise(
        mean.on("batch"), {"x": array("... n d", scores())}, "r = x.mean()", returns="number"
    )
    plan = exercise.inputs.plan(b"seed")
    bases = [plan.cases[group.members[0]] for group in plan.groups["law@batch"]]
    assert [case.args[0].ndim for case in bases] == [3, 4] and not any(case.public for case in bases)
    assert _law(grade(exercise, _source(("x",), "r = x.mean()"))).verdict is Verdict.PASSED
    last_only = _source(("x",), "r = x.reshape(-1, *x.shape[-2:])[-1].mean()")  # right for two axes
    assert _law(grade(exercise, last_only)).verdict is Verdict.FAILED


def test_no_law_is_asked_of_leading_axes_that_no_array_has() -> None:
    with pytest.raises(ValueError, match="no variation is called 'batch'"):
        Exercise({"x": array("n")}, relations=[sums_to_one().on("batch")])


def test_leading_axes_that_differ_must_be_refused() -> None:
    arguments = {"x": array("... n d"), "y": array("... d"), "z": array("d")}
    inputs = Exercise(arguments, reference=lambda x, y, z: x + y[..., None, :] + z, refuses=True)
    cases = {case.id: case for case in inputs.plan(b"seed").cases if case.id.startswith("lead-")}
    shapes = sorted((case.args[0].shape[0], case.args[1].shape[0]) for case in cases.values())
    assert shapes == [(1, 2), (2, 1), (2, 3), (3, 2)]
    assert all(case.kind == "refused" and case.public for case in cases.values())
    alone = Exercise({"x": array("... n d")}, reference=lambda x: x, refuses=True).plan(b"seed")
    assert not [case for case in alone.cases if case.id.startswith("lead-")]


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_tolerances_hold_what_rounding_does(dtype: Any) -> None:
    """Results computed in the narrow dtype lie within the tolerance, those of a known mistake far outside."""

    def softmax(x: Any) -> Any:
        e = np.exp(x - x.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)

    inputs = Exercise(X, reference=softmax)
    for seed in range(20):
        x = scores(4)(ExactValues(bytes([seed])), (3, 6)).astype(dtype)
        expected = inputs.expected((x,))
        assert np.abs(softmax(x) - expected.values).max() <= expected.slack
        assert np.abs(np.exp2(x) / np.exp2(x).sum(-1, keepdims=True) - expected.values).max() > expected.slack
