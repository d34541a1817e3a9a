"""Bad code, several files and notebooks through the real sandbox: each ends in a sentence that helps."""

from __future__ import annotations

import hashlib
import json
import re
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from engine.code import CodeExercise, freeze_plan, load_exercise
from engine.code.plan import InputPlan
from engine.grading import grade_code
from engine.intake import read_submission
from engine.items import load_spec
from engine.model import CodeSubmission, GradeReport, Mode, Outcome
from engine.runner import Runner
from engine.sandbox import open_runner

Grade = Callable[..., Any]  # the fixture of conftest.py: what a person types, and what it says
ROOT = Path(__file__).parents[2]
HEAD = "import numpy as np\n"
RIGHT = """
def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)
"""
CALL = "softmax([[2, 1, 0], [-1, 3, 0.5], [0, 1.5, 2.5]])"


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with open_runner() as opened:
        assert opened.tier in ("T1", "T2")
        yield opened


@cache
def prepared() -> tuple[CodeExercise, InputPlan]:
    path = ROOT / "problems" / "code" / "softmax" / "softmax.yaml"
    exercise = load_exercise(load_spec(path), path.parent, "version")
    return exercise, freeze_plan(exercise, b"integration")


def graded(source: str, runner: Runner, wall_s: float | None = None, **modules: str) -> GradeReport:
    source = textwrap.dedent(source)
    exercise, plan = prepared()
    if wall_s is not None:
        exercise = replace(exercise, limits=replace(exercise.limits, wall_s=wall_s))
    texts = MappingProxyType({name: textwrap.dedent(text) for name, text in modules.items()})
    sha256 = hashlib.sha256((source + "".join(texts.values())).encode()).hexdigest()
    submission = CodeSubmission(source, "softmax.py", sha256, texts)
    return grade_code(exercise, plan, submission, runner, mode=Mode.MARKS, student=None)


def told(report: GradeReport, check: str) -> str:
    """Return verdict and message of one check; only it may have failed among those before the rubric's."""
    found = next(c for c in report.checks if c.id == check)
    return f"{found.verdict}: {found.message}"


def doing(line: str, head: str = HEAD) -> str:
    """Return right code with one more line in the function."""
    return head + RIGHT.replace("    e =", f"    {line}\n    e =", 1)


# --- wrong kinds of things ---


@pytest.mark.parametrize(
    ("source", "check", "sentence"),
    [
        (
            "def softmax(): return 1\n",
            "function",
            "failed: The function is written softmax(); expected softmax(x, axis=-1).",
        ),
        (
            "def softmax(x, axis, dtype): return x\n",
            "function",
            "failed: The function is written softmax(x, axis, dtype); expected softmax(x, axis=-1).",
        ),
        (
            "async def softmax(x, axis=-1): return x\n",
            "function",
            "failed: softmax is declared async; expected softmax(x, axis=-1).",
        ),
        (
            "def softmax(x, axis=-1):\n    for row in x: yield row\n",
            "runs",
            f"failed: The function must return a value. But {CALL} gave back a generator; "
            "it must return the values themselves.",
        ),
        (
            "class softmax:\n    def __init__(self, x, axis=-1): self.x = x\n",
            "function",
            "failed: softmax is a class here; expected the function softmax(x, axis=-1).",
        ),
        (
            "class softmax:\n    def __call__(self, x, axis=-1): return x\n",
            "function",
            "failed: softmax is a class here; expected the function softmax(x, axis=-1).",
        ),
        (
            "def softmax(x, axis=-1): return softmax(x, axis)\n",
            "runs",
            f"failed: The function must return a value. But {CALL} raised RecursionError: "
            "maximum recursion depth exceeded (line 1). It raises an exception for every input.",
        ),
        (
            HEAD + "def softmax(x, axis=-1): return [[1.0] * 3] * 3\n",
            "runs",
            "failed: The function must compute its result from its input. "
            "But it returns the number 1 everywhere for every input.",
        ),
        (
            "def softmax(x, axis=-1): print(x)\n",
            "shape",
            f"failed: The result must be an array of the right shape. But {CALL} gave back None "
            "(is a return missing?), expected a numpy array.",
        ),
        (
            "def softmax(x, axis=-1): return input('which? ')\n",
            "runs",
            f"failed: The function must return a value. But {CALL} raised EOFError: "
            "EOF when reading a line (line 1). It raises an exception for every input.",
        ),
    ],
)
def test_each_wrong_kind_has_its_sentence(runner: Runner, source: str, check: str, sentence: str) -> None:
    report = graded(source, runner)
    assert told(report, check) == sentence
    assert (report.outcome, report.score) == (Outcome.WRONG, 0.0)


def test_a_function_that_needs_a_file_that_is_not_there_is_a_format_error(runner: Runner) -> None:
    source = "from helpers import *\ndef softmax(x, axis=-1): return f(x)\n"
    report = graded(source, runner)
    assert report.outcome is Outcome.FORMAT_ERROR
    sentence = (
        "softmax needs a module that isn't here: ModuleNotFoundError: No module named 'helpers' (line 1). "
        "What can be imported is the standard library, numpy, torch, "
    )
    assert any(check.message.startswith(sentence) for check in report.checks)


def test_state_that_changes_results_fails_purity_and_state_that_does_not_costs_nothing(
    runner: Runner,
) -> None:
    harmless = HEAD + "seen = []\n" + doing("seen.append(x.shape)", "")
    assert graded(harmless, runner).outcome is Outcome.RIGHT
    harmful = (
        HEAD + "calls = 0\n" + doing("global calls; calls += 1", "").replace("return e", "return calls * e")
    )
    sentence = told(graded(harmful, runner), "pure")
    expected = (
        r"failed: Arguments must stay as they are, results must be new arrays, and equal calls must "
        rf"give equal ones\. But {re.escape(CALL)} gave 0\.90876 in one entry, and (\d+\.\d+) when it was "
        r"called again\."
    )
    again = re.fullmatch(expected, sentence)
    assert again is not None, sentence
    later = float(again.group(1)) / 0.90876  # how many calls there are before it is the plan's business
    assert later > 1.5 and later == pytest.approx(round(later), rel=1e-4)


# --- output never costs a mark ---


@pytest.mark.parametrize(
    "source",
    [
        HEAD + "for _ in range(100): print('x' * 1_000_000)\n" + RIGHT,
        doing("print('x' * 2_000_000)"),
        doing("import sys; sys.stderr.write('x' * 1_000_000)"),
        doing("import warnings; warnings.warn('careful'); np.log(np.zeros(1)); print('\\x1b[31m')"),
    ],
    ids=["100 MB while loading", "2 MB in every call", "stderr", "warnings"],
)
def test_what_right_code_prints_costs_nothing(runner: Runner, source: str) -> None:
    report = graded(source, runner)
    assert (report.outcome, report.score) == (Outcome.RIGHT, report.max_score)


def test_printing_without_end_is_a_time_out_like_any_other(runner: Runner) -> None:
    report = graded("while True: print('x' * 1000)\ndef softmax(x, axis=-1): return x\n", runner, wall_s=1.0)
    assert told(report, "loads") == "timed_out: Loading the file didn't finish in time."


def test_a_file_that_takes_long_to_import_is_stopped_at_the_limit(runner: Runner) -> None:
    report = graded("import time\ntime.sleep(30)\n" + HEAD + RIGHT, runner, wall_s=1.0)
    assert told(report, "loads") == "timed_out: Loading the file didn't finish in time."
    assert (report.outcome, report.score) == (Outcome.WRONG, 0.0)


# --- several files ---


def test_right_code_in_two_files_is_right(runner: Runner) -> None:
    helpers = HEAD + "def exponentials(x, axis): return np.exp(x - x.max(axis=axis, keepdims=True))\n"
    source = """
        from helpers import exponentials
        def softmax(x, axis=-1):
            e = exponentials(x, axis)
            return e / e.sum(axis=axis, keepdims=True)
    """
    assert graded(source, runner, helpers=helpers).outcome is Outcome.RIGHT


def test_an_error_in_a_helper_names_it_and_a_counterexample_is_still_found(runner: Runner) -> None:
    helpers = "def shift(x):\n    return x - missing\n"
    report = graded(
        "from helpers import shift\ndef softmax(x, axis=-1): return shift(x)\n", runner, helpers=helpers
    )
    assert told(report, "runs").endswith(
        "raised NameError: name 'missing' is not defined (helpers.py, line 2). "
        "It raises an exception for every input."
    )
    assert report.counterexample is not None and "helpers.py, line 2" in report.counterexample.got


@pytest.mark.parametrize(
    ("helpers", "sentence"),
    [
        ("def shift(:\n", "SyntaxError: invalid syntax (helpers.py, line 1) (helpers.py, line 1)."),
        ("import nowhere\n", "ModuleNotFoundError: No module named 'nowhere' (helpers.py, line 1)."),
        (
            "from softmax import softmax\n",
            "cannot import name 'softmax' from partially initialized module 'submission' "
            "(most likely due to a circular import) (submission.py) (helpers.py, line 1).",
        ),
    ],
    ids=["syntax", "missing", "circular"],
)
def test_a_helper_that_does_not_load_is_named(runner: Runner, helpers: str, sentence: str) -> None:
    source = "from helpers import shift\ndef softmax(x, axis=-1): return shift(x)\n"
    report = graded(source, runner, helpers=helpers, softmax=source)
    assert any(sentence in note and "While the file was loaded" in note for note in report.notes)
    assert "name 'shift' is not defined (line 2)" in told(report, "runs")
    assert (report.outcome, report.score) == (Outcome.WRONG, 0.0)


# --- through the command line ---


def write(folder: Path, **files: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text, encoding="utf-8")
    return folder


def notebook(*cells: str) -> str:
    return json.dumps({"cells": [{"cell_type": "code", "source": c, "outputs": []} for c in cells]})


def test_a_folder_is_graded_and_a_file_of_a_librarys_name_noted(tmp_path: Path, grade: Grade) -> None:
    folder = write(
        tmp_path / "in",
        anything__py="import helpers, random\nimport numpy as np\n" + RIGHT,
        helpers__py="x = 1\n",
        numpy__py="raise SystemExit\n",
        unused__py="raise SystemExit\n",
    )
    said = grade("submit", "softmax", folder, "--json")
    report = said.json()
    assert (said.code, report["verdict"]) == (0, "right")
    note = "numpy.py was ignored: numpy is the name of a library, and the real library was used."
    assert report["notes"] == [note]


def test_two_files_with_the_function_are_an_input_error(tmp_path: Path, grade: Grade) -> None:
    folder = write(tmp_path / "in", a__py=HEAD + RIGHT, b__py=RIGHT)
    said = grade("submit", "softmax", folder)
    assert said.code == 2
    assert "two files define softmax" in said.err and "a.py:3, b.py:2" in said.err
    assert "Traceback" not in said.err + said.out


def test_a_notebook_is_graded_by_its_last_definition(tmp_path: Path, runner: Runner) -> None:
    cells = ("%matplotlib inline\n!pip install numpy\n" + HEAD, "def softmax(x, axis=-1): return x", RIGHT)
    submission = read_submission(write(tmp_path / "in", work__ipynb=notebook(*cells)), "softmax")
    report = grade_code(*prepared(), submission, runner, mode=Mode.MARKS, student=None)
    assert report.outcome is Outcome.RIGHT


def test_an_error_in_a_notebook_is_placed_by_cell_and_line(tmp_path: Path, runner: Runner) -> None:
    cells = ("%time x = 1\nimport math", "def softmax(x, axis=-1):\n    y = x\n    return nothing(y)")
    submission = read_submission(write(tmp_path / "in", work__ipynb=notebook(*cells)), "softmax")
    report = grade_code(*prepared(), submission, runner, mode=Mode.MARKS, student=None)
    assert "(code cell 2, line 3)" in told(report, "runs")
