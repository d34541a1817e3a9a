"""Counterexamples: small, true when copied and run, from public inputs, within the budget."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from engine.code import CodeExercise
from engine.code.exercise import KnownWrongProgram
from engine.code.explain import counterexample
from engine.code.explain.counterexample import MAX_CALLS, CandidateInput, LruCache, complexity, simpler
from engine.code.explain.in_process import TrustedRunner
from engine.code.plan import InputPlan
from engine.grading import grade_code
from engine.model import CodeSubmission, Counterexample, GradeReport, Mode, Outcome
from engine.runner import CallOutcome, CallStatus, Job, RunResult, WrappingRunner

pytestmark = pytest.mark.slow

Grade = Callable[..., GradeReport]
Counted = Callable[..., tuple[Counterexample, list[int]]]
Exercises = Callable[[str], CodeExercise]


class Counting(TrustedRunner):
    def __init__(self) -> None:
        self.calls: list[int] = []

    def run(self, job: Job) -> RunResult:
        self.calls.append(len(job.calls))
        return super().run(job)


@pytest.fixture
def counted(
    exercise_of: Exercises,
    plan_of: Callable[[str, int], InputPlan],
    submission_of: Callable[[str], CodeSubmission],
) -> Callable[..., tuple[Counterexample | None, list[int]]]:
    def grade(item: str, source: str, seed: int = 0) -> tuple[Counterexample | None, list[int]]:
        runner, args = Counting(), (exercise_of(item), plan_of(item, seed), submission_of(source))
        report = grade_code(*args, runner, mode=Mode.PRACTICE, student=None)
        return report.counterexample, runner.calls[1:]

    return grade


def entries(code: str) -> int:
    """Return how many array entries a counterexample makes a person read."""
    scope: dict[str, object] = {}
    exec("\n".join(line for line in code.splitlines() if " = " in line or "import" in line), scope)
    arrays = [value for value in scope.values() if isinstance(value, np.ndarray)]
    tensors = [value for value in scope.values() if hasattr(value, "nelement")]
    return sum(array.size for array in arrays) + sum(tensor.nelement() for tensor in tensors)


@pytest.mark.parametrize("item", ["softmax", "sdpa"])
def test_every_mutant_gets_a_small_one_within_the_budget(
    item: str,
    counted: Counted,
    exercise_of: Exercises,
) -> None:
    sizes = []
    for mutant in _with_wrong_results(exercise_of(item)):
        found, calls = counted(item, mutant.source)
        assert sum(calls) <= MAX_CALLS and len(calls) <= 12, mutant.id
        assert found.expected is not None
        sizes.append(entries(found.code))
    # the largest shows a mistake that needs leading axes: two of each
    assert statistics.median(sizes) <= 6 and sorted(sizes)[-2] <= 8 and max(sizes) <= 16, sizes


@pytest.mark.parametrize("item", ["softmax", "sdpa"])
def test_the_code_runs_and_shows_what_it_says(
    item: str,
    counted: Counted,
    exercise_of: Exercises,
) -> None:
    right = next(iter(exercise_of(item).solutions.values()))
    compared = 0
    for mutant in _with_wrong_results(exercise_of(item)):
        found, _ = counted(item, mutant.source)
        if found.got.startswith(("array", "nan")) and "shape" not in found.got:
            for source, told in ((mutant.source, found.got), (right, found.expected)):
                with np.errstate(all="ignore"):
                    value = _value_of(source, found.code)
                shown = _value_of("from numpy import array, float32, float64, nan, inf", "\n" + str(told))
                assert value.dtype == shown.dtype, mutant.id
                np.testing.assert_allclose(value, shown, rtol=1e-5, atol=1e-12, err_msg=mutant.id)
            compared += 1
    assert 2 * compared > len(exercise_of(item).mutants)


def _with_wrong_results(exercise: CodeExercise) -> list[KnownWrongProgram]:
    """A counterexample shows a result; what is wrong in gradients or refusals alone has none."""
    return [mutant for mutant in exercise.mutants if mutant.id not in ("detached", "other-error")]


def test_a_wrong_gradient_alone_has_none(grade: Callable[..., GradeReport], exercise_of: Exercises) -> None:
    for item in ("softmax", "sdpa"):
        source = next(m.source for m in exercise_of(item).mutants if m.id == "detached")
        report = grade(item, source)
        assert report.counterexample is None and report.outcome is not Outcome.RIGHT


def _value_of(setup: str, code: str) -> np.ndarray:
    scope: dict[str, object] = {}
    exec(setup, scope)
    *lines, last = code.splitlines()
    exec("\n".join(lines), scope)
    return eval(last, scope)  # type: ignore[no-any-return]


def test_the_same_file_gets_the_same_answer_whatever_the_plan(
    counted: Counted, exercise_of: Exercises
) -> None:
    for mutant in exercise_of("softmax").mutants:
        assert counted("softmax", mutant.source, 1)[0] == counted("softmax", mutant.source, 2)[0]


def test_second_time_is_answered_from_memory_and_another_file_is_checked(
    counted: Counted, exercise_of: Exercises
) -> None:
    source = next(m.source for m in exercise_of("softmax").mutants if m.id == "m-base2")
    first, calls = counted("softmax", source)
    again, none = counted("softmax", source)
    other, one = counted("softmax", source + "\n# another file\n")
    assert first == again == other
    assert calls and none == [] and one == [1]


def test_a_fault_that_only_varied_inputs_show(
    counted: Counted,
) -> None:
    source = """
import numpy as np
def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    w = e / e.sum(axis=axis, keepdims=True)
    return w[..., ::-1] if x.shape[-1] == 5 else w
"""
    for seed in range(6):  # some of these plans have five columns
        found, calls = counted("softmax", source, seed)
        if found is not None:
            assert "x = np.array([0.0, 0.0, 0.0, 0.0, 1.0])" in found.code
            assert sum(calls) <= MAX_CALLS
            return
    raise AssertionError("no plan had five columns")


def test_no_claim_about_a_fault_that_needs_earlier_calls(
    counted: Callable[..., tuple[Counterexample | None, list[int]]],
) -> None:
    source = """
import numpy as np
calls = 0
def softmax(x, axis=-1):
    global calls
    calls += 1
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True) + (calls > 15)
"""
    assert counted("softmax", source)[0] is None


def test_hidden_inputs_are_never_shown(
    grade: Grade, plan_of: Callable[[str, int], InputPlan], exercise_of: Exercises
) -> None:
    hidden = [case.args[0] for case in plan_of("softmax", 3).cases if not case.public]
    secrets = {repr(value.ravel().tolist())[1:-1] for value in hidden if isinstance(value, np.ndarray)}
    assert len(secrets) > 5
    for mutant in exercise_of("softmax").mutants:
        report = grade("softmax", mutant.source, 3)
        code = "" if report.counterexample is None else report.counterexample.code
        shown = code + "".join(c.message for c in report.checks)
        assert not any(secret in shown for secret in secrets)


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (CallStatus.TIMED_OUT, "no result in time"),
        (CallStatus.CRASHED, "crashed"),
        (CallStatus.OUT_OF_MEMORY, "more memory"),
    ],
)
def test_a_hang_or_crash_shows_the_public_input_without_a_search(
    status: CallStatus, words: str, exercise_of: Exercises,
    plan_of: Callable[[str, int], InputPlan], submission_of: Callable[[str], CodeSubmission],
) -> None:  # fmt: skip
    class Lost(TrustedRunner):
        jobs = 0

        def run(self, job: Job) -> RunResult:
            type(self).jobs += 1
            result = super().run(job)
            return replace(result, outcomes=(CallOutcome(status),) * len(result.outcomes))

    source = "def softmax(x, axis=-1): return x"
    args = exercise_of("softmax"), plan_of("softmax", 0), submission_of(source)
    found = grade_code(*args, Lost(), mode=Mode.MARKS, student=None).counterexample
    assert found is not None and words in found.got and "x = np.array([[2.0, 1.0, 0.0]" in found.code
    assert Lost.jobs == 1


def test_search_stops_where_a_candidate_hangs(
    exercise_of: Exercises, plan_of: Callable[[str, int], InputPlan],
    submission_of: Callable[[str], CodeSubmission],
) -> None:  # fmt: skip
    class HangsLater(TrustedRunner):
        jobs = 0

        def run(self, job: Job) -> RunResult:
            type(self).jobs += 1
            result = super().run(job)
            if self.jobs == 1:
                return result
            lost = CallOutcome(CallStatus.TIMED_OUT)
            return replace(result, outcomes=(lost,) * len(result.outcomes))

    source = "import numpy as np\ndef softmax(x, axis=-1): return np.exp(x)"
    args = exercise_of("softmax"), plan_of("softmax", 0), submission_of(source)
    assert grade_code(*args, HangsLater(), mode=Mode.MARKS, student=None).counterexample is None
    assert HangsLater.jobs == 2


def test_torch_files_get_torch_code(counted: Counted) -> None:
    found, _ = counted("softmax", "import torch\ndef softmax(x, axis=-1): return x.exp()")
    assert found.code.startswith("import torch") and "torch.tensor(" in found.code
    assert found.got.startswith("tensor(") and "np" not in found.code
    assert entries(found.code) <= 2


def test_dtype_and_argument_faults_are_shown_as_such(counted: Counted, exercise_of: Exercises) -> None:
    by_id = {mutant.id: mutant.source for mutant in exercise_of("softmax").mutants}
    found, _ = counted("softmax", by_id["cast-double"])
    assert found.got == "array([1.])" and found.expected == "array([1.], dtype=float32)"
    found, _ = counted("softmax", by_id["in-place"])
    assert found.code.splitlines()[-1] == "x" and found.got == "x isn't as it was before the call"


def test_simpler_inputs_are_strictly_simpler_and_keep_their_axes() -> None:
    Q, K, V = np.ones((2, 3)), np.arange(6.0).reshape(2, 3), np.array([[2.5], [-7.0]])
    start = CandidateInput(
        (Q, K, V, np.array([[True, False], [True, True]])), (("m", "d"), ("n", "d"), ("n", "v"), ("m", "n"))
    )
    seen = 0
    waiting = [start]
    while waiting and seen < 400:
        now = waiting.pop()
        for found in simpler(now):
            assert complexity(found) < complexity(now)
            sizes: dict[str, int] = {}
            for value, names in zip(found.args, found.axes, strict=False):
                assert isinstance(value, np.ndarray) and value.ndim == len(names)
                for name, size in zip(names, value.shape, strict=True):
                    assert sizes.setdefault(name, size) == size >= 1
            seen += 1
            waiting.append(found)
    assert seen >= 400


class Apart(WrappingRunner):
    """Counts jobs as a sandbox gets them, each in a process of its own."""

    def __init__(self) -> None:
        super().__init__(TrustedRunner())
        self.calls: list[int] = []

    def run(self, job: Job) -> RunResult:
        self.calls.append(len(job.calls))
        return self._runner.run(job)


@pytest.fixture
def apart(
    exercise_of: Exercises,
    plan_of: Callable[[str, int], InputPlan],
    submission_of: Callable[[str], CodeSubmission],
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[[str], tuple[GradeReport, list[int]]]:
    monkeypatch.setattr(counterexample, "_telling_inputs", LruCache(1))
    monkeypatch.setattr(counterexample, "_cached", LruCache(1))

    def grade(source: str) -> tuple[GradeReport, list[int]]:
        runner, args = Apart(), (exercise_of("softmax"), plan_of("softmax", 0), submission_of(source))
        return grade_code(*args, runner, mode=Mode.MARKS, student=None), runner.calls

    return grade


def test_inputs_that_showed_a_mistake_are_sent_along_and_save_a_process(
    apart: Callable[[str], tuple[GradeReport, list[int]]], exercise_of: Exercises
) -> None:
    source = next(m.source for m in exercise_of("softmax").mutants if m.id == "m-base2")
    first, jobs = apart(source)
    # not the same outputs to the last bit, so nothing of the first answer is used
    again, fewer = apart(source.replace("return ", "return 1.0000000001 * "))
    assert len(jobs) == 2 and fewer == [jobs[0] + 1]
    assert again.counterexample == first.counterexample is not None
    right, _ = apart(next(iter(exercise_of("softmax").solutions.values())))
    assert right.outcome is Outcome.RIGHT and right.counterexample is None


def test_what_is_sent_along_is_believed_only_where_it_is_the_known_mistake(
    apart: Callable[[str], tuple[GradeReport, list[int]]], exercise_of: Exercises
) -> None:
    source = next(m.source for m in exercise_of("softmax").mutants if m.id == "m-base2")
    first, jobs = apart(source)
    later = source.replace("return ", f"calls.append(0)\n    return (len(calls) > {jobs[0]}) + ")
    report, jobs = apart(f"calls = []\n{later}")
    assert len(jobs) == 2
    assert report.counterexample == first.counterexample is not None
