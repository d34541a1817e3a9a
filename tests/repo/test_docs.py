"""The pages of docs/ are there, hang together, and name commands that exist."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from engine.commands import grade as group

ROOT = Path(__file__).parents[2]
PAGES = [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md"]


def test_the_pages_that_people_need_are_there() -> None:
    names = {page.name for page in PAGES}
    assert names >= {
        "README.md",
        "architecture.md",
        "grading-rules.md",
        "instructor-guide.md",
        "problem-spec.md",
        "sources.md",
        "security-model.md",
        "student-guide.md",
        "writing-items.md",
    }


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    broken = [link for link in links if not link.startswith("http") and not (page.parent / link).exists()]
    assert broken == []


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_commands_that_are_named_exist(page: Path) -> None:
    context = click.Context(group)
    named = set(re.findall(r"^(?:\$ |    )?grade ([a-z]+)", page.read_text(encoding="utf-8"), re.MULTILINE))
    assert {name for name in named if group.get_command(context, name) is None} == set()


def test_every_part_of_the_engine_is_in_the_architecture_page() -> None:
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    parts = [
        p.name + ("/" if p.is_dir() else "")
        for p in (ROOT / "engine").iterdir()
        if (p / "__init__.py").is_file() or (p.suffix == ".py" and p.stem != "__init__")
    ]
    assert [part for part in parts if f"engine/{part}" not in page] == []


def test_every_short_name_of_a_source_is_explained() -> None:
    explained = set(
        re.findall(r"^\| ([A-Z]-?\d+) \|", (ROOT / "docs/sources.md").read_text("utf-8"), re.MULTILINE)
    )
    used: set[str] = set()
    for folder, kind in (("reference", "*.py"), ("problems", "*.yaml"), ("docs/problem-examples", "*.yaml")):
        for path in (ROOT / folder).rglob(kind):
            used |= set(re.findall(r"\b(?:S\d|[FD]-\d+)\b", path.read_text("utf-8")))
    assert {"S0", "F-01", "D-4"} <= used
    assert used - explained == set()
