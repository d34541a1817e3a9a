"""Hostile files through the whole grader: no full marks, nothing ungraded, the next student unharmed."""

from __future__ import annotations

import hashlib
import json
import os
import resource
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from arena_attack import Attack
from arena_client import ATTACKS, PROJECT
from arena_world import World

from engine.code import CodeExercise, freeze_plan, load_exercise
from engine.code.plan import InputPlan
from engine.grading import grade_code
from engine.items import load_spec
from engine.model import CodeSubmission, GradeReport, Mode, Outcome, Verdict
from engine.runner import Limits, Runner
from engine.sandbox import SandboxOptions, open_runner
from engine.sandbox.tiers import missing_layers
from tests.sandbox.argument_covers import COVERS, PREAMBLE

# what acts upon the grader; what acts upon the machine is seen to in test_corpus
_KINDS = ("crash", "deserialise", "early", "flood", "forge", "giants")
_CHOSEN = [a for a in ATTACKS.values() if a.kind in _KINDS and a.proof != "time"]


@pytest.fixture(scope="module")
def exercise() -> CodeExercise:
    folder = PROJECT / "problems" / "code" / "softmax"
    read = load_exercise(load_spec(folder / "softmax.yaml"), folder, "version")
    return replace(read, limits=Limits(wall_s=2.0, call_s=1.0, memory_mib=512, output_bytes=2**20))


@pytest.fixture(scope="module")
def plan(exercise: CodeExercise) -> InputPlan:
    return freeze_plan(exercise, b"hostile")


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with open_runner() as opened:
        yield opened


def _graded(exercise: CodeExercise, plan: InputPlan, source: str, runner: Runner) -> GradeReport:
    sha256 = hashlib.sha256(source.encode()).hexdigest()
    submission = CodeSubmission(source, "hand-in.py", sha256)
    return grade_code(exercise, plan, submission, runner, mode=Mode.MARKS, student="s01")


@pytest.mark.parametrize("hostile", _CHOSEN, ids=[a.name for a in _CHOSEN])
def test_hostile_file_is_marked_and_the_next_student_gets_full_marks(
    hostile: Attack, exercise: CodeExercise, plan: InputPlan, runner: Runner, world: World
) -> None:
    target = world.target(naive=False, project=PROJECT, site=Path("/nonexistent"))
    report = _graded(exercise, plan, hostile.source(target), runner)
    assert report.outcome in (Outcome.WRONG, Outcome.PARTIAL), report
    assert report.score is not None
    assert report.score < report.max_score / 2
    text = json.dumps(report.as_json(), ensure_ascii=False).encode()  # fails for lone surrogates
    assert len(text) < 100_000
    assert not world.holds_secret(text)
    good = _graded(exercise, plan, exercise.solutions["solution_numpy.py"], runner)
    assert (good.outcome, good.score) == (Outcome.RIGHT, exercise.points)


def test_a_grader_without_descriptors_says_so_and_recovers(
    exercise: CodeExercise, plan: InputPlan, runner: Runner
) -> None:
    """Whichever file is one too many: the student's mark isn't touched, and no fault of ours is named."""
    right = exercise.solutions["solution_numpy.py"]
    assert _graded(exercise, plan, right, runner).outcome is Outcome.RIGHT
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = max(int(path.name) for path in Path("/proc/self/fd").iterdir())
    filled = [os.open(os.devnull, os.O_RDONLY)]
    while filled[-1] <= most:  # no number below is free any more
        filled.append(os.open(os.devnull, os.O_RDONLY))
    outcomes = set()
    try:
        for more in range(9):
            resource.setrlimit(resource.RLIMIT_NOFILE, (filled[-1] + 1 + more, limits[1]))
            report = _graded(exercise, plan, right, runner)
            outcomes.add(report.outcome)
            assert not any("Softmark itself" in note for note in report.notes), (more, report.notes)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        for descriptor in filled:
            os.close(descriptor)
    assert outcomes <= {Outcome.RIGHT, Outcome.UNGRADED} and Outcome.UNGRADED in outcomes
    assert _graded(exercise, plan, right, runner).outcome is Outcome.RIGHT


# right values, from arguments that are overwritten; then the harness is made to say that they aren't
_OVERWRITES = """
_right = softmax

def softmax(x, *args, **kwargs):
    kept, y = x.copy(), _right(x, *args, **kwargs)
    try:
        x[...] = -7.0
    except ValueError:
        return y
    cover(x, kept)
    return y
"""
_CHOSEN_COVERS = (
    "a writer that puts the copy in",
    "an array that points to the copy",
    "a frame that is packed anew",
    "a frame that says that all is in its place",
    "a call that puts the numbers back later",
)


@pytest.mark.parametrize("tier", ["T1", "T2"])
def test_a_file_that_lies_about_its_arguments_earns_nothing_for_leaving_them_alone(
    exercise: CodeExercise, plan: InputPlan, tier: str
) -> None:
    if missing_layers(tier):
        pytest.skip(str(missing_layers(tier)))
    right = exercise.solutions["solution_numpy.py"]
    with open_runner(SandboxOptions(tier=tier)) as runner:
        for name in _CHOSEN_COVERS:
            source = right + PREAMBLE + _OVERWRITES + COVERS[name]
            report = _graded(exercise, plan, source, runner)
            failed = [check for check in report.checks if check.verdict is not Verdict.PASSED]
            assert [check.id for check in failed] == ["pure"], (name, failed)
            assert report.score == exercise.points - failed[0].max_points > 0, (name, report)
