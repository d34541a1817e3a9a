"""Every command explains itself and is documented."""

from __future__ import annotations

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
    assert "Example" in result.output
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
