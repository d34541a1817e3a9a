"""The file that a student starts an exercise with."""

from __future__ import annotations

import json
import os
import shutil
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.errors import UsageError
from engine.model import Variant
from engine.text.files import replace_text
from engine.text.words import count_noun

__all__ = ["HintRecord", "starter_notebook", "starter_source", "write_starter"]

_WIDTH = 79
_MOST_BACKUPS = 100


def starter_source(variant: Variant, starter: str, commands: tuple[str, ...]) -> str:
    """Return the starter with the statement above it, as comments.

    Parameters
    ----------
    variant : Variant
        Of the exercise; its stem is the statement.
    starter : str
        Source of the exercise's starter file.
    commands : tuple of str
        What to do next, one command a line.
    """
    lines = [f"{variant.title} ({_points(variant)})", "", *_wrapped(variant.stem.plain), ""]
    lines += [f"    {command}" for command in commands]
    return "".join(f"# {line}".rstrip() + "\n" for line in lines) + "\n" + starter.rstrip("\n") + "\n"


def starter_notebook(variant: Variant, statement: str, starter: str, commands: tuple[str, ...]) -> str:
    """Return a notebook: the statement, the starter, and the commands as text.

    Parameters
    ----------
    statement : str
        The stem in Markdown with ``$``-formulas, which notebooks show.
    """
    told = "\n".join(("In a terminal, in this folder:", "", *(f"    {command}" for command in commands)))
    cells = [
        _cell("statement", "markdown", f"# {variant.title}\n\n({_points(variant)})\n\n{statement.strip()}"),
        _cell("answer", "code", starter.strip("\n")),
        _cell("commands", "markdown", told),
    ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    notebook = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(notebook, ensure_ascii=False, indent=1) + "\n"


def write_starter(path: Path, text: str, *, force: bool = False) -> Path | None:
    """Write a new file; with `force`, over an old one after a copy of it was made.

    Returns
    -------
    Path or None
        The copy, ``NAME.bak``, ``NAME.bak2`` …: a copy is never overwritten either.

    Raises
    ------
    UsageError
        There is such a file (without `force`), a folder of that name, or the folder can't be written to.
    """
    try:
        if not force or not os.path.lexists(path):
            _write_new(path, text)
            return None
        if not path.is_file():
            raise UsageError("this is no ordinary file", where=str(path), expected="another name: --to FILE")
        backup = _copied(path)
        replace_text(path.resolve(), text)
    except FileExistsError:
        kind = "a folder" if path.is_dir() else "a file"
        step = (
            None
            if path.is_dir()
            else "go on with that file, or add --force to make a copy of it and start anew"
        )
        raise UsageError(
            f"there is {kind} of this name, and nothing is overwritten", where=str(path), next_step=step
        ) from None
    except OSError as error:
        raise UsageError(
            "the file can't be written",
            where=str(error.filename or path),
            got=error.strerror or str(error),
            next_step="choose a folder that you may write to: --to FOLDER",
        ) from error
    return backup


def _write_new(path: Path, text: str) -> None:
    with path.open("x", encoding="utf-8", newline="\n") as file:
        file.write(text)


def _copied(path: Path) -> Path:
    """Copy a file to the first free name and return that."""
    for number in range(1, _MOST_BACKUPS + 1):
        copy = path.with_name(f"{path.name}.bak{'' if number == 1 else number}")
        try:
            with copy.open("xb") as target, path.open("rb") as source:
                shutil.copyfileobj(source, target)
        except FileExistsError:
            continue
        return copy
    raise UsageError(
        f"there are {_MOST_BACKUPS} copies already", where=str(path), next_step=f"delete {path.name}.bak*"
    )


def _points(variant: Variant) -> str:
    return count_noun(variant.points, "point")


def _cell(name: str, kind: str, text: str) -> dict[str, Any]:
    cell: dict[str, Any] = {"cell_type": kind, "id": name, "metadata": {}}
    if kind == "code":
        cell |= {"execution_count": None, "outputs": []}
    return cell | {"source": text.splitlines(keepends=True)}


def _wrapped(text: str) -> list[str]:
    """Wrap prose and list entries; formulas and code, which are indented, stay as they are."""
    lines: list[str] = []
    for line in text.strip().splitlines():
        if line.startswith("    ") or not line.strip():
            lines.append(line)
            continue
        hang = "  " if line.startswith("- ") else ""
        lines += textwrap.wrap(
            line, _WIDTH - 2, subsequent_indent=hang, break_long_words=False, break_on_hyphens=False
        )
    return lines


# ----------------------------------------------------------------------------------------------------
# How many hints of each item a person has seen.


@dataclass(frozen=True)
class HintRecord:
    """A small file ``{"seen": {item: count}}``; it decides about no mark.

    So a record that is damaged counts as empty, and whoever can't write one still gets hints.

    Parameters
    ----------
    path : Path
        Its folder must exist.
    """

    path: Path

    def seen(self, item: str) -> int:
        """Return how many hints of an item were given."""
        return self._all().get(item, 0)

    def remember(self, item: str, count: int) -> None:
        """Write down how many hints of an item were given.

        Raises
        ------
        OSError
            The record is as it was.
        """
        counts = {name: seen for name, seen in self._all().items() if name != item}
        if count:
            counts[item] = count
        replace_text(self.path, json.dumps({"seen": dict(sorted(counts.items()))}, indent=1) + "\n")

    def _all(self) -> Mapping[str, int]:
        try:
            read = json.loads(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return {}
        seen = read.get("seen") if isinstance(read, dict) else None
        if not isinstance(seen, dict):
            return {}
        return {item: count for item, count in seen.items() if type(count) is int and count > 0}
