"""The file that a student starts an exercise with, and how many hints they have seen."""

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
from engine.items.bank import Bank
from engine.model import Variant
from engine.text.files import read_text, replace_text, write_errors
from engine.text.words import points_text, shell_word

_WIDTH = 79  # of a line with its "# ": as PEP 8 has it, and every editor shows it whole
_MOST_BACKUPS = 100  # more copies are somebody's script that runs away


@dataclass(frozen=True, slots=True)
class StarterText:
    """The source of an exercise's starter file."""

    text: str


def starter_text(bank: Bank, item: str) -> str:
    """Return the source of the starter file of a code exercise."""

    def read() -> StarterText:
        from engine.items import CodeAnswer

        answer = bank.load(item).answer
        assert isinstance(answer, CodeAnswer)
        return StarterText(read_text(bank.path(item).parent / answer.starter))

    return bank.derived(StarterText, item, [], read).text


def starter_file(bank: Bank, item: str, variant: Variant, filename: str) -> str:
    """Return a starter as it is handed out: with the statement and the commands to type above it.

    Parameters
    ----------
    bank : Bank
    item : str
        A code exercise.
    variant : Variant
        Its variant of seed 0: the statement.
    filename : str
        Used in the commands.
    """
    return starter_source(variant, starter_text(bank, item), tuple(commands_for(item, filename).values()))


def commands_for(item: str, file: Path | str) -> dict[str, str]:
    """Return what can be done with a file, by name."""
    return {
        "watch": f"grade watch {item} {shell_word(file)}",
        "hint": f"grade hint {item}",
        "submit": f"grade submit {item} {shell_word(file)}",
    }


def starter_source(variant: Variant, starter: str, commands: tuple[str, ...]) -> str:
    """Return the starter with the statement above it, as comments.

    Whoever has the file alone, offline, has everything: what is asked, and what to type next.

    Parameters
    ----------
    variant : Variant
        Of the exercise; its stem is the statement.
    starter : str
        Source of the exercise's starter file.
    commands : tuple of str
        To type next, one a line.
    """
    lines = [f"{variant.title} ({points_text(variant.points)})", "", *_wrapped(variant.stem.plain), ""]
    lines += [f"    {command}" for command in commands]
    return "".join(f"# {line}".rstrip() + "\n" for line in lines) + "\n" + starter.rstrip("\n") + "\n"


def starter_notebook(variant: Variant, statement: str, starter: str, commands: tuple[str, ...]) -> str:
    """Return a notebook: the statement, the starter, and the commands as text.

    Parameters
    ----------
    variant : Variant
        Of the exercise: its title and points.
    statement : str
        The stem in Markdown with ``$``-formulas, which notebooks show.
    starter : str
        Source of the starter file.
    commands : tuple of str
        What to type in a terminal.
    """
    steps = "\n".join(("In a terminal, in this folder:", "", *(f"    {command}" for command in commands)))
    cells = [
        _cell(
            "statement",
            "markdown",
            f"# {variant.title}\n\n({points_text(variant.points)})\n\n{statement.strip()}",
        ),
        _cell("answer", "code", starter.strip("\n")),
        _cell("commands", "markdown", steps),
    ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    # Cell ids are from nbformat 4.5 on, and fixed: two students' notebooks differ in their answers only.
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
    with write_errors(
        "the file can't be written", path, next_step="choose a folder that you may write to: --to FOLDER"
    ):
        try:
            if not force or not os.path.lexists(path):
                _write_new(path, text)
                return None
        except FileExistsError:
            kind = "a folder" if path.is_dir() else "a file"
            step = "go on with that file, or add --force to make a copy of it and start over"
            raise UsageError(
                f"{kind} of this name exists, and nothing is overwritten",
                where=str(path),
                next_step=None if path.is_dir() else step,
            ) from None
        if not path.is_file():
            raise UsageError("this isn't a regular file", where=str(path), expected="another name: --to FILE")
        backup = _backed_up(path)
        replace_text(path, text)
    return backup


def _write_new(path: Path, text: str) -> None:
    # "x": between a look and a write, an editor could have made the file.
    with path.open("x", encoding="utf-8", newline="\n") as file:
        file.write(text)


def _backed_up(path: Path) -> Path:
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
        # Further lines of a list entry stand below its text.
        hang = "  " if line.startswith("- ") else ""
        lines += textwrap.wrap(
            line, _WIDTH - 2, subsequent_indent=hang, break_long_words=False, break_on_hyphens=False
        )
    return lines


@dataclass(frozen=True)
class HintRecord:
    """How many hints of each item a person has seen: a file ``{"seen": {item: count}}``.

    No mark depends on it. So a damaged record counts as empty, and whoever can't write one still gets hints.

    Parameters
    ----------
    path : Path
        Its folder is made when something is first written.
    """

    path: Path

    def seen(self, item: str) -> int:
        """Return how many hints of an item the person has seen."""
        return self._all().get(item, 0)

    def remember(self, item: str, count: int) -> None:
        """Write down how many hints of an item the person has seen.

        Raises
        ------
        OSError
            The record is as it was.
        """
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        counts = {name: number for name, number in self._all().items() if name != item}
        if count:
            counts[item] = count
        replace_text(self.path, json.dumps({"seen": dict(sorted(counts.items()))}, indent=1) + "\n")

    def _all(self) -> Mapping[str, int]:
        try:
            document = json.loads(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):  # RecursionError: a file of brackets alone
            return {}
        counts = document.get("seen") if isinstance(document, dict) else None
        if not isinstance(counts, dict):
            return {}
        # type(): a bool is an int as well
        return {item: count for item, count in counts.items() if type(count) is int and count > 0}
