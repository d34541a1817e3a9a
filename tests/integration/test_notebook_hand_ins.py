"""Assignments come back: ``grade submit ITEM NOTEBOOK`` and ``grade batch`` with several items in each."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from engine.course import Course
from engine.model import Mode, Outcome
from tests.assignment_notebooks import BASE_2, RIGHT_MASK, RIGHT_SOFTMAX, exported, filled, inserted, without
from tests.integration.conftest import Grade

ITEMS = ("softmax", "softmax-weights", "l16-full-pass", "causal-mask", "why-scaled-scores")
# By hand, from the numbers of `grade show softmax-weights --seed 7`: scores -1.2, 1.3, 0.5.
RIGHT_WEIGHTS = 'answer_softmax_weights = "0.054, 0.653, 0.293"'
WORK = {
    "softmax-solution": BASE_2,
    "softmax-weights-answer": RIGHT_WEIGHTS,
    "causal-mask-solution": RIGHT_MASK,
    "why-scaled-scores-answer": "Because the variance of a dot product grows with the number of its terms.",
}


@pytest.fixture
def course(grade: Grade) -> Path:
    assert grade("init", "course", "--title", "Attention").code == 0
    (Path("course") / "roster.csv").write_text("id,name\nada,Ada Lovelace\nbob,Bob Bauer\n", encoding="utf-8")
    return Path("course")


def handed_out(course: Path) -> dict[str, Any]:
    return exported(*ITEMS, secret=Course.open(course).secret())


def write(folder: str, notebook: Mapping[str, Any], name: str = "week-3.ipynb") -> Path:
    path = Path(folder) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(notebook), encoding="utf-8")
    return path


def test_each_item_of_a_notebook_is_submitted_by_itself(grade: Grade) -> None:
    path = write(".", filled(exported(*ITEMS), WORK))
    wrong = grade("submit", "softmax", path, "--json")
    assert wrong.code == 1
    assert [entry["misconception"] for entry in wrong.json()["diagnosis"]] == ["m-base2"]
    assert grade("submit", "causal-mask", path).code == 0
    assert "right — 1 of 1 point" in grade("submit", "softmax-weights", path).out
    assert "wrong — 0 of 3 points" in grade("submit", "l16-full-pass", path).out


def test_the_report_is_written_beside_what_is_shown(grade: Grade) -> None:
    said = grade(
        "submit", "softmax-weights", "--seed", 7, "--answer", "0.054 0.653 0.293", "--report", "r.json"
    )
    assert "right — 1 of 1 point" in said.out
    report = json.loads(Path("r.json").read_text(encoding="utf-8"))
    assert (report["verdict"], report["score"]) == ("right", 1)
    assert grade("submit", "softmax-weights", "--answer", "1", "--report", "no/r.json").code == 2


def test_a_notebook_without_the_item_is_refused(grade: Grade) -> None:
    path = write(".", exported("softmax"))
    said = grade("submit", "softmax-weights", path)
    assert said.code == 2
    assert "this notebook has no cell for an answer to softmax-weights" in said.err


def test_a_question_that_has_changed_is_refused(grade: Grade) -> None:
    notebook = filled(exported(*ITEMS), WORK)
    notebook["metadata"]["softmark"]["items"][1]["seed"] = 8
    said = grade("submit", "softmax-weights", write(".", notebook))
    assert said.code == 2
    assert "softmax-weights has changed since this notebook was written" in said.err


def test_a_download_of_notebooks_is_graded_item_by_item(grade: Grade, course: Path) -> None:
    notebook = handed_out(course)
    write("in/ada", filled(notebook, WORK))
    with zipfile.ZipFile("in.zip", "w") as archive:
        archive.write("in/ada/week-3.ipynb", "ada/week-3.ipynb")
        right = filled(notebook, {**WORK, "softmax-solution": RIGHT_SOFTMAX})
        archive.writestr("bob/Week 3 (1).ipynb", json.dumps(without(right, "causal-mask-solution")))
    listing = grade("intake", "in.zip", "--course", course, "--json").json()
    assert {(file["item"], file["kind"]) for student in listing["students"] for file in student["files"]} == {
        ("softmax", "code"), ("causal-mask", "code"), ("softmax-weights", "answers"),
        ("l16-full-pass", "answers"), ("why-scaled-scores", "answers"),
    }  # fmt: skip
    said = grade("batch", "in.zip", "--course", course, "--out", "results")
    assert said.code == 1
    assert "the solution cell of causal-mask is missing, and no other cell defines causal_mask" in said.out
    with Course.open(course).open_store() as store:
        scores = {
            (attempt.student, attempt.item): (str(attempt.report.outcome), attempt.report.score)
            for student in ("ada", "bob")
            for attempt in store.attempts(student=student, mode=Mode.MARKS)
        }
    assert scores["ada", "softmax-weights"] == ("right", 1.0)
    assert scores["ada", "causal-mask"] == ("right", 5.0)
    assert scores["bob", "softmax"] == ("right", 10.0)
    assert scores["ada", "softmax"][0] == "partial"
    assert scores["ada", "l16-full-pass"] == ("wrong", 0.0)
    assert scores["ada", "why-scaled-scores"] == (str(Outcome.UNGRADED), None)  # a person marks it
    assert scores["bob", "causal-mask"] == (str(Outcome.FORMAT_ERROR), None)
    again = grade("batch", "in.zip", "--course", course, "--out", "results", "--json").json()
    assert again["graded"] == 0


def test_another_run_of_a_notebook_is_no_other_attempt(grade: Grade, course: Path) -> None:
    notebook = filled(handed_out(course), WORK)
    write("first/ada", notebook)
    assert grade("batch", "first", "--course", course, "--out", "results", "--json").json()["graded"] == 5
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["execution_count"], cell["outputs"] = 7, []
    notebook = inserted(
        filled(notebook, {"softmax-solution": RIGHT_SOFTMAX}), "print(softmax)", "softmax-check"
    )
    write("second/ada", notebook)
    again = grade("batch", "second", "--course", course, "--out", "results", "--json").json()
    assert (again["graded"], again["kept"]) == (1, 4)


def test_nobody_chooses_another_variant_for_marks(grade: Grade, course: Path) -> None:
    # A whole question of another seed, with all of its digests: only the course's seal is missing.
    notebook = filled(handed_out(course), WORK)
    other = exported("softmax-weights", seed=8)["metadata"]["softmark"]["items"][0]
    notebook["metadata"]["softmark"]["items"][1] |= other
    write("in/ada", notebook)
    said = grade("batch", "in", "--course", course, "--out", "results")
    assert said.code == 1
    assert "the question of softmax-weights in this notebook isn't one that the course handed out" in said.out


def test_a_file_of_its_own_goes_before_an_untouched_cell(grade: Grade, course: Path) -> None:
    write("in/ada", filled(handed_out(course), {"causal-mask-solution": RIGHT_MASK}))
    Path("in/ada/softmax.py").write_text(RIGHT_SOFTMAX, encoding="utf-8")
    listing = grade("intake", "in", "--course", course, "--json").json()
    files = [
        (file["item"], file["file"]) for file in listing["students"][0]["files"] if file["kind"] == "code"
    ]
    assert sorted(files) == [("causal-mask", "ada/week-3.ipynb"), ("softmax", "ada/softmax.py")]


@pytest.mark.parametrize("name", ["ada.ipynb", "ada_week-3.ipynb", "week-3_ada (2).ipynb"])
def test_a_notebook_among_those_of_others_says_whose_it_is(grade: Grade, course: Path, name: str) -> None:
    write("in", filled(handed_out(course), WORK), name)
    listing = grade("intake", "in", "--course", course, "--json").json()
    assert [(student["student"], len(student["files"])) for student in listing["students"]] == [("ada", 5)]


def test_an_exercise_of_another_course_is_listed(grade: Grade, course: Path) -> None:
    notebook = handed_out(course)
    notebook["metadata"]["softmark"]["items"].append({"item": "no-such-exercise", "kind": "code"})
    notebook["metadata"]["softmark"]["items"].append(
        {"item": "no-such-item", "kind": "answer", "question": "ab"}
    )
    write("in/ada", notebook)
    said = grade("batch", "in", "--course", course, "--out", "results")
    assert "the notebook is for the exercise no-such-exercise, which this course doesn't have" in said.out
    assert "no-such-item" in said.out
