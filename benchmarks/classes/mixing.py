"""A class of any size: every exercise of the bank in turn, right and wrong programs in turn.

Right programs are an exercise's solutions, wrong ones its mutants (each function of a mutant's file
becomes the exercise's function).  A comment makes every file's bytes unique, so nothing that is kept by
hash helps; that programs come back under other names is as in a real class, and is noted in the output.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

__all__ = ["Exercise", "Program", "class_of", "read_exercises", "renamed", "write_class"]


@dataclass(frozen=True, slots=True)
class Program:
    """One program that a student may hand in."""

    item: str
    origin: str
    source: str
    right: bool


@dataclass(frozen=True, slots=True)
class Exercise:
    """The programs of one exercise."""

    item: str
    right: tuple[Program, ...]
    wrong: tuple[Program, ...]


def read_exercises(folder: Path) -> tuple[Exercise, ...]:
    """Return every code exercise below `folder` (``NAME/NAME.yaml``), by name.

    Raises
    ------
    ValueError
        There is none.
    """
    found = []
    for spec in sorted(folder.glob("*/*.yaml")):
        if spec.stem == spec.parent.name:
            entry = yaml.safe_load(spec.read_text(encoding="utf-8"))
            if entry["answer"].get("type") == "code":
                found.append(_exercise(spec.parent, entry["id"], entry["answer"]))
    if not found:
        raise ValueError(f"no code exercise below {folder.name}")
    return tuple(found)


def _exercise(folder: Path, item: str, answer: dict[str, Any]) -> Exercise:
    function = answer["function"]
    right = [
        Program(item, name, (folder / name).read_text(encoding="utf-8"), right=True)
        for name in answer["solutions"]
    ]
    wrong: list[Program] = []
    for mutant in answer.get("mutants", ()):
        name = mutant["file"]
        source = (folder / name).read_text(encoding="utf-8")
        wrong += [
            Program(item, f"{name}:{own}", renamed(source, own, function), right=False)
            for own in _functions(source, function)
        ]
    return Exercise(item, tuple(right), tuple(wrong))


def _functions(source: str, function: str) -> list[str]:
    """Return the top-level functions called `function` or ``function_…``: each is a mutant."""
    pattern = re.compile(rf"{re.escape(function)}(_\w+)?")
    return [
        node.name
        for node in ast.parse(source).body
        if isinstance(node, ast.FunctionDef) and pattern.fullmatch(node.name)
    ]


def renamed(source: str, name: str, function: str) -> str:
    """Return the source in which the function `name` is called `function`.

    A function that had the name before gets another one, everywhere.
    """
    if name == function:
        return source
    names = {name: function, function: f"other_{function}"}
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.name = names.get(node.name, node.name)
        elif isinstance(node, ast.Name):
            node.id = names.get(node.id, node.id)
    return ast.unparse(tree) + "\n"


def class_of(size: int, exercises: Sequence[Exercise]) -> Iterator[Program]:
    """Yield `size` programs with unique bytes: exercises in turn, of each right and wrong in turn."""
    for number in range(size):
        turn, place = divmod(number, len(exercises))
        exercise = exercises[place]
        kinds = [kind for kind in (exercise.right, exercise.wrong) if kind]
        # the first of one exercise is right, of the next one wrong: a short class too has both
        programs = kinds[(turn + place) % len(kinds)]
        program = programs[turn // len(kinds) % len(programs)]
        head = f"# {program.item}, handed in by student {number + 1}\n"
        yield Program(program.item, program.origin, head + program.source, program.right)


def write_class(programs: Iterator[Program], folder: Path) -> dict[str, Program]:
    """Write one folder per student; return student → program."""
    written = {}
    for number, program in enumerate(programs, start=1):
        student = f"s{number:05d}"
        (folder / student).mkdir(parents=True)
        (folder / student / f"{program.item}.py").write_text(program.source, encoding="utf-8")
        written[student] = program
    return written
