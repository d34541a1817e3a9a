"""`make check`, the hooks before a commit, CI and CONTRIBUTING.md ask for the same things."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
CI = (ROOT / ".ci/run").read_text(encoding="utf-8")
HOOKS = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
TARGETS = {
    name: (needs.partition("##")[0].split(), recipe)
    for name, needs, recipe in re.findall(r"^(\w+):([^\n=]*)\n((?:\t.*\n|  .*\n)*)", MAKEFILE, re.MULTILINE)
}


def commands(target: str) -> str:
    """Return what a target runs, with what it needs."""
    needs, recipe = TARGETS[target]
    return "".join(commands(need) for need in needs if need in TARGETS) + recipe


def tools(text: str) -> set[str]:
    """Return each tool of the environment that a text runs, with a sub-command of ruff."""
    found = re.findall(r"(?:\$\(BIN\)|\.venv/bin)/(ruff \w+|[\w-]+)", text)
    return set(found)


def test_check_is_format_lint_types_layers_and_tests() -> None:
    assert tools(commands("check")) >= {"ruff check", "ruff format", "mypy", "lint-imports"}
    (quick,) = re.findall(r"-m pytest .*", commands("check").replace("\\\n", ""))
    assert '-m "not slow"' in quick
    folders = [word for word in quick.split() if word.startswith("tests/")]
    assert "tests/unit" in folders
    assert [name for name in folders if not (ROOT / name).exists()] == []


def test_the_hooks_are_the_tools_of_check_and_download_nothing() -> None:
    repositories: list[dict[str, Any]] = yaml.safe_load(HOOKS)["repos"]
    assert [repository["repo"] for repository in repositories] == ["local"]
    hooks = repositories[0]["hooks"]
    assert {hook["language"] for hook in hooks} == {"system"}
    assert tools("\n".join(hook["entry"] for hook in hooks)) == tools(commands("check")) - {"python"}


def test_ci_runs_the_tools_of_check_and_every_test() -> None:
    ran = "".join(commands(word) for line in re.findall(r"^make (.*)", CI, re.MULTILINE)
                  for word in line.split() if word in TARGETS)  # fmt: skip
    assert tools(ran) >= tools(commands("check"))
    (everything,) = re.findall(r"-m pytest .*", ran)
    assert " -m " not in everything.removeprefix("-m pytest") and "tests/" not in everything
    assert "demo.sh" in ran


@pytest.mark.parametrize(
    "page", ["README.md", "CONTRIBUTING.md", *(f"docs/{p.name}" for p in (ROOT / "docs").glob("*.md"))]
)
def test_every_target_that_a_page_names_is_there(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    named = re.findall(r"^\$ make ((?:\w+ ?)+?)(?:$| {2,}#)", text, re.MULTILINE)
    named += re.findall(r"`make ([\w ]+)`", text)
    assert {word for words in named for word in words.split()} <= TARGETS.keys()
