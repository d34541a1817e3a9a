"""One reading of the built-in bank for all tests of a process.

Reading and checking all of its files takes a second, and every command that draws a quiz does it: that took
most of the time of the tests that call such commands. A course that a test has just written is too young for
the cache of summaries, so the commands also look whether the contents of any file have changed. A test's own
files are read each time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import engine.items.bank_files as bank_files
import engine.text.cache as text_cache
from engine.code.exercise import load_exercise_file
from engine.code.planned_exercise import PlannedExercise
from engine.items import ProblemSpec, builtin_root, load_spec
from engine.items.bank_files import builtin_registry
from engine.text.cache import contents_digest

_ROOT = builtin_root()
_specs: dict[tuple[object, ...], ProblemSpec] = {}


def read_once() -> None:
    """Let every bank of this process share what it reads of the built-in files (specs are frozen)."""
    bank_files.load_spec = _load_spec  # type: ignore[assignment]
    text_cache.contents_digest = _contents_digest


def _load_spec(path: Path, *, registry: Mapping[str, str] | None = None, **options: Any) -> ProblemSpec:
    if registry is None or options or not path.is_relative_to(_ROOT):
        return load_spec(path, registry=registry, **options)
    # A course adds its known mistakes. Checks of a file only ask whether the registry has a mistake's id, so
    # that what is right by the built-in ids is the same by more.
    if not registry.keys() >= builtin_registry().keys():
        return load_spec(path, registry=registry)
    state = path.stat()
    key = (path, state.st_mtime_ns, state.st_size)
    if key not in _specs:
        _specs[key] = load_spec(path)
    return _specs[key]


def _contents_digest(paths: Iterable[Path]) -> str:
    # any digest will do that changes with the contents; what can't be read has none
    digests = [_builtin_digest(p) if p.is_relative_to(_ROOT) else contents_digest([p]) for p in paths]
    return hashlib.sha256(" ".join(digests).encode()).hexdigest() if all(digests) else ""


@cache
def _builtin_digest(path: Path) -> str:
    return contents_digest([path])


def inputs_of(item: str) -> PlannedExercise:
    """Return what the author's file of a built-in exercise defines."""
    return load_exercise_file(_ROOT / "code" / item / "exercise.py", item)
