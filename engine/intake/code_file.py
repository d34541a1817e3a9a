"""One code file, and the files beside it that it imports → :class:`engine.model.CodeSubmission`."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from engine.errors import SubmissionError
from engine.foreign import clean_line
from engine.intake.beside import (
    CODE_LIMIT,
    files_used,
    in_folder,
    is_library,
    read_module,
    sha256_of_file,
    sha256_of_files,
)
from engine.intake.decoding import decode, read_bytes
from engine.intake.notebook import notebook_source
from engine.model import CodeSubmission
from engine.python_source import MAX_CHARACTERS

__all__ = ["CODE_LIMIT", "NOTEBOOK_LIMIT", "read_code_file", "source_of"]

# A notebook carries its pictures along; only its code counts against CODE_LIMIT.
NOTEBOOK_LIMIT = 16 * 2**20


def read_code_file(
    path: Path, name: str | None = None, beside: Mapping[str, Path] | None = None
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

    Returns
    -------
    CodeSubmission
        Source as text; it may still be no valid Python, which is for grading to say.  A file beside
        with the name of a library is no module of it; a note says so.

    Raises
    ------
    SubmissionError
        With one clear message: missing, a folder, another kind of file, empty, larger than 1 MiB of
        code, binary, not UTF-8 (and no coding cookie that says what it is), NUL characters, a notebook
        that is none or has a cell that isn't Python, all files together too large.
    """
    shown = clean_line(name or path.name)
    source, data = _read(path, shown, Path(shown if name else path.name).suffix.lower())
    if beside is None:
        beside = files_used(source, in_folder(path.parent)) if name is None else {}
    texts = {other: read_module(other, file) for other, file in beside.items() if not is_library(other)}
    characters = len(source) + sum(map(len, texts.values()))
    if texts and characters > MAX_CHARACTERS:
        raise SubmissionError(
            "the files of the submission are too large together",
            where=", ".join([shown, *(f"{clean_line(other, 60)}.py" for other in list(texts)[:8])]),
            expected=f"at most {MAX_CHARACTERS} characters",
            got=str(characters),
        )
    hashes = {other: sha256_of_file(beside[other]) for other in texts}
    return CodeSubmission(
        source=source,
        filename=shown,
        sha256=sha256_of_files(hashlib.sha256(data).hexdigest(), hashes),
        modules=MappingProxyType(texts),
        notes=tuple(_ignored(other) for other in beside if is_library(other)),
    )


def source_of(path: Path, shown: str) -> str:
    """Return the Python source of one file alone; raises as :func:`read_code_file` does."""
    return _read(path, shown, Path(shown).suffix.lower())[0]


def _read(path: Path, shown: str, suffix: str) -> tuple[str, bytes]:
    if suffix not in {".py", ".ipynb"} and path.is_file():
        raise SubmissionError("this kind of file isn't graded", where=shown, expected="a .py or .ipynb file")
    notebook = suffix == ".ipynb"
    data = read_bytes(path, NOTEBOOK_LIMIT if notebook else CODE_LIMIT)
    source = decode(data, shown, cookie=not notebook)
    if notebook:
        source = notebook_source(source, shown)
        if len(source) > CODE_LIMIT:
            raise SubmissionError(
                "the notebook's code is too large", where=shown, expected=f"at most {CODE_LIMIT // 1024} KiB"
            )
    return source, data


def _ignored(name: str) -> str:
    return f"{name}.py was ignored: {name} is the name of a library, and the real library was used."
