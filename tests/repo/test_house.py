"""The engine stays easy to find one's way in: a name stands for one thing, and no module is a splinter."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tests.repo.house import (
    BOUNDS,
    ROOT,
    Module,
    entered,
    modules,
    public_classes,
    short_and_private,
    sizes,
)

# Folders with one file for each command, or for each kind that somebody outside may add: it may be short.
OF_KINDS = (
    "engine/commands",
    "engine/answers",
    "engine/authoring/lint/rules",
    "engine/code/properties",
    "engine/export/formats",
    "engine/expressions/functions",
    "engine/intake/layouts",
    "engine/marks/gradebooks",
    "engine/store/migrations",
)
SPLINTER = 40  # lines; so little is read sooner in the one module that uses it

# Names that don't say which thing they hold, or that only a picture explains. In a longer name such a word
# is fine: `rows_kept` says what is kept.
EMPTY_WORDS = {
    "told", "found", "own", "one", "shown", "wanted", "given", "kept", "asked", "listed", "held",
    "said", "taken", "refused", "doubled", "sound", "apart", "standing", "desk", "workplace",
    "scribe", "wakes", "cores", "recent", "foreign",
}  # fmt: skip


EVERY = modules()


def _is_of_kinds(module: Module) -> bool:
    folder = "/".join(module.name.split(".")[:-1]) + "/"
    return any(folder.startswith(kinds + "/") for kinds in OF_KINDS)


def _misses(figures: Mapping[str, float]) -> list[str]:
    return [
        f"{name}: {value:.1f}, bound {BOUNDS[name][0]}"
        for name, value in figures.items()
        if name in BOUNDS and not (value <= BOUNDS[name][0] if BOUNDS[name][1] else value >= BOUNDS[name][0])
    ]


def test_sizes_and_names_are_within_their_bounds() -> None:
    figures = sizes()
    assert figures.keys() == BOUNDS.keys() - {name for name in BOUNDS if "entered" in name}
    assert _misses(figures) == []


def test_a_reader_of_the_main_flows_enters_few_modules() -> None:
    figures = entered()
    assert len(figures) == 3 and min(figures.values()) > 20  # the commands ran
    assert _misses(figures) == []


def test_no_two_public_classes_share_a_name() -> None:
    places = defaultdict(list)
    for name, module in public_classes(EVERY):
        places[name].append(module)
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


def repeated(of: Sequence[Module]) -> dict[str, list[str]]:
    """Return the modules that share their last name with another, commands and kinds left out."""
    places = defaultdict(list)
    for module in of:
        if not module.is_package and not _is_of_kinds(module):
            places[module.path.stem].append(module.name)
    return {name: where for name, where in places.items() if len(where) > 1}


def test_no_name_of_a_module_repeats() -> None:
    """A command may be called like what it runs, and a layout and a gradebook like their learning system."""
    assert repeated(EVERY) == {}


def test_no_module_is_a_splinter_of_its_only_importer() -> None:
    splinters = [
        f"{module.name} ({module.lines} lines) belongs into {importer}"
        for module, importer in short_and_private(EVERY)
        if module.lines < SPLINTER and not _is_of_kinds(module)
    ]
    assert splinters == []


def _bound_names(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Yield every name that a module gives to something, and the line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr, node.lineno


def test_names_say_which_thing_they_mean() -> None:
    empty = [
        f"{module.path.relative_to(ROOT)}:{line}: {name}"
        for module in EVERY
        for name, line in _bound_names(module.tree)
        if name.strip("_").lower() in EMPTY_WORDS
    ]
    assert empty == []


def test_a_splinter_an_empty_name_and_one_that_stands_twice_would_be_noticed(tmp_path: Path) -> None:
    folder = tmp_path / "engine" / "part"
    folder.mkdir(parents=True)
    for package in (folder, folder.parent):
        (package / "__init__.py").write_text("")
    (folder / "big.py").write_text("from engine.part.tiny import found\n" + "x = 1\n" * 200)
    (folder / "tiny.py").write_text("class Thing:\n    pass\n\n\ndef found(own):\n    return own\n")
    (folder / "other.py").write_text("class Thing:\n    pass\n")
    every = modules(tmp_path)
    assert [(m.name, importer) for m, importer in short_and_private(every)] == [
        ("engine.part.tiny", "engine.part.big")
    ]
    assert [name for name, _ in public_classes(every)] == ["Thing", "Thing"]
    elsewhere = folder.parent / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "big.py").write_text("")
    assert repeated(modules(tmp_path)) == {"big": ["engine.elsewhere.big", "engine.part.big"]}
    (tiny,) = (module for module in every if module.name == "engine.part.tiny")
    assert {"found", "own"} <= {name for name, _ in _bound_names(tiny.tree)}
