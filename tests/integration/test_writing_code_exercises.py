"""The page ``docs/writing-code-exercises.md``: every file is written, every command run, nothing differs."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import engine.exercises
from engine.exercises import ready_relations
from tests.repo.test_contributing import commands, pattern

PAGE = (Path(__file__).parents[2] / "docs/writing-code-exercises.md").read_text(encoding="utf-8")
_BLOCK = re.compile(
    r"^(?:`(?P<name>[\w./-]+)`\n\n)?```(?P<kind>\w+)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE
)
MOST_LINES = 60  # of the author's file, in which a newcomer finds the way


def test_every_file_and_every_output_is_as_shown(grade, monkeypatch) -> None:
    grade("init", "course")
    monkeypatch.chdir("course/problems")
    ran = 0
    for block in _BLOCK.finditer(PAGE):
        if block["kind"] == "console":
            for line, output in commands(block["text"]):
                program, *arguments = shlex.split(line)
                assert program == "grade"
                done = grade(*arguments)
                shown = done.out + done.err
                assert re.fullmatch(pattern(output), shown), f"$ {line}\n{shown}"
                ran += 1
        else:
            path = Path(block["name"])
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block["text"], encoding="utf-8")
            if path.name == "exercise.py":
                assert len(block["text"].splitlines()) <= MOST_LINES
    assert ran == 3
    solution = grade("submit", "layer-norm", "layer-norm/solution.py")
    assert solution.code == 0 and "layer-norm: right" in solution.out, solution.out
    assert not [path for path in Path().rglob("*") if path.name in ("__pycache__", ".hypothesis")]


def test_every_ready_relation_and_every_kind_of_input_is_on_the_page() -> None:
    names = set(engine.exercises.__all__) - {"Relation", "RelationCall", "Exercise"}
    assert {name for name in names if not re.search(rf"\b{name}\b", PAGE)} == set()
    here = ready_relations.__name__
    ready = {
        name for name in names if getattr(getattr(ready_relations, name, None), "__module__", "") == here
    }
    listed = re.search(r"\*\*ready relations\*\*: (.*?)\.\n", PAGE, re.DOTALL)
    assert listed and set(re.findall(r"`(\w+)`", listed[1])) == ready
