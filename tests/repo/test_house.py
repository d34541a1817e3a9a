"""The engine stays easy to find one's way in: a name stands for one thing, and no module is a splinter."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.repo.house import BOUNDS, Module, modules, public_classes, short_and_private, sizes

# Folders with one file for each command, or for each kind that somebody outside may add: it may be short.
OF_KINDS = (
    "engine/commands",
    "engine/answers",
    "engine/authoring/lint/rules",
    "engine/code/families",
    "engine/code/properties",
    "engine/expressions/functions",
    "engine/intake/layouts",
    "engine/marks/gradebooks",
    "engine/store/migrations",
)
SPLINTER = 40  # lines; so little is read sooner in the one module that uses it

# Bounds that the engine doesn't reach yet: how many modules it has, and how many a command enters.
OPEN = {name for name in BOUNDS if name == "modules" or name.startswith("modules entered")}

EVERY = modules()
FIGURES = sizes()


def _is_of_kinds(module: Module) -> bool:
    folder = "/".join(module.name.split(".")[:-1]) + "/"
    return any(folder.startswith(kinds + "/") for kinds in OF_KINDS)


@pytest.mark.parametrize("figure", [name for name in BOUNDS if name not in OPEN])
def test_the_figure_is_within_its_bound(figure: str) -> None:
    bound, is_most = BOUNDS[figure]
    value = FIGURES[figure]
    assert value <= bound if is_most else value >= bound, f"{figure}: {value:.1f}; python -m tests.repo.house"


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


def test_a_splinter_and_a_name_that_stands_twice_would_be_noticed(tmp_path: Path) -> None:
    folder = tmp_path / "engine" / "part"
    folder.mkdir(parents=True)
    for package in (folder, folder.parent):
        (package / "__init__.py").write_text("")
    (folder / "big.py").write_text("from engine.part.tiny import double\n" + "x = 1\n" * 200)
    (folder / "tiny.py").write_text("class Thing:\n    pass\n\n\ndef double(x):\n    return 2 * x\n")
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
