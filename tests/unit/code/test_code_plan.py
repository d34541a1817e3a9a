"""Plans: replayable, small, quick, canonical cases first; expected values against loops of our own."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from engine.code import CodeExercise, freeze_plan
from engine.code.arguments import arrays_of
from engine.code.explain.in_process import TrustedRunner
from engine.code.grade import judge_all
from engine.code.observe import PlanObservations, observe
from engine.code.plan import InputPlan
from engine.code.plan_builder import ExactValues
from engine.code.planned_exercise import draw_specs
from engine.runner import CallOutcome, CallStatus, Job
from tests.builtin_bank import inputs_of

pytestmark = pytest.mark.slow

Plans = Callable[[str, int], InputPlan]
ITEMS = ("softmax", "sdpa")
CODE = Path(__file__).parents[3] / "problems" / "code"


@pytest.mark.parametrize("item", ITEMS)
def test_same_seed_same_plan_other_seed_other_plan(
    item: str, exercise_of: Callable[[str], CodeExercise]
) -> None:
    exercise = exercise_of(item)
    one, again, other = (freeze_plan(exercise, seed) for seed in (b"a", b"a", b"b"))
    assert one.id == again.id != other.id
    assert one.calls("f", "numpy") == again.calls("f", "numpy")
    hidden = [
        [
            case.args[0].tobytes()
            for case in plan.cases
            if not case.public and isinstance(case.args[0], np.ndarray)
        ]
        for plan in (one, other)
    ]
    assert not set(hidden[0]) & set(hidden[1])  # nothing hidden is the same for two seeds


@pytest.mark.parametrize("item", ITEMS)
def test_plan_is_the_same_in_every_thread(item: str) -> None:
    found: list[str] = []
    threads = [threading.Thread(target=lambda: found.append(inputs_of(item).plan(b"t").id)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4 and len(set(found)) == 1


@pytest.mark.parametrize("item", ITEMS)
def test_plan_is_small_and_begins_with_a_public_square_case(item: str, plan_of: Plans) -> None:
    for seed in range(20):
        plan = plan_of(item, seed)
        assert 20 <= len(plan.cases) <= 140
        first = plan.cases[0]
        assert first.public and first.id == "square"
        assert first.args[0].shape[-1] == first.args[0].shape[-2]  # type: ignore[union-attr]
        assert plan.groups["runs"][0].members == (0,)
        sizes = [value.size for case in plan.cases for value in case.args if isinstance(value, np.ndarray)]
        assert max(sizes) <= 65 * 65 and sorted(sizes)[len(sizes) // 2] <= 40  # few of them are long
        assert len({case.id for case in plan.cases}) == len(plan.cases)


def test_hidden_sdpa_sizes_are_unequal(plan_of: Plans) -> None:
    for seed in range(20):
        cases = {case.id: case for case in plan_of("sdpa", seed).cases}
        for name in ("first", "second", "third", "masked"):
            Q, K, V = cases[name].args[:3]
            assert len({Q.shape[0], K.shape[0], K.shape[1], V.shape[1]}) == 4


@pytest.mark.parametrize("item", ITEMS)
def test_plan_inputs_are_exact_in_their_dtype(item: str, plan_of: Plans) -> None:
    """Multiples of 1/8 (or plain hot scores): relations between inputs hold without rounding."""
    for seed in range(5):
        for case in plan_of(item, seed).cases:
            if case.id.endswith("-hot"):
                continue
            for value in case.args:
                if isinstance(value, np.ndarray) and value.dtype != np.bool_:
                    # long inputs need finer steps; a half holds no finer one than 1/8 of these sizes
                    parts = value.astype(np.float64) * (8 if value.size < 60 else 256)
                    assert np.array_equal(parts, np.trunc(parts)) or case.id.startswith("longer")


def test_expected_softmax_equals_a_loop(plan_of: Plans) -> None:
    for seed in range(5):
        for case in plan_of("softmax", seed).cases:
            x, axis = np.asarray(case.args[0], dtype=np.float64), (*case.args, -1)[1]
            assert case.expected is not None
            moved = np.moveaxis(x, axis, -1)
            right = np.empty_like(moved)
            for place in np.ndindex(moved.shape[:-1]):
                e = [math.exp(value - max(moved[place])) for value in moved[place]]
                right[place] = [value / math.fsum(e) for value in e]
            got = np.moveaxis(case.expected.values, axis, -1)
            np.testing.assert_allclose(got, right, rtol=1e-12, atol=1e-300)


def test_expected_sdpa_equals_a_loop(plan_of: Plans) -> None:
    for seed in range(5):
        for case in plan_of("sdpa", seed).cases:
            if case.expected is None:
                assert case.kind == "refused"
                continue
            Q, K, V = (np.asarray(value, dtype=np.float64) for value in case.args[:3])
            mask = case.args[3] if len(case.args) > 3 else np.ones((Q.shape[-2], K.shape[-2]), dtype=bool)
            seen = np.broadcast_to(mask, (*Q.shape[:-1], K.shape[-2]))
            for place in np.ndindex(Q.shape[:-1]):
                lead = place[:-1]
                right = _one_query(Q[place], K[lead], V[lead], seen[place])
                # scores of billions lose digits, which the slack of the case allows for
                slack = max(1e-9, case.expected.slack if case.kind == "large" else 0.0)
                np.testing.assert_allclose(case.expected.values[place], right, rtol=1e-9, atol=slack)


def _one_query(q: np.ndarray, K: np.ndarray, V: np.ndarray, seen: np.ndarray) -> list[float]:
    scores = {
        j: math.fsum(a * b for a, b in zip(q, K[j], strict=True)) / math.sqrt(len(q))
        for j in range(len(K))
        if seen[j]
    }
    if not scores:
        return [0.0] * V.shape[1]
    top = max(scores.values())
    weights = {j: math.exp(score - top) for j, score in scores.items()}
    total = math.fsum(weights.values())
    return [math.fsum(w * V[j][c] for j, w in weights.items()) / total for c in range(V.shape[1])]


def test_pruned_plan_keeps_only_what_its_checks_need(plan_of: Plans) -> None:
    whole = inputs_of("softmax").plan(b"x")
    public = frozenset(i for i, case in enumerate(whole.cases) if case.public and case.kind == "ordinary")
    few = whole.only({"runs", "shift", "sum1"}, public)
    assert set(few.groups) == {"runs", "shift", "sum1"}
    assert len(few.cases) < len(whole.cases)
    for key, groups in few.groups.items():
        for new, old in zip(groups, whole.groups[key], strict=True):
            assert [few.cases[m].id for m in new.members] == [whole.cases[m].id for m in old.members]
    assert {few.cases[m].id for m in few.returning} <= {whole.cases[m].id for m in whole.returning}


@pytest.mark.parametrize("item", sorted(path.name for path in CODE.iterdir()))
def test_arguments_are_looked_at_after_every_call(item: str, plan_of: Plans) -> None:
    plan = plan_of(item, 0)
    computed = {place for place, case in enumerate(plan.cases) if case.expected is not None}
    assert plan.returning == computed
    judged = {group.members[0] for group in plan.groups["pure"] if len(group.members) == 1}
    assert judged == computed
    for call, place in zip(plan.calls("f", "torch"), range(len(plan.cases)), strict=True):
        assert call.return_arguments == (place in computed)
        assert call.overwrite_result == (place in computed and call.cotangents is None)


@pytest.mark.parametrize("item", sorted(path.name for path in CODE.iterdir()))
def test_some_input_goes_beyond_usual_blocks(item: str, plan_of: Plans) -> None:
    plan = plan_of(item, 0)
    members = [member for group in plan.groups["values@sizes"] for member in group.members]
    assert members and not any(plan.cases[member].public for member in members)
    if item in ("beam-search", "greedy-decode", "causal-mask"):
        return
    shapes = [[array.shape for array in arrays_of(plan.cases[member].args)] for member in members]
    axes = {(place, axis) for one in shapes for place, shape in enumerate(one) for axis in range(len(shape))}
    long = {
        (place, axis)
        for one in shapes
        for place, shape in enumerate(one)
        for axis, size in enumerate(shape)
        if size >= 65
    }
    assert axes == long  # every axis of every argument is long in some input


@pytest.mark.parametrize("item", sorted(path.name for path in CODE.iterdir()))
def test_an_input_looks_like_an_earlier_one(item: str, plan_of: Plans) -> None:
    plan = plan_of(item, 0)
    pairs = [group.members for group in plan.groups["pure"] if group.data.get("similar")]
    if item in ("beam-search", "greedy-decode", "causal-mask"):
        return
    assert pairs
    for first, second in pairs:
        assert first < second
        before, after = arrays_of(plan.cases[first].args), arrays_of(plan.cases[second].args)
        for one, other in zip(before, after, strict=True):
            assert one.shape == other.shape and one.ravel()[0] == other.ravel()[0]
            assert np.isclose(one.sum(), other.sum(), rtol=0, atol=1e-12)


def test_numbers_and_tensors_arrive_as_the_library_has_them(plan_of: Plans) -> None:
    calls = plan_of("softmax", 0).calls("softmax", "torch")
    assert all(call.args[0].library == "torch" for call in calls)


def test_values_are_exact_distinct_and_bounded() -> None:
    values = ExactValues(b"s")
    numbers = values.distinct(4, (4, 4, 4))
    assert np.unique(numbers).size == 64 and np.abs(numbers).max() <= 4
    assert np.array_equal(numbers * 8, np.trunc(numbers * 8))
    finer = values.distinct(1, (18,))  # more than there are multiples of 1/8
    assert np.unique(finer).size == 18 and np.abs(finer).max() <= 1
    assert np.array_equal(finer * 16, np.trunc(finer * 16))
    for size in (2, 3, 5):
        order = values.order(size)
        assert sorted(order) == list(range(size)) and not np.array_equal(order, np.arange(size))


def test_draw_specs_refuses_a_strategy_that_is_too_small() -> None:
    from hypothesis import strategies as st

    with pytest.raises(ValueError, match="fewer than 5"):
        draw_specs(st.integers(0, 2), 5, b"s")
    drawn = draw_specs(st.integers(0, 10**6), 5, b"s")
    assert drawn == draw_specs(st.integers(0, 10**6), 5, b"s") and len(set(drawn)) == 5


def test_plan_does_not_depend_on_the_process(tmp_path: Path) -> None:
    """Hypothesis takes large constants from the modules that are loaded; a plan must not show it."""
    constants = ", ".join(str(n) for n in range(100, 20_000, 7))
    (tmp_path / "other.py").write_text(f"NUMBERS = [{constants}]\nWORDS = {['abc', 'def']}\n")
    script = (
        "import other, sys\n"
        "from tests.builtin_bank import inputs_of\n"
        "print(*[inputs_of(n).plan(bytes([s])).id for n in ('softmax', 'sdpa') for s in range(8)])"
    )
    root = str(Path(__file__).parents[3])
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": f"{root}:{tmp_path}", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    here = [inputs_of(name).plan(bytes([seed])).id for name in ("softmax", "sdpa") for seed in range(8)]
    assert done.stdout.split() == here


def test_results_that_come_again_are_judged_once_and_only_they(
    exercise_of: Callable[[str], CodeExercise],
) -> None:
    exercise = exercise_of("softmax")
    plan, apart = (freeze_plan(exercise, b"again") for _ in range(2))
    job = Job(exercise.solutions["solution_numpy.py"], "f.py", plan.calls("softmax", "numpy"))
    outcomes = TrustedRunner().run(job).outcomes
    place = next(place for place, case in enumerate(plan.cases) if not case.public)
    lost = CallOutcome(CallStatus.CRASHED)
    changed = (*outcomes[:place], lost, *outcomes[place + 1 :])

    def judged(outcomes: tuple[CallOutcome, ...], plan: InputPlan = plan) -> PlanObservations:
        return PlanObservations(plan, "softmax", "numpy", observe(plan, "numpy", outcomes))

    first, again, other = judged(outcomes), judged(outcomes), judged(changed)
    assert all(one is two for one, two in zip(first.items, again.items, strict=True))
    assert [a is b for a, b in zip(first.items, other.items, strict=True)].count(False) == 1
    right = judge_all(exercise, first)
    assert all(one is two for one, two in zip(right[1:], judge_all(exercise, again)[1:], strict=True))
    wrong = judge_all(exercise, other)
    assert wrong != right
    assert wrong == judge_all(exercise, judged(changed, apart))  # as where nothing came before
    assert judge_all(exercise, judged(outcomes)) == right
