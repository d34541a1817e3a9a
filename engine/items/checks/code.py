"""A code exercise's checks depend on each other without circles, and its files are there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from engine.errors import Diagnostic
from engine.items.checks.reading import CheckContext, Where
from engine.items.checks.structure import unique_ids
from engine.text.files import MAX_BYTES
from engine.text.words import did_you_mean

__all__ = ["check_code", "code_paths"]

_PLAIN_PATH = re.compile(r"[A-Za-z0-9_\-]+(?:/[A-Za-z0-9_\-]+)*\.py")


def check_code(reading: CheckContext) -> Iterator[Diagnostic]:
    """Yield doubled or unknown check ids, circles, wrong signatures, and missing or foreign files."""
    if reading.at("answer", "type") != "code":
        return
    yield from unique_ids(reading, ("answer", "checks"), "check")
    yield from unique_ids(reading, ("answer", "mutants"), "mutant")
    yield from _references(reading)
    yield from _circles(reading)
    yield from _signature(reading)
    yield from _files(reading)


def _check_ids(reading: CheckContext) -> dict[str, Where]:
    return reading.misconception_ids(("answer", "checks"))


def _references(reading: CheckContext) -> Iterator[Diagnostic]:
    known = _check_ids(reading)
    holders = [("checks", "requires"), ("mutants", "killed_by")]
    for group, name in holders:
        for where, _ in reading.entries("answer", group):
            for place, check in reading.texts(*where, name):
                if check not in known:
                    yield reading.fault(place, f"there is no check '{check}'" + did_you_mean(check, known))


def _circles(reading: CheckContext) -> Iterator[Diagnostic]:
    """Yield the first check of every circle of requirements."""
    needs = {
        name: [check for _, check in reading.texts(*where[:-1], "requires")]
        for name, where in _check_ids(reading).items()
    }
    told: set[str] = set()
    for start in needs:
        circle = _circle(start, needs)
        if circle and not told & set(circle):
            told |= set(circle)
            where = (*_check_ids(reading)[start][:-1], "requires")
            yield reading.fault(where, f"these checks wait for each other: {' → '.join(circle)}", key=True)


def _circle(start: str, needs: Mapping[str, list[str]]) -> list[str]:
    """Return a way from ``start`` back to itself, empty if there is none."""
    came_from: dict[str, str] = {}
    waiting = [start]
    while waiting:
        here = waiting.pop()
        for there in needs.get(here, ()):
            if there == start:
                way = [start, here]
                while way[-1] != start:
                    way.append(came_from[way[-1]])
                return way[::-1] if len(way) > 2 or here != start else [start, start]
            if there not in came_from:
                came_from[there] = here
                waiting.append(there)
    return []


def _signature(reading: CheckContext) -> Iterator[Diagnostic]:
    text, function = reading.at("answer", "signature"), reading.at("answer", "function")
    if not isinstance(text, str) or not isinstance(function, str):
        return
    try:
        body = ast.parse(f"def {text.removeprefix('def ').rstrip(': ')}: pass").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        yield reading.fault(("answer", "signature"), f"this isn't a signature such as {function}(x)")
        return
    one = body[0] if len(body) == 1 else None
    if not isinstance(one, ast.FunctionDef) or one.name != function or not isinstance(one.body[0], ast.Pass):
        yield reading.fault(("answer", "signature"), f"this isn't the signature of '{function}'")


def code_paths(data: Mapping[str, object]) -> list[tuple[Where, str]]:
    """Return the files that a code answer names, with their places below ``answer``."""
    found: list[tuple[Where, object]] = [(("starter",), data.get("starter", "starter.py"))]
    solutions, mutants = data.get("solutions"), data.get("mutants")
    for index, name in enumerate(solutions if isinstance(solutions, list | tuple) else ()):
        found.append((("solutions", index), name))
    for index, mutant in enumerate(mutants if isinstance(mutants, list | tuple) else ()):
        found.append((("mutants", index, "file"), mutant.get("file") if isinstance(mutant, dict) else None))
    return [(where, name) for where, name in found if isinstance(name, str)]


def _files(reading: CheckContext) -> Iterator[Diagnostic]:
    if reading.path is None:
        return
    folder = reading.path.parent
    answer = reading.at("answer")
    for where, name in code_paths(answer if isinstance(answer, dict) else {}):
        message = _about_file(folder, name)
        if message:
            yield reading.fault(("answer", *where), message)


def _about_file(folder: Path, name: str) -> str | None:
    """Return what is wrong with a file that a spec names, None if nothing is."""
    if not _PLAIN_PATH.fullmatch(name):
        return "a file of an exercise is a plain path inside its folder, such as mutants/base2.py"
    path = folder / name
    try:
        if not path.is_file():
            return f"there is no file {name} beside this one"
        if not path.resolve().is_relative_to(folder.resolve()):
            return f"{name} leads out of the folder"
        if path.stat().st_size > MAX_BYTES:
            return f"{name} is larger than {MAX_BYTES // 2**20} MiB"
    except (OSError, RuntimeError):
        return f"{name} can't be read"
    return None
