"""What authors of code exercises import: names, signatures, examples; and that authors' files pass mypy."""

from __future__ import annotations

import doctest
import inspect
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import engine.exercises
from engine.exercises import by_hand, input_exercise, inputs
from engine.expressions.functions import FUNCTIONS
from engine.items import builtin_root
from engine.items.checks.code import builtin_exercises

ROOT = Path(__file__).parents[3]

SIGNATURES = {
    "array": "(axes: 'str', entries: 'Entries | None' = None, *, dtype: 'str' = 'float64') -> 'ArrayInput'",
    "causal": "(argument: 'str', axis: 'int' = -2) -> 'Relation'",
    "in_range_of": "(argument: 'str', axis: 'int' = -2) -> 'Relation'",
    "increasing_in": "(argument: 'str') -> 'Relation'",
    "keeps_norm": "(argument: 'str', axis: 'int' = -1) -> 'Relation'",
    "linear_in": "(argument: 'str') -> 'Relation'",
    "mask": "(axes: 'str') -> 'ArrayInput'",
    "not_negative": "() -> 'Relation'",
    "numbers": "(bound: 'int' = 2) -> 'Entries'",
    "optional": "(kind: 'InputKind | SearchStrategy[Any]', default: 'Argument' = None) -> 'OptionalInput'",
    "permutation_equivariant": "(argument: 'str', axis: 'int' = 0, result_axis: 'int | None' = None)"
    " -> 'Relation'",
    "permutation_invariant": "(axes: 'Mapping[str, int]') -> 'Relation'",
    "positive": "(bound: 'int' = 2) -> 'Entries'",
    "probabilities": "() -> 'Entries'",
    "record": "(**arrays: 'ArrayInput') -> 'RecordInput'",
    "relation": "(sentence: 'str', *, title: 'str | None' = None, name: 'str | None' = None)"
    " -> 'Callable[[Callable[[RelationCall], bool]], Relation]'",
    "rows_independent": "(argument: 'str', axis: 'int' = 0, result_axis: 'int | None' = None) -> 'Relation'",
    "scale_invariant": "(argument: 'str', by: 'float' = 2.0) -> 'Relation'",
    "scores": "(bound: 'int' = 4) -> 'Entries'",
    "shift_invariant": "(argument: 'str', by: 'float' = 8.0) -> 'Relation'",
    "size": "(name: 'str') -> 'SizeInput'",
    "step_function": "(vocabulary: 'int', depth: 'int') -> 'StepInput'",
    "sums_to_one": "(axis: 'int' = -1) -> 'Relation'",
    "tokens": "(length: 'str', below: 'int') -> 'TokensInput'",
    "whole": "(low: 'int', high: 'int') -> 'Entries'",
}
KEYWORDS = {
    "inputs", "relations", "reference", "returns", "sizes", "valid", "variations", "half",
    "size_long", "size_one", "size_zero", "gradients", "refuses",
}  # fmt: skip


def test_names_and_signatures_stay() -> None:
    assert set(engine.exercises.__all__) == {*SIGNATURES, "Exercise", "Relation", "RelationCall"}
    functions = {name: str(inspect.signature(getattr(engine.exercises, name))) for name in SIGNATURES}
    assert functions == SIGNATURES
    assert set(inspect.signature(engine.exercises.Exercise).parameters) == KEYWORDS
    assert {"again", "close"} <= set(dir(engine.exercises.RelationCall))


def test_the_examples_run() -> None:
    assert [doctest.testmod(module).failed for module in (inputs, input_exercise)] == [0, 0]


@pytest.mark.parametrize("module", [engine.exercises, by_hand])
def test_everything_public_is_documented(module: object) -> None:
    public = [getattr(module, name) for name in module.__all__]  # type: ignore[attr-defined]
    assert [thing for thing in public if callable(thing) and not inspect.getdoc(thing)] == []


@pytest.mark.slow
def test_the_files_of_the_bank_pass_mypy(tmp_path: Path) -> None:
    """Each is called exercise.py, so copies of other names are checked."""
    for name in builtin_exercises():
        source = builtin_root() / "code" / name / "exercise.py"
        shutil.copy(source, tmp_path / f"exercise_{name.replace('-', '_')}.py")
    settings = tmp_path / "mypy.ini"
    options = ("python_version = 3.11", "follow_imports = silent", "check_untyped_defs = True")
    settings.write_text("\n".join(("[mypy]", *options)))
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", settings, *sorted(tmp_path.glob("exercise_*.py"))],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_engine_names_no_exercise() -> None:
    """What is known of an exercise lies in its folder: an engine that knew one would be closed to others."""
    distinct = [name for name in builtin_exercises() if "-" in name]
    functions = {name.replace("-", "_") for name in distinct} - set(FUNCTIONS)  # keys may call some of them
    words = [*distinct, *functions]
    quoted = [f"{quote}{word}{quote}" for word in words for quote in "\"'"]
    naming = [
        f"{path.relative_to(ROOT)}: {word}"
        for path in sorted((ROOT / "engine").rglob("*.py"))
        for word in quoted
        if word in path.read_text(encoding="utf-8")
    ]
    assert len(distinct) >= 12
    assert naming == []
