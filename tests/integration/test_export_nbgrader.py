"""An nbgrader course can release an exported notebook, and what its students hand in comes back to us."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.assignment_notebooks import RIGHT_SOFTMAX, cell_of, filled
from tests.integration.conftest import Grade

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".clients" / "nbgrader" / "bin" / "python"
ITEMS = ("softmax", "softmax-weights", "l16-full-pass", "why-scaled-scores")


def nbgrader(*arguments: object) -> dict[str, Any]:
    if not PYTHON.exists():
        raise RuntimeError(f"{PYTHON.relative_to(ROOT)} is missing; run: make clients")
    command = [PYTHON, ROOT / "tests" / "clients" / "nbgrader_course.py", *map(str, arguments)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-3000:]
    return dict(json.loads(run.stdout.splitlines()[-1]))


@pytest.fixture
def released(grade: Grade) -> dict[str, Any]:
    """The assignment as nbgrader hands it out."""
    assert grade("export", "notebook", *ITEMS, "--seed", 7, "--out", "week.ipynb").code == 0
    result = nbgrader("release", "week.ipynb", "nbgrader-course")
    assert result["success"], result["log"]
    assert result["schema"] == 3
    assert result["points"] == 18
    assert result["cells"] == {
        "softmax-check": 10,
        "softmax-weights-check": 1,
        "l16-full-pass-check": 3,
        "why-scaled-scores-answer": 4,
    }  # fmt: skip
    return dict(json.loads(Path(result["file"]).read_text(encoding="utf-8")))


@pytest.mark.slow
def test_nbgrader_releases_it_and_what_comes_back_is_graded(grade: Grade, released: dict[str, Any]) -> None:
    text = {cell["id"]: "".join(cell["source"]) for cell in released["cells"]}
    # The starter stays; only what stands between the two lines is nbgrader's.
    assert text["softmax-solution"].startswith("import numpy as np")
    assert text["softmax-solution"].endswith('    """\n    # YOUR CODE HERE\n    raise NotImplementedError()')
    assert 'answer_softmax_weights = ""' in text["softmax-weights-answer"]
    assert text["why-scaled-scores-answer"] == "YOUR ANSWER HERE"
    Path("untouched.ipynb").write_text(json.dumps(released), encoding="utf-8")
    assert "wrong — 0 of 10 points" in grade("submit", "softmax", "untouched.ipynb").out
    blank = grade("submit", "why-scaled-scores", "untouched.ipynb", "--json").json()
    assert (blank["verdict"], blank["score"]) == ("wrong", 0)
    weights = 'answer_softmax_weights = "0.054 0.653 0.293"'
    work = {"softmax-solution": RIGHT_SOFTMAX, "softmax-weights-answer": weights}
    Path("mine.ipynb").write_text(json.dumps(filled(released, work)), encoding="utf-8")
    assert "right — 10 of 10 points" in grade("submit", "softmax", "mine.ipynb").out
    assert "right — 1 of 1 point" in grade("submit", "softmax-weights", "mine.ipynb").out
    # A cell that nbgrader released and nobody touched doesn't stand against a file.
    folder = Path("in") / "ada"
    folder.mkdir(parents=True)
    (folder / "week.ipynb").write_text(json.dumps(released), encoding="utf-8")
    (folder / "softmax.py").write_text(RIGHT_SOFTMAX, encoding="utf-8")
    assert grade("init", "course", "--title", "Attention").code == 0
    files = grade("intake", "in", "--course", "course", "--json").json()["students"][0]["files"]
    assert [file["file"] for file in files if file["item"] == "softmax"] == ["ada/softmax.py"]


@pytest.mark.slow
def test_nbgrader_takes_the_value_of_a_check_cell_for_its_points(released: dict[str, Any]) -> None:
    def output(value: str) -> list[dict[str, Any]]:
        text = {"output_type": "stream", "name": "stdout", "text": ["softmax: partial — 3.75 of 10 points\n"]}
        data = {"data": {"text/plain": value}, "execution_count": 3, "metadata": {}}
        return [text, {"output_type": "execute_result", **data}]

    cell_of(released, "softmax-check")["outputs"] = output("3.75")
    cell_of(released, "softmax-weights-check")["outputs"] = output("0.0")
    cell_of(released, "l16-full-pass-check")["outputs"] = [
        {"output_type": "stream", "name": "stderr", "text": ["This wasn't graded"]}
    ]
    Path("run.ipynb").write_text(json.dumps(released), encoding="utf-8")
    assert nbgrader("credit", "run.ipynb") == {
        "softmax-check": [3.75, 10.0],
        "softmax-weights-check": [0.0, 1.0],
        "l16-full-pass-check": [0, 3.0],
        "why-scaled-scores-answer": [0, 4.0],  # unchanged since its release
    }
