"""``grade lint --mutants``: the matrix, and what fails an exercise."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from engine.authoring.lint import lint_item
from engine.commands.lint import matrix_lines
from engine.items import builtin_bank, builtin_root, load_spec

BANK = builtin_bank()


@pytest.fixture
def softmax(tmp_path: Path) -> Callable[..., list[str]]:
    """Return the errors of a copy of the softmax exercise whose spec has been edited."""

    def errors(*edits: tuple[str, str]) -> list[str]:
        folder = tmp_path / "softmax"
        shutil.copytree(builtin_root() / "code" / "softmax", folder)
        file = folder / "softmax.yaml"
        text = file.read_text()
        for old, new in edits:
            assert old in text, old
            text = text.replace(old, new)
        file.write_text(text)
        report = lint_item(load_spec(file), file, BANK, seeds=1)
        return [finding.message for finding in report.errors]

    return errors


def test_the_exercise_as_it_is_has_no_error(softmax: Callable[..., list[str]]) -> None:
    assert softmax() == []


def test_a_reason_for_what_a_property_kills_is_wrong(softmax: Callable[..., list[str]]) -> None:
    found = softmax(
        ("    - id: m-base2\n", "    - id: m-base2\n      reference_only: Nothing else sees it.\n")
    )
    assert any("m-base2" in message and "logratio" in message for message in found), found


def test_a_mutant_that_only_the_reference_kills_needs_a_reason(softmax: Callable[..., list[str]]) -> None:
    compared = "property: values\n      options: {cases: axis}"
    found = softmax(("property: sum1\n      options: {cases: axis}", compared))
    assert any("killed only by comparing with the reference" in message for message in found), found


def test_a_matrix_has_a_row_per_mutant_and_a_column_per_check() -> None:
    lines = matrix_lines("x", {"kill_matrix": {"one": ["a"], "two": ["runs", "b"]}, "checks": ["a", "b"]})
    assert lines[0] == "x: 2 mutants, 3 checks"
    assert lines[2].split() == ["one", ".", "x", "."]
    assert lines[3].split() == ["two", "x", ".", "x"]
    assert lines[-1] == "Checks: 0 runs, 1 a, 2 b"


def test_the_command_lints_code_exercises_only() -> None:
    from engine.commands.lint import command

    done = CliRunner().invoke(
        command, ["--mutants", "--seeds", "1", "--json", "softmax"], standalone_mode=False
    )
    (report,) = json.loads(done.output)
    assert set(report["facts"]["kill_matrix"]) >= {"m-axis", "no-max-shift"}
    assert "sum1" in report["facts"]["kill_matrix"]["m-all"]
