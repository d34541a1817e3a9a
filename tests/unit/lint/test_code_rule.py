"""A code exercise whose solutions or mutants don't do what the spec says is refused."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import problems
from engine.authoring.lint.rules import code_exercises
from engine.authoring.lint.subject import LintFinding, LintSubject
from engine.items import ProblemSpec, builtin_bank, load_spec
from engine.text.yaml import read_yaml

pytestmark = pytest.mark.slow

SOFTMAX = Path(problems.__file__).parent / "code" / "softmax"


@pytest.fixture
def exercise(tmp_path: Path) -> Path:
    """A copy of the exercise softmax that a test may spoil."""
    return Path(shutil.copytree(SOFTMAX, tmp_path / "softmax"))


def lint(folder: Path) -> tuple[list[LintFinding], LintSubject]:
    path = folder / "softmax.yaml"
    subject = LintSubject(load_spec(path), "0", {}, 1, path, read_yaml(path))
    return list(code_exercises.check(subject)), subject


def spoil(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_the_exercise_proves_itself_and_shows_its_kill_matrix(exercise: Path) -> None:
    found, subject = lint(exercise)
    assert found == []
    matrix = subject.facts["kill_matrix"]
    assert matrix["mean-shift"] == ["stable"]  # no other property sees it
    assert matrix["clip"] == ["shift"]
    assert all(matrix.values())


def test_a_mutant_that_is_right_is_found(exercise: Path) -> None:
    shutil.copy(exercise / "solution_numpy.py", exercise / "mutants" / "base2.py")
    found, _ = lint(exercise)
    assert found[0].message == "the mutant m-base2 (softmax) passes every check"
    assert found[0].line is not None
    assert "m-base2" in found[0].source_line or "mutants" in found[0].source_line


def test_a_killer_that_does_not_kill_is_found(exercise: Path) -> None:
    spoil(exercise / "mutants" / "mean_shift.py", "mean", "max")
    found, _ = lint(exercise)
    assert any(f.message.startswith("the mutant mean-shift (softmax") for f in found)


def test_a_solution_that_fails_is_found(exercise: Path) -> None:
    shutil.copy(exercise / "mutants" / "base2.py", exercise / "solution_torch.py")
    found, _ = lint(exercise)
    assert any(
        f.message.startswith("the solution solution_torch.py doesn't pass check values") for f in found
    )


def test_a_starter_that_is_the_solution_is_found(exercise: Path) -> None:
    shutil.copy(exercise / "solution_numpy.py", exercise / "starter.py")
    found, _ = lint(exercise)
    assert [f.message for f in found] == ["the starter file already earns full marks"]


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("x = = 1\n", "can't be loaded: Loading the file raised SyntaxError"),
        (
            "def softmax(x, axis=-1):\n    pass\n\n\nraise RuntimeError('no')\n",
            "can't be loaded: Loading the file raised Runtime",
        ),
        ("def soft_max(x, axis=-1):\n    pass\n", "has no function softmax"),
    ],
)
def test_a_starter_that_is_no_start_is_found(exercise: Path, source: str, reason: str) -> None:
    (exercise / "starter.py").write_text(source, encoding="utf-8")
    found, _ = lint(exercise)
    assert any(f.message.startswith(f"the starter file {reason}") for f in found)


def test_a_mutant_that_can_not_be_loaded_kills_itself_for_nothing(exercise: Path) -> None:
    mutant = exercise / "mutants" / "base2.py"
    mutant.write_text(mutant.read_text(encoding="utf-8") + "\nraise RuntimeError('no')\n", encoding="utf-8")
    found, _ = lint(exercise)
    assert "the mutant m-base2 (softmax) can't be loaded" in [f.message for f in found]


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("def softmax(((\n", "can't be loaded: Loading the file raised SyntaxError"),
        ("def soft_max(x, axis=-1):\n    return x\n", "has no def softmax"),
    ],
)
def test_a_mutant_of_which_nothing_can_be_tried_is_found(exercise: Path, source: str, reason: str) -> None:
    (exercise / "mutants" / "base2.py").write_text(source, encoding="utf-8")
    found, _ = lint(exercise)
    assert any(f.message.startswith(f"the mutant m-base2 {reason}") for f in found)


def test_a_check_of_what_the_statement_does_not_say_is_found() -> None:
    bank = builtin_bank()
    for item in (item for item in bank.ids() if bank.load(item).kind == "code"):
        assert list(code_exercises._unsaid(subject_of(bank.load(item)))) == []
    spec = bank.load("softmax")
    silent = spec.model_copy(update={"stem": "Write a function softmax(x, axis=-1)."})
    found = {finding.message.split()[1] for finding in code_exercises._unsaid(subject_of(silent))}
    assert found == {"stable", "dtype", "single-precision", "half", "grad", "pure"}


def subject_of(spec: ProblemSpec) -> LintSubject:
    return LintSubject(spec, "0", {}, 1, strict=True)
