"""Read code files as submissions: one with the files beside it that it imports, and those of a folder.

Modules are found by parsing, and nothing is run: what is read here hasn't been in the sandbox yet.
"""

from __future__ import annotations

import ast
import hashlib
import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from engine.code.source import MAX_CHARACTERS, parse_python, place_in_cells, top_level
from engine.errors import InputError, SubmissionError
from engine.intake.download_entries import FileEntry, copy_of, is_junk
from engine.intake.notebook import notebook_source
from engine.model import CodeSubmission
from engine.text.files import decode, read_bytes
from engine.text.words import clean_line, count_noun

# The files beside a submission that it imports, found by reading it; nothing is run.

# The largest modules of Python's own library have a quarter of that.
CODE_LIMIT = 2**20
# Each file is parsed; a project of more is an installation that was handed in along.
_MOST_FILES = 100

if TYPE_CHECKING:
    from engine.intake.assignment_notebook import AssignmentNotebook

Find = Callable[[str], Path | None]  # module name -> the file beside the submission, if there is one


def in_folder(folder: Path) -> Find:
    """Return a search for ``<name>.py`` in a folder; a file with the name of a module, nothing else."""

    def find(name: str) -> Path | None:
        path = folder / f"{name}.py"
        return path if path.is_symlink() or path.is_file() else None

    return find


def files_used(source: str, find: Find) -> dict[str, Path]:
    """Return the files that a source imports, by itself or through one another.

    Parameters
    ----------
    source : str
        Foreign; a source that isn't Python imports nothing.
    find : callable

    Returns
    -------
    dict of str to Path
        Module name to file, in the order in which they are met.  A file with the name of a library is
        among them, so that somebody can say that it isn't used; what it imports is not followed.
        The submission's own file is among them if one of the others imports it.

    Raises
    ------
    SubmissionError
        More than 100 files.
    """
    paths: dict[str, Path] = {}
    waiting = [source]
    while waiting:
        for name in _imported(waiting.pop(0)):
            path = None if name in paths else find(name)
            if path is None:
                continue
            paths[name] = path
            if len(paths) > _MOST_FILES:
                raise SubmissionError(
                    "the submission imports too many files", expected=f"at most {_MOST_FILES}"
                )
            if not is_library(name) and not path.is_symlink():
                waiting += _text_or_nothing(path)
    return paths


def _text_or_nothing(path: Path) -> list[str]:
    # Whoever takes the file in will say why it can't be read.
    try:
        return [decode(read_bytes(path, CODE_LIMIT), path.name, cookie=True)]
    except InputError:
        return []


def is_library(name: str) -> bool:
    """Return whether an import of this name finds the standard library or a package, never a file beside."""
    if name in sys.stdlib_module_names:
        return True
    from engine.sandbox.bwrap import find_layout

    return name in find_layout().package_names


def read_module(name: str, path: Path) -> str:
    """Return the source of a file beside a submission.

    Raises
    ------
    SubmissionError
        It can't be read; the message names it.
    """
    label = f"{clean_line(name, 60)}.py"
    if path.is_symlink():
        raise SubmissionError(
            "this is a link; links are not followed", where=label, next_step="hand in the file itself"
        )
    try:
        return decode(read_bytes(path, CODE_LIMIT), label, cookie=True)
    except SubmissionError as error:
        place = error.where if error.where and error.where.startswith(label) else label
        raise SubmissionError(
            f"{error.what} (the submission imports it)",
            where=place,
            expected=error.expected,
            got=error.got,
            next_step=error.next_step,
        ) from error


def sha256_of_file(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, in hexadecimal; OSError if it can't be read."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sha256_of_files(main: str, others: Mapping[str, str]) -> str:
    """Return the identity of a submission from the SHA-256 of each of its files.

    It is that of the main file where there is no other, so a lone file keeps its identity.
    """
    if not others:
        return main
    lines = [f" {main}", *(f"{name} {others[name]}" for name in sorted(others))]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _imported(source: str) -> Iterator[str]:
    try:
        tree = parse_python(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in ast.walk(tree):
        yield from (name for name in _names(node) if name.isidentifier())


def _names(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name.partition(".")[0] for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.level <= 1:
        if node.module is not None:
            return [node.module.partition(".")[0]]
        return [alias.name for alias in node.names]
    if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        argument = node.args[0].value
        if called in ("import_module", "__import__") and isinstance(argument, str):
            return [argument.partition(".")[0]]
    return []


# A notebook carries its pictures along; only its code counts against CODE_LIMIT.
# Notebooks carry their outputs, pictures among them, which are dropped.
NOTEBOOK_LIMIT = 16 * 2**20


@dataclass(frozen=True, slots=True)
class _ReadFile:
    """The source of one file, the hash that it counts under, and what the student should know."""

    source: str
    sha256: str
    notes: tuple[str, ...] = ()


def read_code_file(
    path: Path,
    name: str | None = None,
    beside: Mapping[str, Path] | None = None,
    *,
    exercise: str | None = None,
) -> CodeSubmission:
    """Read a ``.py`` or ``.ipynb`` file and the ``.py`` files beside it that it imports.

    Parameters
    ----------
    path : Path
    name : str, optional
        Name as handed in, where it lies elsewhere now.
    beside : mapping of str to Path, optional
        The files that it imports (module name to file), where somebody has found them already.
        Without it they are looked for in the folder of `path`, unless a `name` is given: what then
        lies beside may be anybody's.
    exercise : str, optional
        Id or function of the exercise that it is for. Of an assignment's notebook, which may hold several,
        only what this one needs is taken, and its hash is that of what was taken: work on the others and
        another run of the notebook don't make another submission of it.

    Returns
    -------
    CodeSubmission
        Source as text; it may still be no valid Python, which is for grading to say.  A file beside
        with the name of a library isn't a module of it; a note says so.

    Raises
    ------
    SubmissionError
        With one clear message: missing, a folder, another kind of file, empty, larger than 1 MiB of
        code, binary, not UTF-8 (and no coding cookie that says what it is), NUL characters, a notebook
        that is none or has a cell that isn't Python, all files together too large.
    """
    label = clean_line(name or path.name)
    suffix = Path(label if name else path.name).suffix.lower()
    read = _read(path, label, suffix, named=bool(name), exercise=exercise)
    source = read.source
    if beside is None:
        beside = files_used(source, in_folder(path.parent)) if name is None else {}
    texts = {other: read_module(other, file) for other, file in beside.items() if not is_library(other)}
    characters = len(source) + sum(map(len, texts.values()))
    if texts and characters > MAX_CHARACTERS:
        raise SubmissionError(
            "the files of the submission are too large together",
            where=", ".join([label, *(f"{clean_line(other, 60)}.py" for other in list(texts)[:8])]),
            expected=f"at most {MAX_CHARACTERS} characters",
            got=str(characters),
        )
    hashes = {other: sha256_of_file(beside[other]) for other in texts}
    return CodeSubmission(
        source=source,
        filename=label,
        sha256=sha256_of_files(read.sha256, hashes),
        modules=MappingProxyType(texts),
        notes=(*read.notes, *(_ignored(other) for other in beside if is_library(other))),
    )


def source_of(path: Path, label: str) -> str:
    """Return the Python source of one file alone; raises as :func:`read_code_file` does."""
    return _read(path, label, Path(label).suffix.lower(), named=True).source


def assignment_of(path: Path, label: str) -> AssignmentNotebook | None:
    """Return what an assignment's notebook holds; None for any other file.

    Raises
    ------
    SubmissionError
        It can't be read at all.
    """
    if Path(label).suffix.lower() != ".ipynb":
        return None
    return _assignment_in(decode(read_bytes(path, NOTEBOOK_LIMIT, name=label), label), label)


def _assignment_in(text: str, label: str) -> AssignmentNotebook | None:
    # Most notebooks are none, and needn't be read twice.
    if '"softmark"' not in text:
        return None
    from engine.intake.assignment_notebook import read_assignment

    return read_assignment(text, label, CODE_LIMIT)


def _read(path: Path, label: str, suffix: str, *, named: bool, exercise: str | None = None) -> _ReadFile:
    if suffix not in {".py", ".ipynb"} and path.is_file():
        raise SubmissionError("this kind of file isn't graded", where=label, expected="a .py or .ipynb file")
    notebook = suffix == ".ipynb"
    # Where it lies says nothing to somebody who handed it in under another name.
    data = read_bytes(path, NOTEBOOK_LIMIT if notebook else CODE_LIMIT, name=label if named else None)
    source = decode(data, label, cookie=not notebook)
    if notebook:
        assignment = _assignment_in(source, label)
        if assignment is not None and (item := assignment.exercise(exercise)) is not None:
            program = assignment.code(item)
            return _ReadFile(program.source, sha256_of_text(program.identity), program.notes)
        source = notebook_source(source, label, CODE_LIMIT)
    return _ReadFile(source, hashlib.sha256(data).hexdigest())


def sha256_of_text(source: str) -> str:
    """Return the SHA-256 of a source as a file of its own would have it."""
    return hashlib.sha256(source.encode("utf-8")).hexdigest()


def _ignored(name: str) -> str:
    return f"{name}.py was ignored: {name} is the name of a library, and the real library was used."


# A folder of code files: which one is the submission, by the function that it defines.

_SUFFIXES = {".py", ".ipynb"}
# Each is parsed to see what it defines.
_MOST_IN_FOLDER = 200


def read_submission(path: Path, function: str) -> CodeSubmission:
    """Read what was handed in for one exercise: a file, or a folder of files.

    Parameters
    ----------
    path : Path
    function : str
        What the exercise asks for.  Of a folder the file that defines it at its top level is the
        submission; the files that it imports belong to it, the others don't count.

    Raises
    ------
    SubmissionError
        No file, or more than one, defines the function; and all that
        :func:`engine.intake.read_code_file` raises.
    """
    return read_code_file(_main_file(path, function) if path.is_dir() else path, exercise=function)


def _main_file(folder: Path, function: str) -> Path:
    where = clean_line(str(folder))
    files = {path: clean_line(path.name) for path in _code_files(folder, where)}
    return defining_file(files, function, where, give=lambda path: clean_line(str(path)))


def defining_file(
    files: Mapping[Path, str], function: str, where: str, give: Callable[[Path], str] | None = None
) -> Path:
    """Return the only one of some code files that defines a function at its top level.

    Parameters
    ----------
    files : mapping of Path to str
        Their names for messages, clean.
    function : str
    where : str
        What they lie in.
    give : callable, optional
        File → what to hand in instead of all of them; its name by default.

    Raises
    ------
    SubmissionError
        None of them defines it, or several do.
    """
    places = {file: line for file, name in files.items() if (line := _definition(file, name, function))}
    if len(places) == 1:
        return next(iter(places))
    if places:
        first = next(iter(places))
        raise SubmissionError(
            f"{count_noun(len(places), 'file')} define {function}"
            if len(places) > 2
            else f"two files define {function}",
            where=where,
            expected="one file that defines it",
            got=", ".join(places.values()),
            next_step=f"give the file itself, for example {give(first) if give else files[first]}",
        )
    names = ", ".join(name[:60] for name in list(files.values())[:8]) + (", …" if len(files) > 8 else "")
    raise SubmissionError(
        f"no file in this folder defines {function}",
        where=where,
        expected=f"a .py or .ipynb file with def {function}(…) at its top level",
        got=names or "no .py or .ipynb file",
    )


def _code_files(folder: Path, where: str) -> list[Path]:
    try:
        files = sorted(
            path
            for path in folder.iterdir()
            if path.suffix.lower() in _SUFFIXES
            and not is_junk((path.name,))
            and path.is_file()
            and not path.is_symlink()
        )
    except OSError as error:
        raise SubmissionError(
            "the folder can't be read", where=where, got=error.strerror or str(error)
        ) from error
    if len(files) > _MOST_IN_FOLDER:
        raise SubmissionError(
            "the folder holds too many code files",
            where=where,
            expected=f"at most {_MOST_IN_FOLDER}",
            got=str(len(files)),
            next_step="give the file itself",
        )
    return files


def _definition(path: Path, name: str, function: str) -> str | None:
    try:
        source = source_of(path, name)
    except InputError:
        return None
    return definition_place(source, name[:60], function)


def definition_place(source: str, filename: str, function: str) -> str | None:
    """Return ``file:line``, or ``file, code cell n, line m``, of the last definition of a function."""
    line = definition_line(source, function)
    if line is None:
        return None
    if filename.lower().endswith(".ipynb") and (cell := place_in_cells(source, line)):
        return f"{filename}, {cell[0]}, line {cell[1]}"
    return f"{filename}:{line}"


def definition_line(source: str, function: str) -> int | None:
    """Return the line of the last definition of a name at the top level of a source.

    A ``def``, a class and an assignment count; an import doesn't.  A source that isn't Python is
    searched for a line that begins with ``def``.
    """
    try:
        tree = parse_python(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        matches = list(re.finditer(rf"^(?:async\s+)?def\s+{re.escape(function)}\b", source, re.MULTILINE))
        return source.count("\n", 0, matches[-1].start()) + 1 if matches else None
    lines = [node.lineno for node in top_level(tree) if function in _defined(node)]
    return lines[-1] if lines else None


def _defined(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else []
    if isinstance(node, ast.AnnAssign) and node.value is not None:
        targets = [node.target]
    return [target.id for target in targets if isinstance(target, ast.Name)]


# The code files of one folder of a download: which are hand-ins, and which belong to them.


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
