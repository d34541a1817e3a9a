"""In a course an attempt is recorded under the student that ``--student`` names, complete."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.course import Course
from engine.model import Mode
from engine.store import Attempt

ROOT = Path(__file__).parents[2]
EX3 = "l16-ex3-softmax-weights"


@pytest.fixture
def course(grade) -> Path:
    assert grade("init", "course").code == 0
    return Path("course")


def attempts(course: Path) -> list[Attempt]:
    with Course.open(course).open_store() as store:
        return list(store.attempts())


def test_an_answer_is_kept_with_its_variant_options_and_response(grade, course: Path) -> None:
    said = grade("submit", EX3, "--answer", "b", "--student", "007", "--course", course, "--json")
    assert said.code == 1
    (attempt,) = attempts(course)
    assert (attempt.student, attempt.item, attempt.report.mode) == ("007", EX3, Mode.MARKS)
    assert attempt.report.as_json() == said.json()
    assert attempt.report.item_version
    assert attempt.variant is not None
    assert attempt.option_order == {"answer": ("a", "b", "c", "d")}
    assert attempt.response is not None
    assert dict(attempt.response.answers) == {"answer": "b"}


def test_code_is_kept_with_its_source_and_tier(grade, course: Path) -> None:
    file = ROOT / "problems/code/softmax/solution_numpy.py"
    arguments = ("submit", "softmax", file, "--student", "007", "--course", course, "--json")
    said = grade(*arguments)
    assert said.code == 0
    (attempt,) = attempts(course)
    assert attempt.source == file.read_text(encoding="utf-8")
    assert (attempt.report.tier, attempt.report.score) == ("T1", 10)
    assert grade(*arguments).json() == said.json()
    assert len(attempts(course)) == 1, "the same hand-in again is no other attempt"


def test_nothing_is_kept_without_a_student_or_of_what_cannot_be_read(grade, course: Path) -> None:
    assert grade("submit", EX3, "--answer", "b", "--course", course).code == 1
    assert grade("submit", EX3, "--answer", "?!", "--student", "007", "--course", course).code == 2
    assert attempts(course) == []


@pytest.mark.parametrize("student", ["", "a\x1bb", "x" * 101])
def test_an_id_that_nobody_could_type_again_is_refused(grade, course: Path, student: str) -> None:
    said = grade("submit", EX3, "--answer", "b", "--student", student, "--course", course)
    assert said.code == 2
    assert "--student" in said.err
