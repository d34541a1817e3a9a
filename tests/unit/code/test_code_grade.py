"""Reports: graph of checks, verdicts, what hidden checks tell, rubric, ungraded attempts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from engine.code import CodeExercise
from engine.code.explain.in_process import TrustedRunner
from engine.code.plan import InputPlan
from engine.errors import EngineError, RunnerLostError
from engine.grading import grade_code
from engine.model import Check, CodeSubmission, GradeReport, Mode, Outcome, Verdict
from engine.runner import CallOutcome, CallStatus, ExceptionInfo, Job, RunResult

Grade = Callable[..., GradeReport]

RIGHT = """
import numpy as np
def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)
"""


class Bent(TrustedRunner):
    """Runs the code, then bends the result as a sandbox might give it."""

    def __init__(self, bend: Callable[[RunResult], RunResult]) -> None:
        self._bend = bend

    def run(self, job: Job) -> RunResult:
        return self._bend(super().run(job))


@pytest.fixture
def grade_bent(
    exercise_of: Callable[[str], CodeExercise],
    plan_of: Callable[[str, int], InputPlan],
    submission_of: Callable[[str], CodeSubmission],
) -> Grade:
    def grade(bend: Callable[[RunResult], RunResult], source: str = RIGHT) -> GradeReport:
        args = exercise_of("softmax"), plan_of("softmax", 0), submission_of(source)
        return grade_code(*args, Bent(bend), mode=Mode.MARKS, student="s")

    return grade


def checks_of(report: GradeReport) -> dict[str, Check]:
    return {check.id: check for check in report.checks}


def verdicts(report: GradeReport) -> dict[str, Verdict]:
    return {check.id: check.verdict for check in report.checks}


def at(places: set[int], outcome: CallOutcome) -> Callable[[RunResult], RunResult]:
    def bend(result: RunResult) -> RunResult:
        bent = [outcome if i in places else old for i, old in enumerate(result.outcomes)]
        return replace(result, outcomes=tuple(bent))

    return bend


def test_right_report(grade: Grade) -> None:
    report = grade("softmax", RIGHT)
    assert report.outcome is Outcome.RIGHT and report.score == report.max_score == 10.0
    assert set(verdicts(report).values()) == {Verdict.PASSED}
    assert [check.id for check in report.checks[:3]] == ["loads", "function", "runs"]
    assert sum(check.max_points for check in report.checks) == 10.0
    assert report.student == "s01" and report.tier == "trusted" and report.item == "softmax"
    assert report.as_json()["verdict"] == "right"


def test_syntax_error_is_a_format_error_with_its_line_and_no_score(grade: Grade) -> None:
    report = grade("softmax", "def softmax(x, axis=-1)\n    return x")
    assert report.outcome is Outcome.FORMAT_ERROR and report.score is None
    assert checks_of(report)["loads"].verdict is Verdict.FAILED
    assert "line 1" in checks_of(report)["loads"].message
    assert {v for name, v in verdicts(report).items() if name != "loads"} == {Verdict.SKIPPED}


def test_missing_function_fails_before_anything_runs(
    exercise_of: Callable[[str], CodeExercise],
    plan_of: Callable[[str, int], InputPlan],
    submission_of: Callable[[str], CodeSubmission],
) -> None:
    class Never(TrustedRunner):
        def run(self, job: Job) -> RunResult:
            raise AssertionError("must not run")

    submission = submission_of("def soft_max(x, axis=-1): ...")
    report = grade_code(
        exercise_of("softmax"), plan_of("softmax", 0), submission, Never(), mode=Mode.MARKS, student=None
    )
    assert report.outcome is Outcome.WRONG and report.score == 0.0
    assert "soft_max" in checks_of(report)["function"].message
    assert checks_of(report)["runs"].verdict is Verdict.SKIPPED


def test_function_that_only_running_shows_to_be_missing(grade: Grade) -> None:
    report = grade("softmax", "globals()['a'] = 1\ndef softmaxx(x, axis=-1): return x")
    assert report.outcome is Outcome.WRONG
    assert "softmaxx" in checks_of(report)["function"].message


def test_file_that_raises_while_loading(grade: Grade) -> None:
    # the statement costs nothing by itself and is told; a function that gives back its input earns nothing
    report = grade("softmax", "import numpy as np\nx = 1 / 0\ndef softmax(x, axis=-1): return x")
    assert report.outcome is Outcome.WRONG and report.score == 0.0
    told = " ".join(report.notes)
    assert "ZeroDivisionError" in told and "line 2" in told


def test_skips_say_what_they_wait_for(grade: Grade) -> None:
    report = grade("softmax", "def softmax(x, axis=-1): return None")
    found = checks_of(report)
    assert found["runs"].verdict is Verdict.PASSED  # it does return something
    assert found["shape"].verdict is Verdict.FAILED and "None" in found["shape"].message
    assert found["values"].verdict is Verdict.SKIPPED and "“shape”" in found["values"].message
    assert found["stable"].verdict is Verdict.SKIPPED and "“order”" in found["stable"].message
    assert report.score == 0.0


def test_raising_on_the_first_input_skips_everything(grade: Grade) -> None:
    report = grade("softmax", "def softmax(x, axis=-1):\n    raise KeyError('[bold]\\x1b[31mx')")
    runs = checks_of(report)["runs"]
    assert runs.verdict is Verdict.FAILED and "KeyError" in runs.message and "(line 2)" in runs.message
    assert "\x1b" not in runs.message
    assert set(verdicts(report).values()) == {Verdict.PASSED, Verdict.FAILED, Verdict.SKIPPED}
    assert report.score == 0.0


def test_raising_for_some_inputs_fails_only_their_checks(grade: Grade) -> None:
    source = RIGHT.replace(
        "    e = np.exp", "    if x.dtype != np.float64: raise TypeError('no')\n    e = np.exp"
    )
    failed = {
        name for name, verdict in verdicts(grade("softmax", source)).items() if verdict is Verdict.FAILED
    }
    assert failed == {"dtype", "half", "single-precision", "stable"}


@pytest.mark.parametrize(
    ("status", "verdict"),
    [
        (CallStatus.TIMED_OUT, Verdict.TIMED_OUT),
        (CallStatus.OUT_OF_MEMORY, Verdict.OUT_OF_MEMORY),
        (CallStatus.CRASHED, Verdict.CRASHED),
        (CallStatus.TOO_LARGE, Verdict.FAILED),
        (CallStatus.UNSUPPORTED, Verdict.FAILED),
        (CallStatus.PROTOCOL_VIOLATION, Verdict.FAILED),
        (CallStatus.NOT_RUN, Verdict.SKIPPED),
    ],
)
def test_every_status_has_its_verdict_and_the_other_checks_go_on(
    status: CallStatus, verdict: Verdict, grade_bent: Grade, plan_of: Callable[[str, int], InputPlan]
) -> None:
    groups = plan_of("softmax", 0).groups["rows-apart"]
    places = {member for group in groups for member in group.members}
    report = grade_bent(at(places, CallOutcome(status)))
    found = verdicts(report)
    assert found.pop("rows-apart") is verdict
    assert set(found.values()) == {Verdict.PASSED}
    assert report.outcome is Outcome.PARTIAL and report.score == 9.5
    first = grade_bent(at({0}, CallOutcome(status)))
    assert verdicts(first)["runs"] is (Verdict.FAILED if status is CallStatus.UNSUPPORTED else verdict)
    assert first.score == 0.0 and first.outcome is Outcome.WRONG


@pytest.mark.parametrize("status", [CallStatus.TIMED_OUT, CallStatus.CRASHED, CallStatus.OUT_OF_MEMORY])
def test_file_lost_while_loading(status: CallStatus, grade_bent: Grade) -> None:
    report = grade_bent(lambda result: replace(result, load=CallOutcome(status)))
    loads = checks_of(report)["loads"]
    assert loads.verdict == status.value and loads.message.startswith("Loading the file")
    assert report.score == 0.0


def test_hidden_checks_tell_only_our_sentence(
    grade: Grade, exercise_of: Callable[[str], CodeExercise]
) -> None:
    """A student's exception carries the hidden input in its text and its class name; none may get through."""
    source = """
import numpy as np
def softmax(x, axis=-1):
    if x.shape[-1] != 3 or axis != -1:
        raise type("Leak" + str(x.ravel()[0]), (Exception,), {})("SECRET" + str(x.tolist()))
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)
"""
    report = grade("softmax", source, 4)
    hidden = {check.id for check in exercise_of("softmax").checks if not check.public}
    assert hidden == {"hot", "layout", "more-axes", "one-entry", "perm-eq", "rowind", "sizes"}
    told = {
        name: check.message for name, check in checks_of(report).items() if check.verdict is Verdict.FAILED
    }
    assert {"values", "rowind", "axis"} <= set(told)
    for name in hidden & set(told):
        sentence = next(c.message for c in exercise_of("softmax").checks if c.id == name)
        assert told[name] in (sentence, f"{sentence} But your function raised an exception.")
    # "values" is public, but it failed on a hidden input
    assert (
        told["values"]
        == "The result must equal what the definition gives. But your function raised an exception."
    )
    assert "SECRET" in told["axis"]  # the public case with axis=0 may be shown


def test_public_failure_shows_input_seen_and_expected(grade: Grade) -> None:
    report = grade("softmax", RIGHT.replace("return e", "return 2 * e"))
    message = checks_of(report)["values"].message
    assert "softmax([[2, 1, 0]" in message and "entry [1, 1] is 1.81752, expected 0.90876" in message
    assert "some weights sum to 2 instead of 1" in checks_of(report)["sum1"].message


def test_nan_is_never_equal_and_nothing_is_broadcast(grade: Grade) -> None:
    for source in (
        "import numpy as np\ndef softmax(x, axis=-1): return np.full_like(x, np.nan)",
        "import numpy as np\ndef softmax(x, axis=-1): return np.ones((1,) * x.ndim)",
        "import numpy as np\ndef softmax(x, axis=-1): return np.float64(1)",
        "import numpy as np\ndef softmax(x, axis=-1): return np.ones((2,) + x.shape)",
        "def softmax(x, axis=-1): return x.tolist()",
        "import numpy as np\ndef softmax(x, axis=-1): return x.astype(complex)",
        "import numpy as np\ndef softmax(x, axis=-1): return x.astype(str)",
    ):
        found = verdicts(grade("softmax", source))
        assert Verdict.FAILED in (found["runs"], found["shape"], found["values"])
        assert Verdict.PASSED not in (found["values"], found["sum1"], found["stable"], found["dtype"])


def test_torch_file_must_return_tensors_and_numpy_file_arrays(grade: Grade) -> None:
    right = "\ndef softmax(x, axis=-1):\n    return torch.softmax(torch.as_tensor(x), axis)"
    assert grade("softmax", "import torch" + right).outcome is Outcome.RIGHT
    mixed = "import torch\ndef softmax(x, axis=-1):\n    return torch.softmax(x, axis).numpy()"
    message = checks_of(grade("softmax", mixed))["dtype"].message
    assert "a numpy array" in message and "expected a torch tensor" in message


def test_points_are_those_of_the_passed_checks(grade: Grade) -> None:
    report = grade("softmax", RIGHT.replace("x.max(axis=axis, keepdims=True)", "0"))
    assert report.outcome is Outcome.PARTIAL
    assert report.score == sum(c.max_points for c in report.checks if c.verdict is Verdict.PASSED) == 7.5
    assert all(c.points == 0.0 for c in report.checks if c.verdict is not Verdict.PASSED)


def test_full_points_but_a_failed_check_without_points_is_not_right(
    exercise_of: Callable[[str], CodeExercise],
    plan_of: Callable[[str, int], InputPlan],
    submission_of: Callable[[str], CodeSubmission],
) -> None:
    exercise = exercise_of("softmax")
    shift = [
        replace(c, points=0.0) if c.id in {"stable", "rows-apart", "shift"} else c for c in exercise.checks
    ]
    bare = replace(exercise, checks=tuple(shift))
    submission = submission_of(RIGHT.replace("x.max(axis=axis, keepdims=True)", "0"))
    report = grade_code(
        bare, plan_of("softmax", 0), submission, TrustedRunner(), mode=Mode.PRACTICE, student=None
    )
    assert report.score == report.max_score == 7.5
    assert report.outcome is Outcome.PARTIAL


# --- machine causes ---------------------------------------------------------------------


def test_runner_lost_is_ungraded_never_zero(grade_bent: Grade) -> None:
    def lose(result: RunResult) -> RunResult:
        raise RunnerLostError("the zygote is gone")

    report = grade_bent(lose)
    assert report.outcome is Outcome.UNGRADED and report.score is None
    assert {check.verdict for check in report.checks} == {Verdict.ENGINE_ERROR}
    assert "the zygote is gone" in report.notes[0] and "costs no mark" in report.notes[0]
    assert report.as_json()["score"] is None


@pytest.mark.parametrize("bend", [lambda r: replace(r, outcomes=r.outcomes[:-1]), lambda r: None])
def test_a_runner_that_breaks_the_protocol_is_ungraded(bend, grade_bent: Grade) -> None:  # type: ignore[no-untyped-def]
    report = grade_bent(bend)
    assert report.outcome is Outcome.UNGRADED and report.score is None


def test_a_bug_of_ours_is_ungraded(grade_bent: Grade, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: object) -> None:
        raise ZeroDivisionError("secret detail")

    monkeypatch.setattr("engine.code.grade.judge_all", broken)
    report = grade_bent(lambda result: result)
    assert report.outcome is Outcome.UNGRADED and report.score is None
    assert "ZeroDivisionError" in report.notes[0] and "secret detail" not in report.notes[0]


def test_losing_the_runner_in_the_search_keeps_the_mark(grade_bent: Grade) -> None:
    jobs = []

    def second_time_lost(result: RunResult) -> RunResult:
        jobs.append(result)
        if len(jobs) > 1:
            raise EngineError("no process left")
        return result

    report = grade_bent(second_time_lost, RIGHT.replace("x.max(axis=axis, keepdims=True)", "0"))
    assert report.score == 7.5 and report.counterexample is None
    assert "no process left" in report.notes[0]
    assert [d.misconception for d in report.diagnosis] == ["no-max-shift"]


def test_forged_leaves_are_results_of_no_type(grade_bent: Grade) -> None:
    def forge(result: RunResult) -> RunResult:
        forged = [replace(o, value=replace(o.value, shape=(10**9, 10**9))) for o in result.outcomes]
        return replace(result, outcomes=tuple(forged))

    report = grade_bent(forge)
    assert verdicts(report)["shape"] is Verdict.FAILED and report.score == 0.0


def test_exception_text_is_cut_and_cleaned(grade_bent: Grade) -> None:
    info = ExceptionInfo("V" * 500, "\x1b]8;;http://x\x07" + "a" * 5000 + "\n\u202eb", 3)
    report = grade_bent(at({0}, CallOutcome(CallStatus.RAISED, exception=info)))
    message = checks_of(report)["runs"].message
    assert len(message) < 600 and "\x1b" not in message and "\n" not in message and "\u202e" not in message


def test_grading_twice_gives_the_same_report(grade: Grade) -> None:
    source = RIGHT.replace("np.exp(x", "np.exp2(x")
    assert grade("softmax", source, 7) == grade("softmax", source, 7)


def test_source_that_prints_and_changes_numpy_settings_changes_nothing_of_ours(grade: Grade) -> None:
    before = np.geterr()
    assert grade("softmax", "import numpy as np\nnp.seterr(all='ignore')" + RIGHT).outcome is Outcome.RIGHT
    assert np.geterr() == before
