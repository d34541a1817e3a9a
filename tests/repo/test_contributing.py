"""The recipes of CONTRIBUTING.md, carried out as they are printed in a copy of the engine.

A recipe's fences are carried out in their order: a fence below a file's name is that file, a ``diff`` is
applied, and a ``console`` is run. What a console shows is compared; ``…`` stands for anything there.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.repo.house import ROOT

PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
COPIED = (
    "engine",
    "problems",
    "reference",
    "cli.py",
    "pyproject.toml",
    "tests/conftest.py",
    "tests/builtin_bank.py",
)
_FENCE = re.compile(
    r"^(?:`(?P<name>[\w./-]+)`\n\n)?```(?P<kind>\w*)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE
)
RECIPES = {
    title: text
    for title, _, text in (part.partition("\n") for part in re.split(r"^## ", PAGE, flags=re.MULTILINE))
    if title.startswith("Add ")
}


def commands(session: str) -> Iterator[tuple[str, str]]:
    """Yield each command of a console and the output below it."""
    for piece in re.split(r"^\$ ", session, flags=re.MULTILINE)[1:]:
        line, _, output = re.sub(r"\\\n\s*", "", piece).partition("\n")
        yield line, output


def pattern(output: str) -> str:
    """Return a printed output as a pattern: ``…`` is anything, on a line of its own any lines."""
    lines = [
        "(?:.*\n)*" if line == "…" else re.escape(line).replace("…", ".*") + "\n"
        for line in output.splitlines()
    ]
    return "".join(lines)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "softmark"
    for name in COPIED:
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            # with what is compiled, and the times by which Python knows that it still holds
            shutil.copytree(ROOT / name, target)
        else:
            shutil.copy(ROOT / name, target)
    commands = folder / "bin"
    commands.mkdir()
    (commands / "grade").write_text(
        f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(folder)!r})\nfrom cli import main\nmain()\n"
    )
    (commands / "python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    for command in commands.iterdir():
        command.chmod(0o755)
    return folder


def run(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {
        "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(folder),
        "SOFTMARK_HOME": str(folder.parent / "home"),
        "COLUMNS": "120",
    }
    return subprocess.run(
        ["bash", "-c", line], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_there_is_a_recipe_for_each_kind_that_people_add() -> None:
    assert set(RECIPES) == {
        "Add an answer type",
        "Add a code exercise",
        "Add a download layout of a learning system",
        "Add a gradebook format",
    }


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_recipe_works_as_it_is_printed(recipe: str, checkout: Path) -> None:
    ran = 0
    for fence in _FENCE.finditer(RECIPES[recipe]):
        if fence["name"]:
            target = checkout / fence["name"]
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(fence["text"], encoding="utf-8")
        elif fence["kind"] == "diff":
            applied = subprocess.run(
                ["git", "apply", "--unidiff-zero", "-"],
                input=fence["text"], cwd=checkout, capture_output=True, text=True, check=False,
            )  # fmt: skip
            assert applied.returncode == 0, applied.stderr
        elif fence["kind"] == "console":
            for line, output in commands(fence["text"]):
                done = run(line, checkout)
                said = done.stdout + done.stderr
                assert "Traceback" not in said, said
                assert re.fullmatch(
                    pattern(output), said if said.endswith("\n") or not said else said + "\n"
                ), f"$ {line}\n{said}"
                ran += 1
    assert ran
