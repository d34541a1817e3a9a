"""Every command explains itself and is documented."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from engine.commands import grade
from tests.repo.command_lines import walk

ROOT = Path(__file__).parents[2]

COMMANDS = list(walk(grade))


@pytest.mark.parametrize("path", [path for path, _ in COMMANDS], ids=lambda p: " ".join(p) or "grade")
def test_help_has_an_example(path: tuple[str, ...]) -> None:
    result = CliRunner().invoke(grade, [*path, "--help"])
    assert result.exit_code == 0
    heading, _, examples = result.output.rpartition("Example")
    assert heading, "no example"
    calls = re.findall(r"^ +grade .*", examples.partition("Options:")[0], re.MULTILINE)
    assert examples.startswith(":" if len(calls) == 1 else "s:"), "one Example, several Examples"
    assert " ".join(("grade", *path)) in result.output


@pytest.mark.parametrize(
    "path", [p for p, c in COMMANDS if p and not isinstance(c, click.Group)], ids=" ".join
)
def test_the_readme_names_every_command(path: tuple[str, ...]) -> None:
    assert "grade " + " ".join(path) in (ROOT / "README.md").read_text(encoding="utf-8")


def test_every_option_has_a_help_text() -> None:
    bare = [
        (path, parameter.name)
        for path, command in COMMANDS
        for parameter in command.params
        if isinstance(parameter, click.Option) and not parameter.help and not parameter.hidden
    ]
    assert bare == []


def test_whoever_hears_that_nothing_can_be_written_hears_what_to_do() -> None:
    lacking, seen = [], 0
    for path in sorted((ROOT / "engine").rglob("*.py")):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.args):
                continue
            said = call.args[0]
            if not (call.func.id.endswith(("Error", "write_errors")) and isinstance(said, ast.Constant)):
                continue
            if re.search(r"can't be (written|made|saved)", str(said.value)):
                seen += 1
                if not any(keyword.arg in ("next_step", "expected") for keyword in call.keywords):
                    lacking.append(f"{path.relative_to(ROOT)}:{call.lineno}")
    assert seen > 15 and lacking == []
