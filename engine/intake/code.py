"""The files beside a submission that it imports, found by reading it; nothing is run."""

from __future__ import annotations

import ast
import hashlib
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from engine.errors import InputError, SubmissionError
from engine.foreign import clean_line
from engine.intake.decoding import decode, read_bytes
from engine.python_source import parse_python

__all__ = [
    "CODE_LIMIT",
    "Find",
    "files_used",
    "in_folder",
    "is_library",
    "read_module",
    "sha256_of_file",
    "sha256_of_files",
]

CODE_LIMIT = 2**20
_MOST_FILES = 100

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
        Foreign; a source that is no Python imports nothing.
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
    found: dict[str, Path] = {}
    waiting = [source]
    while waiting:
        for name in _imported(waiting.pop(0)):
            path = None if name in found else find(name)
            if path is None:
                continue
            found[name] = path
            if len(found) > _MOST_FILES:
                raise SubmissionError(
                    "the submission imports too many files", expected=f"at most {_MOST_FILES}"
                )
            if not is_library(name) and not path.is_symlink():
                waiting += _text_or_nothing(path)
    return found


def _text_or_nothing(path: Path) -> list[str]:
    """Return the text of a file to look into; whoever takes it in will say why it can't be read."""
    try:
        return [decode(read_bytes(path, CODE_LIMIT), path.name, cookie=True)]
    except InputError:
        return []


def is_library(name: str) -> bool:
    """Return whether an import of this name finds the standard library or a package, never a file beside."""
    if name in sys.stdlib_module_names:
        return True
    from engine.sandbox.layout import find_layout  # looks for torch on the disk

    return name in find_layout().package_names


def read_module(name: str, path: Path) -> str:
    """Return the source of a file beside a submission.

    Raises
    ------
    SubmissionError
        It can't be read; the message names it.
    """
    shown = f"{clean_line(name, 60)}.py"
    if path.is_symlink():
        raise SubmissionError(
            "this is a link; links are not followed", where=shown, next_step="hand in the file itself"
        )
    try:
        return decode(read_bytes(path, CODE_LIMIT), shown, cookie=True)
    except SubmissionError as error:
        place = error.where if error.where and error.where.startswith(shown) else shown
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
    """Yield the first part of every name that a source imports, wherever it does."""
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
        asked = node.args[0].value
        if called in ("import_module", "__import__") and isinstance(asked, str):
            return [asked.partition(".")[0]]
    return []
