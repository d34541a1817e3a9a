"""The code files of one folder of one student: which are hand-ins, and which belong to them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from engine.errors import InputError
from engine.intake.assignment_notebook import AssignmentNotebook
from engine.intake.code_files import Find, definition_place, files_used, source_of
from engine.intake.download_entries import FileEntry, copy_of
from engine.text.words import clean_line


@dataclass(frozen=True, slots=True)
class CodeEntry:
    """A code file, its name among its neighbours, and the item that the name means, if it means one.

    `notebook` is what it holds where it is an assignment's: then that says which items it is for.
    """

    entry: FileEntry
    path: Path
    name: str
    item: str | None
    notebook: AssignmentNotebook | None = None


@dataclass(slots=True)
class SortedFolder:
    """What the files of a folder are.

    ``handed`` holds file, item and the files that it imports; ``conflicts`` the places of several
    definitions of one item's function; ``left`` the files that nothing needs.
    """

    handed: list[tuple[CodeEntry, str, dict[str, Path]]] = field(default_factory=list)
    conflicts: list[tuple[CodeEntry, str, str]] = field(default_factory=list)
    left: list[CodeEntry] = field(default_factory=list)


def sort_folder(files: Sequence[CodeEntry], items: Collection[str], only_item: str | None) -> SortedFolder:
    """Sort the code files of one folder.

    An assignment's notebook is the hand-in of its items, but for those that are untouched in it while another
    file is handed in for them.

    A file whose name means an item is its hand-in.  A file without such a name is the hand-in of every
    item whose function it and its copies alone define (a function is called as its item, with underscores),
    unless the item has a file of its name or the file is imported by one that has an item's name.  With
    `only_item` a file on its own is its hand-in whatever it defines.

    Parameters
    ----------
    files : sequence of CodeEntry
        All from the same folder.
    items : collection of str
        Ids of the code exercises.
    only_item : str or None
        All code is for this item.
    """
    # nothing to find out: spare the reading
    if len(files) == 1 and files[0].item is not None and files[0].notebook is None:
        return SortedFolder([(files[0], files[0].item, {})])
    result = SortedFolder()
    sources = {file.path: _source(file) for file in files}
    modules = _Modules(files)
    used = {file.path: _used(sources[file.path], modules.beside(file)) for file in files}
    named = [(file, file.item) for file in files if file.item is not None and file.notebook is None]
    named += _assigned(files, {item for _, item in named}, items)
    imported_paths = {path for file, _ in named for path in used[file.path].values()} - {
        f.path for f, _ in named
    }
    unnamed = [
        file
        for file in files
        if file.item is None and file.notebook is None and file.path not in imported_paths
    ]
    candidates = [only_item] if only_item is not None else sorted(items)
    handed: list[tuple[CodeEntry, str]] = list(named)
    disputed: set[Path] = set()
    for item in candidates:
        if any(item == other for _, other in named):
            continue
        places = {f.path: place for f in unnamed if (place := _defines(f, sources[f.path], item))}
        definers = [file for file in unnamed if file.path in places]
        if len({copy_of(file.name)[0] for file in definers}) > 1:
            names = " and ".join(places.values())
            result.conflicts += [(file, item, names) for file in definers]
            disputed |= set(places)
        else:
            handed += [(file, item) for file in definers]
    if only_item is not None and not handed and not disputed:
        handed = [(file, only_item) for file in unnamed]
    result.handed = [(file, item, used[file.path]) for file, item in handed]
    needed = {path for _, _, beside in result.handed for path in beside.values()}
    needed |= {file.path for file, _ in handed} | disputed
    result.left = [file for file in files if file.path not in needed and file.notebook is None]
    return result


def _assigned(
    files: Sequence[CodeEntry], elsewhere: Collection[str], items: Collection[str]
) -> list[tuple[CodeEntry, str]]:
    """Return the notebooks of assignments with each exercise that they are a hand-in of."""
    return [
        (file, assigned.item)
        for file in files
        for assigned in (file.notebook.items if file.notebook is not None else ())
        if assigned.is_code and assigned.item in items
        if not (assigned.item in elsewhere and file.notebook and file.notebook.is_untouched(assigned.item))
    ]


def _source(file: CodeEntry) -> str:
    # Reading the file for a grade will say why it can't be read.
    try:
        return source_of(file.path, file.name) if file.notebook is None else file.notebook.whole_source()
    except Exception:  # a fault of the reader's too: the file is then on its own
        return ""


class _Modules:
    """The files of a folder as modules; of ``helpers.py`` and its copies a copy finds its like.

    A system that puts a number behind the second file of a name does it to all files of a hand-in, so that
    ``softmax-1.py`` means ``helpers-1.py`` by ``helpers``, or the last one before it.
    """

    def __init__(self, files: Sequence[CodeEntry]) -> None:
        self._by_stem = {stem: file.path for file in files if (stem := _module(file.name))}
        self._copies: dict[str, list[tuple[int, Path]]] = {}
        for file in files:
            original, number = copy_of(file.name)
            if number and not _module(file.name) and (stem := _module(original)):
                self._copies.setdefault(stem, []).append((number, file.path))

    def beside(self, file: CodeEntry) -> Find:
        """Return the search for a module that a file of the folder imports."""
        number = copy_of(file.name)[1]
        fitting = {
            stem: max(earlier)[1]
            for stem, copies in self._copies.items()
            if (earlier := [copy for copy in copies if copy[0] <= number])
        }
        return (self._by_stem | fitting).get


def _module(filename: str) -> str:
    path = Path(filename)
    return path.stem if path.suffix == ".py" and path.stem.isidentifier() else ""


def _used(source: str, find: Find) -> dict[str, Path]:
    try:
        return files_used(source, find)
    except InputError:  # too many files: none of them is taken along
        return {}


def _defines(file: CodeEntry, source: str, item: str) -> str | None:
    return definition_place(source, clean_line(file.name, 60), item.replace("-", "_"))
