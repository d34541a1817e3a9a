"""The instructor guide and the demo: commands that exist, small pictures, one course."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from engine.commands import grade as group

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs/instructor-guide.md").read_text(encoding="utf-8")
DEMO = (ROOT / "examples/demo.sh").read_text(encoding="utf-8")
PICTURES = ROOT / "docs/pictures"


def called_in_guide() -> list[str]:
    lines = re.findall(r"^    (?:\$ )?(grade .+)$", GUIDE, re.MULTILINE)
    return [re.sub(r" {3,}.*", "", line) for line in lines]  # what stands far behind a command explains it


def called_in_demo() -> list[str]:
    lines = re.findall(r"expect \d+ (?:brief )?(grade .+)$", DEMO.replace("\\\n", " "), re.MULTILINE)
    return [re.split(r" \| | {2}#", line)[0].rstrip(")") for line in lines]


def parsed(line: str) -> None:
    """Read a command line as far as its options go; click's own error says what is unknown."""
    command: click.Command = group
    words = shlex.split(line)[1:]
    context = click.Context(command)
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        name, found, rest = command.resolve_command(context, words)
        assert found is not None
        context, command, words = click.Context(found, parent=context, info_name=name), found, list(rest)
    command.make_parser(context).parse_args(list(words))


@pytest.mark.parametrize("line", [*called_in_guide(), *called_in_demo()])
def test_every_command_takes_the_options_it_is_called_with(line: str) -> None:
    parsed(line)


@pytest.mark.parametrize("line", ["grade batsh x", "grade batch x --aout r", "grade mark list --wrong"])
def test_a_wrong_command_would_be_found(line: str) -> None:
    with pytest.raises(click.UsageError):
        parsed(line)


def test_the_guide_and_the_demo_call_the_whole_path() -> None:
    path = {"init", "quiz", "course", "intake", "batch", "mark", "report", "regrade", "export", "feedback"}
    path |= {"similar", "store", "lint"}
    for calls in (called_in_guide(), called_in_demo()):
        assert path - {line.split()[1] for line in calls} == set()


def test_pictures_are_shown_with_words_and_are_small() -> None:
    pages = "".join(page.read_text(encoding="utf-8") for page in sorted((ROOT / "docs").glob("*.md")))
    shown = re.findall(r"!\[([^\]]*)\]\(pictures/([^)]+)\)", pages)
    assert all(len(words) > 20 for words, _ in shown)
    assert sorted(name for _, name in shown) == sorted(path.name for path in PICTURES.iterdir())
    for path in PICTURES.iterdir():
        data = path.read_bytes()
        assert data.startswith(b"\x89PNG"), path.name
        assert len(data) < 150_000, path.name


def test_the_rules_in_the_guide_are_those_of_the_example_course() -> None:
    settings = (ROOT / "examples/course/course.yaml").read_text(encoding="utf-8")
    assert settings[settings.index("policies:") :] in GUIDE
