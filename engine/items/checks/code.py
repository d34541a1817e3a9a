"""A code exercise's checks build on one another, each mutant is explained, and all its files are there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from engine.errors import Diagnostic
from engine.items.bank import builtin_root
from engine.items.checks.context import CheckContext, Where
from engine.items.checks.structure import unique_ids
from engine.text.files import MAX_BYTES
from engine.text.words import did_you_mean, join_words, one_line

PREREQUISITES = ("loads", "allowed", "function", "runs")
"""What comes before every check of a rubric and earns nothing; a rubric may not use these names."""

EXERCISE_FILE = "exercise.py"
"""The author's file of a code exercise: inputs and relations."""

_PLAIN_PATH = re.compile(r"[A-Za-z0-9_\-]+(?:/[A-Za-z0-9_\-]+)*\.py")


def check_code(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield faults of a code exercise that need no look at its inputs or properties.

    Whether the author's file works and the properties exist is known only to :mod:`engine.code`, which checks
    it when the exercise is loaded: here it would mean running that file to read another one.
    """
    yield from unique_ids(context, ("answer", "checks"), "check")
    yield from unique_ids(context, ("answer", "mutants"), "mutant")
    yield from _rubric(context)
    yield from _mutants(context)
    yield from _signature(context)
    yield from _files(context)


def _rubric(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield check ids that are taken, and requirements that no check above fulfils."""
    places = context.ids_in(("answer", "checks"))
    for name in PREREQUISITES:
        if name in places:
            yield context.fault(places[name], f"every rubric begins with a check '{name}'; choose another id")
    yield from _unknown_checks(context, "checks", "requires")
    circles = list(_circles(context, places))
    yield from circles
    if circles:  # a circle also leads upwards somewhere, and that is the same fault
        return
    # checks are judged in the order of the file, each once those that it requires are known
    above: set[str] = set()
    for name, where in places.items():
        for place, required in context.texts(*where[:-1], "requires"):
            if required in places and required not in above:
                yield context.fault(
                    place, f"the check '{required}' must come before the one that requires it"
                )
        above.add(name)


def _unknown_checks(context: CheckContext, group: str, field: str) -> Iterator[Diagnostic]:
    check_ids = context.ids_in(("answer", "checks"))
    for where in context.entries("answer", group):
        for place, name in context.texts(*where, field):
            if name not in check_ids:
                yield context.fault(place, f"there is no check '{name}'" + did_you_mean(name, check_ids))


def _circles(context: CheckContext, places: Mapping[str, Where]) -> Iterator[Diagnostic]:
    """Yield the first check of every circle of requirements."""
    needs = {
        name: [check for _, check in context.texts(*where[:-1], "requires")] for name, where in places.items()
    }
    reported: set[str] = set()
    for start in needs:
        circle = _circle(start, needs)
        if circle and not reported & set(circle):
            reported |= set(circle)
            where = (*places[start][:-1], "requires")
            yield context.fault(where, f"these checks wait for each other: {' → '.join(circle)}", key=True)


def _mutants(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield mutants that nothing kills or explains, and pairs of mutants that don't exist."""
    yield from _unknown_checks(context, "mutants", "killed_by")
    single = {
        name
        for where, name in context.texts("answer", "mutants", field="id")
        if not context.value(*where[:-1], "combines")
    }
    for where in context.entries("answer", "mutants"):
        has_feedback, is_pair = (
            bool(context.value(*where, "feedback")),
            bool(context.value(*where, "combines")),
        )
        if has_feedback == is_pair:
            what_else = "not both" if is_pair else "so that a student reads something"
            yield context.fault((*where, "id"), f"a mutant has either 'feedback' or 'combines', {what_else}")
        for place, name in context.texts(*where, "combines"):
            if name not in single:
                near = did_you_mean(name, single)
                yield context.fault(place, f"there is no mutant '{name}' of a single mistake{near}")


def _circle(start: str, needs: Mapping[str, list[str]]) -> list[str]:
    """Return a path from ``start`` back to itself, empty if there is none."""
    # breadth first, and with a list instead of recursion: a file may chain a hundred checks
    came_from: dict[str, str] = {}
    waiting = [start]
    while waiting:
        here = waiting.pop()
        for there in needs.get(here, ()):
            if there == start:
                path = [start, here]
                while path[-1] != start:
                    path.append(came_from[path[-1]])
                return path[::-1] if len(path) > 2 or here != start else [start, start]
            if there not in came_from:
                came_from[there] = here
                waiting.append(there)
    return []


def _signature(context: CheckContext) -> Iterator[Diagnostic]:
    text, function = context.value("answer", "signature"), context.value("answer", "function")
    if not isinstance(text, str) or not isinstance(function, str):
        return
    try:
        body = ast.parse(f"def {text.removeprefix('def ').rstrip(': ')}: pass").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        yield context.fault(("answer", "signature"), f"this isn't a signature such as {function}(x)")
        return
    # "f(x): import os; x" parses too, as a function with another body
    node = body[0] if len(body) == 1 else None
    if not (
        isinstance(node, ast.FunctionDef) and node.name == function and isinstance(node.body[0], ast.Pass)
    ):
        yield context.fault(("answer", "signature"), f"this isn't the signature of '{function}'")


def is_builtin_id(exercise: object) -> bool:
    """Return whether ``exercise`` of a code answer names a built-in exercise instead of a file."""
    return isinstance(exercise, str) and not exercise.endswith(".py")


def builtin_exercises() -> list[str]:
    """Return the ids of the built-in exercises, sorted."""
    return sorted(path.parent.name for path in (builtin_root() / "code").glob(f"*/{EXERCISE_FILE}"))


def exercise_path(exercise: str, folder: Path) -> Path:
    """Return the author's file that ``exercise`` of a code answer means, for an item in `folder`."""
    return (
        builtin_root() / "code" / exercise / EXERCISE_FILE if is_builtin_id(exercise) else folder / exercise
    )


def code_paths(data: Mapping[str, object]) -> list[tuple[Where, str]]:
    """Return the files that a code answer names, with their places below ``answer``."""
    paths: list[tuple[Where, object]] = [(("starter",), data.get("starter", "starter.py"))]
    if not is_builtin_id(exercise := data.get("exercise", EXERCISE_FILE)):
        paths.append((("exercise",), exercise))
    solutions, mutants = data.get("solutions"), data.get("mutants")
    for index, name in enumerate(solutions if isinstance(solutions, list | tuple) else ()):
        paths.append((("solutions", index), name))
    for index, mutant in enumerate(mutants if isinstance(mutants, list | tuple) else ()):
        paths.append((("mutants", index, "file"), mutant.get("file") if isinstance(mutant, dict) else None))
    return [(where, name) for where, name in paths if isinstance(name, str)]


def _files(context: CheckContext) -> Iterator[Diagnostic]:
    if context.path is None:  # a text that isn't saved yet has no neighbours
        return
    folder = context.path.parent
    answer = context.value("answer")
    exercise = context.value("answer", "exercise")
    if is_builtin_id(exercise) and not exercise_path(str(exercise), folder).is_file():
        names = builtin_exercises()
        near = did_you_mean(str(exercise), names, f"; there are {join_words(names, 'and', 60)}")
        message = f"there is no built-in exercise '{one_line(str(exercise), 40)}'{near}"
        yield context.fault(("answer", "exercise"), message)
    for where, name in code_paths(answer if isinstance(answer, dict) else {}):
        if file_fault := _file_fault(folder, name):
            yield context.fault(("answer", *where), file_fault)


def _file_fault(folder: Path, name: str) -> str | None:
    # a path that means the same on all systems; only a link can still lead out of the folder
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
        path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return f"{name} isn't UTF-8 text"
    except (OSError, RuntimeError):
        return f"{name} can't be read"
    return None
