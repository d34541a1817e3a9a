"""The item version: a hash of everything that the marks of an item depend on."""

from __future__ import annotations

import ast
import hashlib
import json
from functools import lru_cache
from pathlib import Path

import engine
from engine.errors import EngineError
from engine.spec.checks.code_files import code_paths
from engine.spec.schema import CodeAnswer, ProblemSpec

__all__ = ["item_version", "reference_version"]

_DIGITS = 16


def item_version(spec: ProblemSpec, path: Path | None = None) -> str:
    """Return the version of an item: 16 hexadecimal digits.

    It changes with the content of the spec (not with its layout or comments), with the files of a
    code exercise, and with the version of the reference.

    Parameters
    ----------
    spec : ProblemSpec
    path : Path, optional
        The file of the spec; needed for code exercises, whose files lie beside it.

    Raises
    ------
    ValueError
        A code exercise without ``path``.
    EngineError
        A file of the exercise or the reference's version can't be read.
    """
    content = spec.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    parts = [
        json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode(),
        reference_version().encode(),
    ]
    if isinstance(spec.answer, CodeAnswer):
        if path is None:
            raise ValueError(f"the version of {spec.id} needs the path of its file")
        parts += _files(spec.answer, path.parent)
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return digest.hexdigest()[:_DIGITS]


def _files(answer: CodeAnswer, folder: Path) -> list[bytes]:
    """Return names and contents of a code exercise's files."""
    data = answer.model_dump(mode="json")
    parts = []
    for name in sorted({name for _, name in code_paths(data)}):
        try:
            content = (folder / name).read_bytes()
        except OSError as problem:
            raise EngineError("a file of the exercise can't be read", where=str(folder / name)) from problem
        parts += [name.encode(), content.replace(b"\r\n", b"\n")]
    return parts


@lru_cache(maxsize=1)
def reference_version() -> str:
    """Return the version of the reference, read from its text: importing it would import torch.

    Raises
    ------
    EngineError
        It isn't there.
    """
    path = Path(engine.__file__).resolve().parent.parent / "reference" / "__init__.py"
    try:
        body = ast.parse(path.read_text(encoding="utf-8")).body
    except (OSError, SyntaxError, ValueError) as problem:
        raise EngineError("the version of the reference can't be read", where=str(path)) from problem
    for statement in body:
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant):
            names = [target.id for target in statement.targets if isinstance(target, ast.Name)]
            if "__version__" in names:
                return str(statement.value.value)
    raise EngineError("the reference has no version", where=str(path), expected='__version__ = "…"')
