"""``grade regrade`` of code, in the real sandbox: the rubric of an exercise is corrected."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from engine.course import Course
from engine.items.bank import builtin_root

COURSE = ("--course", "course")
# right but for large inputs: `stable` fails
UNSTABLE = """import torch
from beside import exponents

def softmax(x, dim=-1):
    e = exponents(x)
    return e / e.sum(dim, keepdim=True)
"""
BESIDE = "def exponents(x):\n    return x.exp()\n"


def scores() -> dict[str, tuple[float | None, float]]:
    with Course.open(Path("course")).open_store() as store:
        return {a.student: (a.report.score, a.report.max_score) for a in store.attempts()}


@pytest.fixture
def graded(grade) -> Path:
    """A class graded with an exercise of the course's own; returns its problem file."""
    assert grade("init", "course", "--title", "Attention").code == 0
    own = Path("course/problems/softmax")
    shutil.copytree(builtin_root() / "code" / "softmax", own)
    Path("course/roster.csv").write_text("id,name\nada,Ada\nbob,Bob\n", encoding="utf-8")
    for student in ("ada", "bob"):
        Path("in", student).mkdir(parents=True)
    shutil.copy(own / "solution_torch.py", "in/ada/softmax.py")
    Path("in/bob/softmax.py").write_text(UNSTABLE, encoding="utf-8")
    Path("in/bob/beside.py").write_text(BESIDE, encoding="utf-8")
    assert grade("batch", "in", *COURSE, "--out", "results").code == 0
    return own / "softmax.yaml"


def test_a_corrected_rubric_is_applied_to_the_stored_code(graded: Path, grade) -> None:
    assert scores() == {"ada": (10.0, 10.0), "bob": (7.5, 10.0)}
    shutil.rmtree("in")  # everything comes from the store, the file beside too
    text = graded.read_text(encoding="utf-8")
    text = text.replace("property: stable, points: 1,", "property: stable, points: 3,")
    graded.write_text(text.replace("points: 10", "points: 12", 1), encoding="utf-8")
    said = grade("regrade", *COURSE, "--dry-run")
    assert [" ".join(line.split()) for line in said.out.splitlines()[:3]] == [
        "student column was is now difference because",
        "ada softmax 10 of 10 12 of 12 +2",
        "bob softmax 7.5 of 10 7.5 of 12 0 no-max-shift",
    ]
    assert scores()["ada"] == (10.0, 10.0)
    assert grade("regrade", *COURSE, "--yes", "--by", "prof").code == 0
    assert scores() == {"ada": (12.0, 12.0), "bob": (7.5, 12.0)}
    again = grade("regrade", *COURSE, "--dry-run", "--json").json()
    assert (again["changes"], again["current"], again["same"]) == ([], 2, 0)


def test_a_fault_of_the_machine_leaves_the_mark(graded: Path, grade, monkeypatch) -> None:
    from engine.errors import RunnerLostError
    from engine.runs import CodeExercises

    text = graded.read_text(encoding="utf-8")
    graded.write_text(text.replace("title: ", "title: Our ", 1), encoding="utf-8")

    def lost(*_args: object, **_more: object) -> None:
        raise RunnerLostError("the sandbox is gone")

    monkeypatch.setattr(CodeExercises, "grade", lost)
    said = grade("regrade", *COURSE, "--yes")
    assert said.code == 1
    assert "needs a person: ada softmax: it couldn't be graded now: the sandbox is gone" in said.out
    assert scores() == {"ada": (10.0, 10.0), "bob": (7.5, 10.0)}
