"""An nbgrader course releases, runs and counts an exported notebook; what is handed in comes back to us.

The commands of the whole way are those that docs/notebooks.md prints.
"""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import engine
from engine.answers import right_response
from engine.commands import run
from tests.assignment_notebooks import BASE_2, RIGHT_SOFTMAX, cell_of, code_cell, filled
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


@pytest.fixture(scope="module")
def released_once(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("release")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("SOFTMARK_HOME", str(folder / "home"))
        assert run(["export", "notebook", *ITEMS, "--seed", "7", "--out", "week.ipynb"]) == 0
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
        return Path(result["file"]).read_text(encoding="utf-8")


@pytest.fixture
def released(grade: Grade, released_once: str) -> dict[str, Any]:
    """The assignment as nbgrader hands it out, in an empty folder."""
    return dict(json.loads(released_once))


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


# The whole way, as an instructor goes it.

SECTION = (ROOT / "docs" / "notebooks.md").read_text(encoding="utf-8").split("## With nbgrader")[1]
FORGERY = "import engine.practice.check_cell as cell\ncell.check = lambda *_, **__: {points}"
CELLS = {"softmax": "softmax-check", "l16-full-pass": "l16-full-pass-check"}


def printed_commands() -> list[str]:
    """Return the command lines of the page's section on nbgrader, without what explains them."""
    blocks = re.findall(r"```console\n(.*?)```", SECTION, re.DOTALL)
    lines = re.findall(r"^\$ (.*)$", "\n".join(blocks).replace("\\\n", " "), re.MULTILINE)
    return [line.partition("  #")[0].rstrip() for line in lines]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Return variables under which kernels, histories and settings are in a folder of their own."""
    home = tmp_path / "person"
    home.mkdir()
    (tmp_path / "work" / "nbgrader").mkdir()
    (tmp_path / "work" / "nbgrader" / "softmark-env").symlink_to(Path(sys.executable).parents[1])
    # nbgrader's programs first: it calls alembic by its name, and both environments have one.
    path = os.pathsep.join([str(PYTHON.parent), str(Path(sys.executable).parent), os.environ["PATH"]])
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("JUPYTER", "IPYTHON"))}
    return {**kept, "PATH": path, "HOME": str(home), "SOFTMARK_HOME": str(home / "softmark")}


def hand_in(release: Path, points: float) -> dict[str, Path]:
    """Write what five students hand in for a release; return their notebooks."""
    notebook = json.loads(release.read_text(encoding="utf-8"))
    (e, w, c) = (
        right_response(part) for part in engine.draw(engine.load_item("l16-full-pass"), seed=0).parts
    )
    answers = "answer_l16_full_pass = " + json.dumps({"e": e, "w": w, "c": c})
    raising = RIGHT_SOFTMAX.replace("    e = ", "    raise ValueError(axis)\n    e = ")
    works = {
        "right": {"softmax-solution": RIGHT_SOFTMAX, "l16-full-pass-answer": answers},
        "mistaken": {"softmax-solution": BASE_2, "l16-full-pass-answer": answers.replace(c, "9, 9")},
        "blank": {},
        "raising": {"softmax-solution": raising, "l16-full-pass-answer": "answer_l16_full_pass = 1 / 0"},
        "forging": {"title": "# Forged"},
    }
    files = {}
    for student, work in works.items():
        done = filled(notebook, work)
        if student == "forging":
            done["cells"].insert(1, code_cell(FORGERY.format(points=points)))
        files[student] = Path("submitted") / student / "week-4" / "week-4.ipynb"
        files[student].parent.mkdir(parents=True)
        files[student].write_text(json.dumps(done), encoding="utf-8")
    return files


@pytest.mark.slow
def test_nbgrader_records_the_points_that_submit_gives(
    grade: Grade, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert grade("init", "attention-2026", "--title", "Attention").code == 0
    monkeypatch.chdir("nbgrader")
    (settings,) = re.findall(r"`nbgrader_config.py`\n\n```python\n(.*?)```", SECTION, re.DOTALL)
    Path("nbgrader_config.py").write_text(settings, encoding="utf-8")
    files: dict[str, Path] = {}
    for line in printed_commands():
        if "pip install" in line:
            continue  # it is installed for the tests
        if line.startswith("nbgrader autograde week-4") and not files:
            files = hand_in(Path("release/week-4/week-4.ipynb"), 3.0)
        run = subprocess.run(line, shell=True, capture_output=True, text=True, env=environment, check=False)
        assert run.returncode == (1 if line.startswith("grade batch") else 0), f"{line}\n{run.stderr[-3000:]}"
    recorded = nbgrader("grades", ".", "week-4")
    assert set(recorded) == set(files)
    # Where an answer can't be read there is no mark of ours, and 0 in nbgrader.
    ours: dict[str, dict[str, float]] = {}
    for student, file in files.items():
        reports = {item: grade("submit", item, file, "--json").json() for item in CELLS}
        ours[student] = {item: report.get("score") or 0.0 for item, report in reports.items()}
        if student != "forging":
            points = {item: recorded[student][cell][0] for item, cell in CELLS.items()}
            assert points == pytest.approx(ours[student]), student
        # nobody wrote an essay: unchanged since its release, it needs no person
        assert recorded[student]["why-scaled-scores-answer"] == [0.0, False]
    assert ours == {
        "right": {"softmax": 10.0, "l16-full-pass": 3.0},
        "mistaken": {"softmax": 6.25, "l16-full-pass": 2.0},
        "blank": {"softmax": 0.0, "l16-full-pass": 0.0},
        "raising": {"softmax": 0.0, "l16-full-pass": 0.0},
        "forging": {"softmax": 0.0, "l16-full-pass": 0.0},
    }
    # What the page says about student code: nbgrader believes it, and grading the same files doesn't.
    assert [recorded["forging"][cell][0] for cell in CELLS.values()] == [3.0, 3.0]
    with Path("marks.csv").open(encoding="utf-8", newline="") as table:
        scores = {row["student_id"]: float(row["score"]) for row in csv.DictReader(table)}
    assert scores == {"right": 13.0, "mistaken": 8.25, "blank": 0.0, "raising": 0.0, "forging": 6.0}
    with Path("results/gradebook.csv").open(encoding="utf-8", newline="") as table:
        rows = {row["student"]: row for row in csv.DictReader(table)}
    for student, marks in ours.items():
        assert {item: float(rows[student][item] or 0) for item in CELLS} == pytest.approx(marks), student
    feedback = Path("feedback/mistaken/week-4/week-4.html").read_text(encoding="utf-8")
    assert "Softmax uses powers of e." in " ".join(feedback.split())
