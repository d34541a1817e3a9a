"""One code file → :class:`engine.model.CodeSubmission`."""

from __future__ import annotations

import hashlib
from pathlib import Path

from engine.errors import SubmissionError
from engine.foreign import clean_line
from engine.intake.decoding import decode, read_bytes
from engine.intake.notebook import notebook_source
from engine.model import CodeSubmission

__all__ = ["CODE_LIMIT", "NOTEBOOK_LIMIT", "read_code_file"]

CODE_LIMIT = 2**20
# A notebook carries its pictures along; only its code counts against CODE_LIMIT.
NOTEBOOK_LIMIT = 16 * 2**20


def read_code_file(path: Path, name: str | None = None) -> CodeSubmission:
    """Read a ``.py`` or ``.ipynb`` file.

    Parameters
    ----------
    path : Path
    name : str, optional
        Name as handed in, where it lies elsewhere now.

    Returns
    -------
    CodeSubmission
        Source as text; it may still be no valid Python, which is for grading to say.

    Raises
    ------
    SubmissionError
        With one clear message: missing, a folder, another kind of file, empty, larger than 1 MiB of
        code, binary, not UTF-8 (and no coding cookie that says what it is), NUL characters, a notebook
        that is none.
    """
    shown = clean_line(name or path.name)
    suffix = Path(shown).suffix.lower() if name else path.suffix.lower()
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
    return CodeSubmission(source=source, filename=shown, sha256=hashlib.sha256(data).hexdigest())
