"""The pages of docs/ are there, hang together, and name commands that exist."""

from __future__ import annotations

import re
import tomllib
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
        "writing-code-exercises.md",
        "writing-items.md",
    }


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    broken = [link for link in links if not link.startswith("http") and not (page.parent / link).exists()]
    assert broken == []


def anchors(page: Path) -> set[str]:
    """Return what links to a page's headings may end with, as GitHub makes it."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_to_a_heading_find_it(page: Path) -> None:
    links = re.findall(r"\]\(([^)#]*\.md)?#([^)]+)\)", page.read_text(encoding="utf-8"))
    targets = [(page.parent / file if file else page, heading) for file, heading in links]
    assert [(str(file), heading) for file, heading in targets if heading not in anchors(file)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_headings_and_listings_begin_their_lines(page: Path) -> None:
    """A tool that fills lines makes one paragraph of everything that it takes for text."""
    text = page.read_text(encoding="utf-8")
    assert re.findall(r"^.*\w.*(?:[.:] #{1,4} |[^`]```\w+ ).*$", text, re.MULTILINE) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_commands_that_are_named_exist(page: Path) -> None:
    context = click.Context(group)
    named = set(
        re.findall(
            r"^(?:\$ |    )?grade ([a-z]+(?:-[a-z]+)*)", page.read_text(encoding="utf-8"), re.MULTILINE
        )
    )
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


ARCHITECTURE = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")


def test_the_architecture_page_lists_the_layers_that_are_checked() -> None:
    configured = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = [c for c in configured["tool"]["importlinter"]["contracts"] if c["type"] == "layers"]
    assert "\n".join(f"    {layer}" for layer in contract["layers"]) in ARCHITECTURE


def test_each_word_of_the_glossary_has_its_class_where_it_says() -> None:
    rows = re.findall(r"^\| ([^|]+) \| [^|]+ \| `(\w+)` \| `([^`]+)` \|$", ARCHITECTURE, re.MULTILINE)
    assert 40 <= len(rows) <= 48
    missing = [
        (word, name, path)
        for word, name, path in rows
        if not re.search(rf"^class {name}\b", (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert missing == []


def test_the_eight_flows_are_short_and_pass_files_that_exist() -> None:
    flows = ARCHITECTURE.split("## Eight ways through it")[1].split("## Our words")[0]
    stops = [
        re.findall(r"^\d+\. ", flow, re.MULTILINE) for flow in re.split(r"^\*\*", flows, flags=re.MULTILINE)
    ]
    assert [len(stop) for stop in stops if stop] == [8, 9, 7, 7, 6, 5, 8, 6]
    packages = {path.name for path in (ROOT / "engine").iterdir() if path.is_dir()}
    files = [name for name in re.findall(r"`([\w/]+\.py|[\w/]+/)`", flows) if name.split("/")[0] in packages]
    assert len(files) > 50
    assert [name for name in files if not (ROOT / "engine" / name).exists()] == []
