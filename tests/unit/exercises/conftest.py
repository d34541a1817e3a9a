"""A folder with a small exercise of its own, whose files a test changes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.code import CodeExercise, freeze_plan, load_exercise
from engine.code.explain.in_process import TrustedRunner
from engine.grading import grade_code
from engine.items import load_spec
from engine.model import CodeSubmission, GradeReport, Mode

EXERCISE = """
from engine.exercises import Exercise, array, scores, relation, sums_to_one

@relation("Doubling x must double the result.")
def doubled(call):
    return call.close(call.again(x=2 * call.x), 2 * call.result)

exercise = Exercise({"x": array("... n d", scores()), "factor": array("d")}, relations=[doubled])
"""
SOLUTION = "def scale_rows(x, factor):\n    return x * factor\n"
SPEC = """
id: scale-rows
title: Scale rows
source: {document: background}
difficulty: 1
bloom: apply
topics: [code]
stem: Write it.
answer:
  type: code
  function: scale_rows
  signature: scale_rows(x, factor)
  solutions: [solution.py]
  checks:
    - {id: shape, property: shape, points: 1}
    - {id: values, property: values, points: 1, requires: [shape]}
    - {id: doubled, property: doubled, points: 1, requires: [shape]}
"""
FILES = {
    "exercise.py": EXERCISE,
    "solution.py": SOLUTION,
    "starter.py": "def scale_rows(x, factor): ...\n",
    "scale-rows.yaml": SPEC,
}
Load = Callable[..., CodeExercise]
Grade = Callable[[CodeExercise, str], GradeReport]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "scale-rows"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def load(folder: Path) -> Load:
    """Change files, given as (name, old text, new text), and load the exercise."""

    def loaded(*changes: tuple[str, str, str]) -> CodeExercise:
        for name, old, new in changes:
            text = (folder / name).read_text(encoding="utf-8")
            assert old in text
            (folder / name).write_text(text.replace(old, new), encoding="utf-8")
        return load_exercise(load_spec(folder / "scale-rows.yaml"), folder, "v")

    return loaded


@pytest.fixture(scope="session")
def grade() -> Grade:
    """Grade a program of ours in this process."""

    def graded(exercise: CodeExercise, source: str) -> GradeReport:
        submission = CodeSubmission(source, "handed_in.py", hashlib.sha256(source.encode()).hexdigest())
        plan = freeze_plan(exercise, b"seed")
        with TrustedRunner() as runner:
            return grade_code(exercise, plan, submission, runner, mode=Mode.PRACTICE, student="s")

    return graded
