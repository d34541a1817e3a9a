"""Loading an exercise: every fault of a spec, its place in the file, and what is never read."""

# ruff: noqa: E501 (a table of changes and the sentences that they get)

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from engine.code import CodeExercise, load_exercise
from engine.errors import EngineError, SpecError
from engine.items import load_spec

CODE = Path(__file__).parents[3] / "problems" / "code"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(CODE / "softmax", tmp_path / "softmax"))


def loaded(folder: Path, *changes: tuple[str, str]) -> CodeExercise:
    """Load the exercise as a command does, after these changes of its file."""
    path = folder / "softmax.yaml"
    text = path.read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new, 1)
    path.write_text(text, encoding="utf-8")
    return load_exercise(load_spec(path), folder, "v1")


def test_exercise_as_loaded(folder: Path) -> None:
    exercise = loaded(folder)
    assert exercise.item == "softmax" and exercise.version == "v1" and exercise.points == 10.0
    assert exercise.limits.wall_s == 6 and set(exercise.solutions) == {
        "solution_numpy.py",
        "solution_torch.py",
    }
    assert (
        len([m for m in exercise.mutants if not m.combines]) == 24
        and "raise NotImplementedError" in exercise.starter
    )


SHAPE = "{id: shape, property: shape, points: 0.5, public: true}"
VALUES = "{id: values, property: values, points: 1.25, public: true, requires: [shape]}"


@pytest.mark.parametrize(
    ("old", "new", "place", "words"),
    [
        ("  solutions:", "  plan: softmax\n  solutions:", "plan", "a built-in exercise write exercise: softmax"),
        ("  solutions:", "  plan: rnn\n  solutions:", "plan", "a built-in exercise write exercise: rnn-forward"),
        ("  solutions:", "  exercise: hardmax\n  solutions:", "hardmax", "there is no built-in exercise 'hardmax'; "),
        ("  solutions:", "  exercise: e.py\n  solutions:", "e.py", "there is no file e.py beside this one"),
        (SHAPE, SHAPE.replace("y: shape", "y: shapely"), "shapely", "no property is called 'shapely'"),
        (SHAPE, SHAPE.replace("y: shape", "y: hull"), "hull", "exercise.py never tries 'hull'"),
        (SHAPE, SHAPE.replace("public: true", "options: {tol: 1}"), "{tol", "unknown option 'tol'"),
        (SHAPE, SHAPE.replace("public: true", "options: {cases: odd}"), "shape, points", "with cases: odd"),
        (SHAPE, SHAPE.replace("public: true", "options: {cases: [axis]}"), "shape, points", "with cases"),
        (VALUES, VALUES.replace("[shape]", "[sum1]"), "sum1", "the check 'sum1' must come before the one"),
        (SHAPE, SHAPE.replace("}", ", requires: [values]}"), "requires", "these checks wait for each other"),
        (SHAPE, SHAPE.replace("id: shape", "id: loads"), "loads", "every rubric begins with a check 'loads'"),
        (VALUES, VALUES.replace("id: values", "id: shape"), "shape", "a check with the id 'shape' is defined above"),
        (VALUES, VALUES.replace("1.25", "2.25"), "10", "the points of the checks sum to 11, not 10"),
        ("  solutions:", "  starter: none.py\n  solutions:", "none.py", "there is no file none.py beside this one"),
        ("  solutions:", "  starter: ../../secret.py\n  solutions:", "../../secret.py", "a plain path inside its folder"),
        ("solution_numpy.py", "/etc/passwd", "/etc/passwd", "a plain path inside its folder"),
        ("  solutions:", "  starter: mutants\n  solutions:", "mutants", "a plain path inside its folder"),
        ("killed_by: [", "killed_by: [nothing, ", "nothing", "there is no check 'nothing'"),
        ("- id: m-axis", "- id: no-max-shift", "no-max-shift", "a mutant with the id 'no-max-shift' is defined"),
        ("combines: [m-axis, no-max", "combines: [m-axes, no-max", "m-axes", "there is no mutant 'm-axes' of a single"),
        ("combines: [m-axis, m-base2]", "combines: [axis-overflow]", "axis-overflow", "no mutant 'axis-overflow' of"),
        ("      combines: [m-axis, m-base2]\n", "", "axis-base2", "a mutant has either 'feedback' or 'combines'"),
        ("combines: [m-axis, m-base2]", "combines: [m-axis]\n      feedback: No.", "axis-base2", "not both"),
    ],
)  # fmt: skip
def test_faults_have_their_place(folder: Path, old: str, new: str, place: str, words: str) -> None:
    (folder.parent / "secret.py").write_text("x = 1")
    with pytest.raises(SpecError) as caught:
        loaded(folder, (old, new))
    (fault,) = (fault for fault in caught.value.diagnostics if words in fault.message)
    assert fault.file.endswith("softmax.yaml")
    assert fault.source_line[fault.column - 1 :].startswith(place)


def test_an_item_without_code_is_no_exercise(folder: Path) -> None:
    spec = load_spec(folder / "softmax.yaml").model_copy(update={"answer": None})
    with pytest.raises(SpecError, match="softmax isn't a code exercise"):
        load_exercise(spec, folder, "v")


def test_all_faults_at_once(folder: Path) -> None:
    changes = ("  solutions:", "  starter: none.py\n  solutions:"), (SHAPE, SHAPE.replace("0.5", "0.0"))
    with pytest.raises(SpecError) as caught:
        loaded(folder, *changes, ("id: values", "id: runs"))
    assert len(caught.value.diagnostics) >= 3


def test_a_file_that_is_no_text_is_a_fault(folder: Path) -> None:
    (folder / "solution_numpy.py").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SpecError, match=r"solution_numpy\.py isn't UTF-8 text"):
        loaded(folder)


def test_a_file_that_vanishes_meanwhile_is_named(folder: Path) -> None:
    spec = load_spec(folder / "softmax.yaml")
    (folder / "solution_numpy.py").unlink()
    with pytest.raises(EngineError, match=r"solution_numpy\.py"):
        load_exercise(spec, folder, "v")
