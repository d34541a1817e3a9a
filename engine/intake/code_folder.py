"""A folder of code files: which one is the submission, by the function that it defines."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from engine.errors import InputError, SubmissionError
from engine.foreign import clean_line
from engine.intake.code_file import read_code_file, source_of
from engine.intake.entries import is_junk
from engine.model import CodeSubmission
from engine.plurals import counted
from engine.python_source import parse_python, place_in_cells, top_level

__all__ = ["definition_line", "definition_place", "read_submission"]

_SUFFIXES = {".py", ".ipynb"}
_MOST_FILES = 200


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
    return read_code_file(_main_file(path, function) if path.is_dir() else path)


def _main_file(folder: Path, function: str) -> Path:
    where = clean_line(str(folder))
    files = _code_files(folder, where)
    places = {file: line for file in files if (line := _definition(file, function)) is not None}
    if len(places) == 1:
        return next(iter(places))
    if places:
        raise SubmissionError(
            f"{counted(len(places), 'file')} define {function}"
            if len(places) > 2
            else f"two files define {function}",
            where=where,
            expected="one file that defines it",
            got=", ".join(places.values()),
            next_step=f"give the file itself, for example {clean_line(str(next(iter(places))))}",
        )
    names = ", ".join(clean_line(file.name, 60) for file in files[:8]) + (", …" if len(files) > 8 else "")
    raise SubmissionError(
        f"no file in this folder defines {function}",
        where=where,
        expected=f"a .py or .ipynb file with def {function}(…) at its top level",
        got=names or "no .py or .ipynb file",
    )


def _code_files(folder: Path, where: str) -> list[Path]:
    try:
        found = sorted(
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
    if len(found) > _MOST_FILES:
        raise SubmissionError(
            "the folder holds too many code files",
            where=where,
            expected=f"at most {_MOST_FILES}",
            got=str(len(found)),
            next_step="give the file itself",
        )
    return found


def _definition(path: Path, function: str) -> str | None:
    """Return the place where a file defines the function, None if it doesn't or can't be read."""
    try:
        source = source_of(path, clean_line(path.name))
    except InputError:
        return None
    return definition_place(source, clean_line(path.name, 60), function)


def definition_place(source: str, filename: str, function: str) -> str | None:
    """Return ``file:line``, or ``file, code cell n, line m``, of the last definition of a function."""
    line = definition_line(source, function)
    if line is None:
        return None
    if filename.lower().endswith(".ipynb") and (cell := place_in_cells(source, line)):
        return f"{filename}, code cell {cell[0]}, line {cell[1]}"
    return f"{filename}:{line}"


def definition_line(source: str, function: str) -> int | None:
    """Return the line of the last definition of a name at the top level of a source.

    A ``def``, a class and an assignment count; an import doesn't.  A source that is no Python is
    searched for a line that begins with ``def``.
    """
    try:
        tree = parse_python(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        found = list(re.finditer(rf"^(?:async\s+)?def\s+{re.escape(function)}\b", source, re.MULTILINE))
        return source.count("\n", 0, found[-1].start()) + 1 if found else None
    lines = [node.lineno for node in top_level(tree) if function in _defined(node)]
    return lines[-1] if lines else None


def _defined(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else []
    if isinstance(node, ast.AnnAssign) and node.value is not None:
        targets = [node.target]
    return [target.id for target in targets if isinstance(target, ast.Name)]
