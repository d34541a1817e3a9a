"""The tutorial ``docs/writing-items.md``: every file is written, every command called, nothing differs."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from engine.authoring.scaffold import KINDS
from engine.items import load_spec

PAGE = (Path(__file__).parents[2] / "docs/writing-items.md").read_text(encoding="utf-8")
HOME = "/home/ada/"  # stands in the page for the folder in which a reader begins
_BLOCK = re.compile(
    r"^`(?P<name>[\w./-]+)`\n\n```(?:yaml|python)\n(?P<text>.*?)^```$"
    r'|^<!-- test: (?P<file>\S+): "(?P<old>.*?)" becomes "(?P<new>.*?)" -->$'
    r"|^```console\n(?P<session>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
NO_ITEMS = ("misconceptions.yaml", "../blueprints/scores.yaml")


@dataclass(frozen=True)
class File:
    name: str
    text: str

    @property
    def is_item(self) -> bool:
        return self.name.endswith(".yaml") and self.name not in NO_ITEMS


@dataclass(frozen=True)
class Change:
    """A change of a file for the next session only, which the page tells in words."""

    name: str
    old: str
    new: str


@dataclass(frozen=True)
class Session:
    text: str

    def commands(self) -> Iterator[tuple[str, str]]:
        """Yield each command with what it prints."""
        for piece in re.split(r"^\$ ", self.text, flags=re.MULTILINE)[1:]:
            command, _, output = piece.partition("\n")
            yield command, output


def blocks() -> Iterator[File | Change | Session]:
    for found in _BLOCK.finditer(PAGE):
        if found["name"]:
            yield File(found["name"], found["text"])
        elif found["file"]:
            yield Change(found["file"], found["old"], found["new"])
        else:
            yield Session(found["session"])


def without_hashes(text: str) -> str:
    """Leave out the names of variants: they change with the version of the reference."""
    return re.sub(r"\bvariant [0-9a-f]{12}\b", "variant …", text)


def test_nothing_in_the_page_is_left_out() -> None:
    found = list(blocks())
    fences = re.findall(r"^```(\w+)$", PAGE, re.MULTILINE)
    assert len(fences) == sum(not isinstance(block, Change) for block in found)
    assert set(fences) == {"yaml", "python", "console"}
    assert sum(len(list(block.commands())) for block in found if isinstance(block, Session)) >= 25
    assert PAGE.count("$ grade ") == sum(
        command.startswith("grade ")
        for block in found
        if isinstance(block, Session)
        for command, _ in block.commands()
    )


def test_every_file_and_every_output_is_as_shown(grade, monkeypatch: pytest.MonkeyPatch) -> None:
    begin = Path.cwd()
    changed: tuple[Path, str] | None = None
    for block in blocks():
        if isinstance(block, File):
            path = Path(block.name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")
            if block.is_item and "type: code" not in block.text:  # whose other files come later in the page
                load_spec(path)
                checked = grade("lint", path)
                assert checked.code == 0 and ": 0 errors," in checked.out, checked.out
        elif isinstance(block, Change):
            changed = (Path(block.name), Path(block.name).read_text(encoding="utf-8"))
            text = changed[1].replace(block.old, block.new)
            assert text != changed[1]
            changed[0].write_text(text, encoding="utf-8")
        else:
            for command, output in block.commands():
                program, *arguments = shlex.split(command)
                if program == "cd":
                    monkeypatch.chdir(arguments[0])
                    continue
                assert program == "grade"
                said = grade(*arguments)
                shown = (said.out + said.err).replace(f"{begin}/", HOME)
                assert without_hashes(shown) == without_hashes(output), command
            if changed is not None:
                changed[0].write_text(changed[1], encoding="utf-8")
                changed = None


@pytest.fixture
def finished(tmp_path: Path) -> list[Path]:
    """The items as the page leaves them."""
    for block in blocks():
        if isinstance(block, File) and not block.name.startswith("../"):
            path = tmp_path / block.name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")
    items = {
        block.name: tmp_path / block.name for block in blocks() if isinstance(block, File) and block.is_item
    }
    return list(items.values())


def test_the_items_pass_the_strictest_lint(grade, finished: list[Path]) -> None:
    checked = grade("lint", "--strict", "--seeds", 200, *finished)
    assert (checked.code, checked.out) == (0, f"{len(finished)} items checked: 0 errors, 0 warnings\n")


def test_there_is_an_item_of_each_type(finished: list[Path]) -> None:
    specs = [load_spec(path) for path in finished]
    kinds = {spec.kind for spec in specs}
    pools = [spec for spec in specs if getattr(spec.answer, "draw", None) and spec.kind == "single_choice"]
    assert kinds | ({"single_choice_pool"} if pools else set()) == set(KINDS)
    listed = re.search(r"There\s+is one for each type: (.*?)\.\s", PAGE, re.DOTALL)
    assert listed and re.findall(r"`(\w+)`", listed[1]) == list(KINDS)
