"""Loading an exercise: every fault of a spec, its place in the file, and what is never read."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from engine.code import load_exercise
from engine.errors import SpecError
from engine.items import CodeAnswer, ProblemSpec, load_spec

CODE = Path(__file__).parents[3] / "problems" / "code"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(CODE / "softmax", tmp_path / "softmax"))


def changed(**fields: object) -> ProblemSpec:
    spec = load_spec(CODE / "softmax" / "softmax.yaml")
    assert isinstance(spec.answer, CodeAnswer)
    return spec.model_copy(update={"answer": spec.answer.model_copy(update=fields)})


def check(name: str, place: int, **fields: object) -> tuple[object, ...]:
    checks = list(changed().answer.checks)  # type: ignore[union-attr]
    assert checks[place].id == name
    checks[place] = checks[place].model_copy(update=fields)
    return tuple(checks)


def test_exercise_as_loaded(folder: Path) -> None:
    exercise = load_exercise(changed(), folder, "v1")
    assert exercise.item == "softmax" and exercise.version == "v1" and exercise.points == 10.0
    assert exercise.limits.wall_s == 6 and set(exercise.solutions) == {
        "solution_numpy.py",
        "solution_torch.py",
    }
    assert (
        len([m for m in exercise.mutants if not m.combines]) == 24
        and "raise NotImplementedError" in exercise.starter
    )


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (lambda: changed(plan="hardmax"), "no plan is called 'hardmax'; there are "),
        (lambda: changed(checks=check("shape", 0, property="shapely")), "no property is called 'shapely'"),
        (lambda: changed(checks=check("shape", 0, property="hull")), "the plan never tries 'hull'"),
        (lambda: changed(checks=check("shape", 0, options={"tol": 1})), "unknown option 'tol'"),
        (lambda: changed(checks=check("shape", 0, options={"cases": "odd"})), "with cases: odd"),
        (lambda: changed(checks=check("shape", 0, options={"cases": ["axis"]})), "with cases"),
        (lambda: changed(checks=check("shape", 0, requires=("values",))), "no earlier check is called"),
        (lambda: changed(checks=check("shape", 0, id="loads")), "two checks are called 'loads'"),
        (lambda: changed(checks=check("values", 1, id="shape")), "two checks are called 'shape'"),
        (lambda: changed(checks=check("values", 1, points=2.25)), "give 11 points together, the item has 10"),
        (lambda: changed(starter="none.py"), "no readable file 'none.py'"),
        (lambda: changed(starter="../../secret.py"), "no readable file '../../secret.py'"),
        (lambda: changed(solutions=("/etc/passwd",)), "no readable file '/etc/passwd'"),
        (lambda: changed(starter="mutants"), "no readable file 'mutants'"),
        (lambda: changed().model_copy(update={"answer": None}), "softmax is no code exercise"),
    ],
)  # fmt: skip
def test_faults_are_told(spec, words: str, folder: Path) -> None:  # type: ignore[no-untyped-def]
    (folder.parent / "secret.py").write_text("x = 1")
    with pytest.raises(SpecError) as caught:
        load_exercise(spec(), folder, "v")
    assert any(words in fault.message for fault in caught.value.diagnostics)
    assert all(fault.file.endswith("softmax.yaml") for fault in caught.value.diagnostics)


def test_all_faults_at_once_and_their_lines(folder: Path) -> None:
    spec = changed(starter="none.py", checks=check("shape", 0, property="shapely", points=0.0))
    with pytest.raises(SpecError) as caught:
        load_exercise(spec, folder, "v")
    assert len(caught.value.diagnostics) == 3
    by_word = {fault.message.split()[0]: fault for fault in caught.value.diagnostics}
    assert "id: shape" in by_word["check"].source_line


def test_mutant_faults(folder: Path) -> None:
    mutants = list(changed().answer.mutants)  # type: ignore[union-attr]
    mutants[0] = mutants[0].model_copy(update={"killed_by": ("nothing",)})
    mutants[1] = mutants[1].model_copy(update={"id": mutants[0].id})
    with pytest.raises(SpecError) as caught:
        load_exercise(changed(mutants=tuple(mutants)), folder, "v")
    told = [fault.message for fault in caught.value.diagnostics]
    assert any("killed by 'nothing'" in text for text in told)
    assert any("two mutants are called 'no-max-shift'" in text for text in told)


def test_binary_solution_is_a_fault(folder: Path) -> None:
    (folder / "solution_numpy.py").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SpecError, match=r"no readable file 'solution_numpy\.py'"):
        load_exercise(changed(), folder, "v")
