"""Grading with tensors on a device: end to end on the CPU's workers, on a GPU where there is one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from engine.code import exercise_of, freeze_plan
from engine.grading import grade_code
from engine.intake import read_code_file
from engine.items.bank import builtin_bank
from engine.model import CodeSubmission, GradeReport, Mode, Outcome
from engine.runner import Runner
from engine.sandbox import SandboxOptions, open_runner
from engine.sandbox.device_runner import DeviceRunner, WorkerPool
from engine.sandbox.tiers import missing_layers

ROOT = Path(__file__).parents[2]
RIGHT = ROOT / "problems" / "code" / "softmax" / "solution_torch.py"
WRONG = """import torch

def softmax(x, axis=-1, temperature=1.0):
    e = torch.exp(x - x.max())
    return e / e.sum()
"""
CUDA = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
NO_CUDA = pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")


@pytest.fixture(scope="module", params=["cpu", pytest.param("cuda", marks=CUDA)])
def runner(request: pytest.FixtureRequest) -> Iterator[Runner]:
    base = "T3" if missing_layers("T2") else "T2"
    pool = WorkerPool(request.param, base=base, slots=1)
    with DeviceRunner(pool, lambda: open_runner(SandboxOptions(unsafe_local=True))) as opened:
        yield opened


def graded(runner: Runner, submission: CodeSubmission) -> GradeReport:
    bank = builtin_bank()
    exercise = exercise_of(bank, "softmax")
    plan = freeze_plan(exercise, b"a plan of 16 byt")
    return grade_code(exercise, plan, submission, runner, mode=Mode.PRACTICE, student=None)


def test_a_right_file_is_right_and_names_its_tier(runner: Runner) -> None:
    report = graded(runner, read_code_file(RIGHT))
    assert report.outcome is Outcome.RIGHT and report.score == report.max_score
    assert report.tier == runner.tier and report.tier.endswith(("-cpu", "-cuda"))


def test_a_wrong_file_is_explained(runner: Runner, tmp_path: Path) -> None:
    file = tmp_path / "softmax.py"
    file.write_text(WRONG, encoding="utf-8")
    report = graded(runner, read_code_file(file))
    assert report.outcome is Outcome.PARTIAL
    assert report.diagnosis and report.counterexample is not None


@NO_CUDA
def test_submit_and_batch_tell_that_there_is_no_gpu(grade, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    folder = tmp_path / "class" / "ada"
    folder.mkdir(parents=True)
    (folder / "softmax.py").write_text(RIGHT.read_text(encoding="utf-8"), encoding="utf-8")
    for call in (
        ("submit", "softmax", RIGHT, "--device", "cuda"),
        ("batch", folder.parent, "--out", tmp_path / "out", "--device", "cuda"),
    ):
        said = grade(*call)
        assert said.code == 2
        assert "no CUDA device: torch.cuda.is_available() is False" in said.err
        assert "next: leave --device out" in said.err


def test_a_gpu_gives_no_marks_unless_allowed(grade) -> None:  # type: ignore[no-untyped-def]
    assert grade("init", "course").code == 0
    said = grade("submit", "softmax", RIGHT, "--device", "cuda", "--course", "course")
    assert said.code == 2
    assert "--device cuda gives no marks" in said.err and "--unsafe-local" in said.err
    said = grade("submit", "softmax", RIGHT, "--device", "cuda", "--tier", "T1", "--course", "course")
    assert said.code == 2 and "T1 isn't possible with a GPU" in said.err


@CUDA
def test_submit_grades_on_a_gpu(grade, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    said = grade("submit", "softmax", RIGHT, "--device", "cuda", "--json")
    assert said.code == 0 and said.json()["tier"] in ("T2-cuda", "T3-cuda")
    numpy = grade("submit", "softmax", RIGHT.with_name("solution_numpy.py"), "--device", "cuda")
    assert numpy.code == 0 and "it was graded on the CPU" in numpy.out
