"""Right code in a file that also plots, shows progress, fails somewhere or imports what isn't here."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator

import pytest

from engine.code import CodeExercise, exercise_of, freeze_plan
from engine.grading import grade_code
from engine.intake.notebook import notebook_source
from engine.items import builtin_bank
from engine.model import CodeSubmission, GradeReport, Mode, Outcome, Verdict
from engine.runner import Runner
from engine.sandbox import SandboxOptions, open_runner

pytestmark = pytest.mark.slow

BANK = builtin_bank()
ITEMS = [spec.id for spec in BANK.readable()[0] if spec.kind == "code"]

PLOTS = """
import matplotlib.pyplot as plt
import seaborn as sns
from tqdm.auto import tqdm
from IPython.display import Markdown, display
plt.style.use("ggplot")
"""
AFTER = """
figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3))
for step in tqdm(range(3), desc="drawing"):
    left.plot([step], [step])
sns.heatmap([[1.0]], ax=right)
plt.tight_layout()
plt.show()
display(Markdown("done"))
"""


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with open_runner(SandboxOptions(unsafe_local=True)) as opened:
        yield opened


def notebook(*cells: str) -> CodeSubmission:
    written = [{"cell_type": "code", "source": cell, "metadata": {}, "outputs": []} for cell in cells]
    source = notebook_source(json.dumps({"cells": written, "nbformat": 4}), "hand-in.ipynb")
    return file(source, "hand-in.ipynb")


def file(text: str, name: str = "hand-in.py") -> CodeSubmission:
    return CodeSubmission(text, name, hashlib.sha256(text.encode()).hexdigest())


def graded(exercise: CodeExercise, submission: CodeSubmission, runner: Runner) -> GradeReport:
    plan = freeze_plan(exercise, b"loading")
    return grade_code(exercise, plan, submission, runner, mode=Mode.PRACTICE, student=None)


STYLES = {
    "a notebook with plots": lambda code: notebook("%matplotlib inline\n" + PLOTS, code, AFTER),
    "a notebook with failing cells": lambda code: notebook("1 / 0", code, "assert False\nprint(3)", "x = y"),
    "a notebook that installs and imports": lambda code: notebook(
        "!pip install nowhere\nimport nowhere\nfrom nowhere import thing", code, "thing(3)"
    ),
    "a file with a demo that fails": lambda code: file(f"{PLOTS}\n{code}\n{AFTER}\nprint(undefined)\n"),
    "a file that ends itself": lambda code: file(f"import sys\n{code}\nsys.exit()\n"),
}


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("item", ITEMS)
def test_right_code_stays_right_beside_plots_and_failing_cells(item: str, style: str, runner: Runner) -> None:
    exercise = exercise_of(BANK, item)
    report = graded(exercise, STYLES[style](next(iter(exercise.solutions.values()))), runner)
    assert report.outcome is Outcome.RIGHT, (report.checks, report.notes)


SOFTMAX = """
import numpy as np
def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)
"""


def test_failing_statements_are_told_by_cell_and_line(runner: Runner) -> None:
    exercise = exercise_of(BANK, "softmax")
    report = graded(exercise, notebook("a = 1", SOFTMAX, "b = 2\nc = a / 0"), runner)
    assert report.outcome is Outcome.RIGHT and report.score == report.max_score
    assert any("ZeroDivisionError: division by zero (code cell 3, line 2)" in note for note in report.notes)


@pytest.mark.parametrize(
    ("source", "told"),
    [
        (
            "from nowhere import exp\n" + SOFTMAX.replace("np.exp", "exp"),
            "No module named 'nowhere' (line 1)",
        ),
        (
            "import nowhere.deep as n\n" + SOFTMAX.replace("np.exp", "n.exp"),
            "No module named 'nowhere' (line 1)",
        ),
        ("from nowhere import *\n" + SOFTMAX.replace("np.exp", "exp"), "'nowhere' (line 1)"),
        (SOFTMAX.replace("    e =", "    import nowhere\n    e =", 1), "'nowhere' (line 4)"),
        (
            "import nowhere\n" + SOFTMAX.replace("def ", "@nowhere.fast\ndef "),
            "No module named 'nowhere' (line 1)",
        ),
        ("from mine import softmax\n", "'mine' (line 1)"),
    ],
)
def test_a_function_that_needs_a_missing_module_is_not_graded(source: str, told: str, runner: Runner) -> None:
    report = graded(exercise_of(BANK, "softmax"), file(source), runner)
    assert report.outcome is Outcome.FORMAT_ERROR and report.score is None
    loads = report.checks[0]
    assert loads.id == "loads" and told in loads.message and "standard library, numpy, torch" in loads.message


@pytest.mark.parametrize(
    "source",
    [
        "import nowhere\n" + SOFTMAX.replace("np.exp", "exp"),  # another name is missing
        SOFTMAX.replace("np.exp", "exp"),
        "from numpy import nothing\n" + SOFTMAX.replace("np.exp", "nothing"),
    ],
)
def test_other_missing_names_are_the_submissions_own_fault(source: str, runner: Runner) -> None:
    report = graded(exercise_of(BANK, "softmax"), file(source), runner)
    assert report.outcome is Outcome.WRONG and report.score == 0
    assert any("NameError" in check.message for check in report.checks)


def test_what_hidden_inputs_need_is_no_format_error(runner: Runner) -> None:
    source = SOFTMAX.replace("    e =", "    if x.shape[axis] > 8:\n        import nowhere\n    e =", 1)
    report = graded(exercise_of(BANK, "softmax"), file(source), runner)
    assert report.outcome is not Outcome.FORMAT_ERROR


def test_without_the_function_the_first_failure_is_told(runner: Runner) -> None:
    report = graded(exercise_of(BANK, "softmax"), file("x = 1 / 0\nsoftmax = x\n"), runner)
    assert report.outcome is Outcome.WRONG
    assert "Loading the file raised ZeroDivisionError: division by zero (line 1)" in report.checks[0].message


def test_a_file_that_ends_the_process_crashed(runner: Runner) -> None:
    for code in (0, 3, 71):
        report = graded(
            exercise_of(BANK, "softmax"), file(f"{SOFTMAX}\nimport os\nos._exit({code})\n"), runner
        )
        assert report.checks[0].verdict is Verdict.CRASHED, report.checks[0]
