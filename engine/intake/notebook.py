"""The cells of a notebook, and the Python source that its code cells are. Outputs are never looked at."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from engine.code.source import cell_mark, parse_python
from engine.errors import SubmissionError
from engine.text.words import clean_line

# Notebooks of courses have up to a few hundred; each costs about 10 µs to read, however short it is.
_MOST_CELLS = 20_000
# Objects and lists, outputs among them: each takes some 60 bytes, and reading holds up all other threads.
_MOST_VALUES = 1_000_000
# Cell magics whose body is still Python of this notebook.
_PYTHON_CELLS = {"time", "timeit", "capture", "prun", "python", "python3"}
_CELL_MAGIC = re.compile(r"%%\s*+(\w++)?")  # of a line without its indent
# Of a line without blanks at either end; no part of a pattern can match where its neighbour does.
_LINE_MAGIC = re.compile(r"[%!?]|[\w., \t]++=\s*+(?:!|%\w)")
_HELP_LINE = re.compile(r"%?[\w.]++\?{1,2}")
# What can change the state between lines: quotes, brackets, comments, escapes.
_TOKENS = re.compile(r"\\.|\"\"\"|'''|[\"'#()\[\]{}]", re.DOTALL)


@dataclass(frozen=True, slots=True)
class NotebookCell:
    """One cell as it was written: everything in it is foreign.

    Parameters
    ----------
    is_code : bool
        Code, or else Markdown or raw text.
    source : str
        With ``\\n`` at the ends of lines. Text that isn't code is empty where it is damaged.
    metadata : mapping
    count : int or None
        The number with which the kernel ran it last.
    """

    is_code: bool
    source: str
    metadata: Mapping[str, Any]
    count: int | None = None


def read_cells(text: str, where: str) -> tuple[Mapping[str, Any], tuple[NotebookCell, ...]]:
    """Return the metadata of a Python notebook, and its cells in order.

    Raises
    ------
    SubmissionError
        It isn't JSON or a Python notebook, is far too large, or a code cell is damaged.
    """
    notebook = _load(text, where)
    metadata = notebook.get("metadata")
    return metadata if isinstance(metadata, dict) else {}, tuple(_cells(notebook, where))


def notebook_source(text: str, where: str, most: int = 2**20) -> str:
    """Return the joined code cells.

    Each cell begins after a comment line that names it. Magics, shell lines and help lines are
    blanked, so that line numbers stay; so is a whole cell of another language (``%%bash``).

    Parameters
    ----------
    text : str
        Of the file.
    where : str
        Its name, for messages.
    most : int
        Characters of code that are read.

    Raises
    ------
    SubmissionError
        It isn't JSON or a Python notebook, has too much code, no code cells, or one that Python can't
        read: cell and line are named.
    """
    cells = [python_of(cell.source) for cell in read_cells(text, where)[1] if cell.is_code]
    check_size(cells, where, most)
    joined = "".join(f"{cell_mark(number)}\n{cell}\n" for number, cell in enumerate(cells, start=1))
    for number, cell in enumerate(cells, start=1):
        check_syntax(cell, f"code cell {number}", where)
    if not any(line.strip() for cell in cells for line in cell.split("\n")):
        raise SubmissionError(
            "the notebook has no code", where=where, expected="a code cell that defines the function"
        )
    return joined


def check_size(cells: Iterable[str], where: str, most: int) -> None:
    """Refuse code that is too large; before it is parsed, since 16 MiB may hold code for minutes."""
    if sum(len(cell) + len(cell_mark(1)) for cell in cells) > most:
        raise SubmissionError(
            "the notebook's code is too large", where=where, expected=f"at most {most // 1024} KiB"
        )


_RUN_AGAIN = "fix the cell, run the notebook from its beginning, and hand it in again"


def check_syntax(cell: str, name: str, where: str, next_step: str = _RUN_AGAIN) -> None:
    """Raise a :class:`SubmissionError` that names the line if a cell isn't Python.

    Parameters
    ----------
    cell : str
        Without magics.
    name : str
        Of the cell, such as ``code cell 3``.
    where : str
    next_step : str
        What the student can do.
    """
    try:
        parse_python(cell)
    except SyntaxError as error:
        raise SubmissionError(
            f"Python can't read line {error.lineno or 1} of {name}: {clean_line(str(error.msg), 120)}",
            where=where,
            got=clean_line(error.text or "", 80) or None,
            next_step=next_step,
        ) from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise SubmissionError(f"{name} is nested too deeply", where=where) from error


def _load(text: str, where: str) -> dict[str, Any]:
    # In texts such signs count too: no notebook has so many of them, whatever they are.
    if text.count("{") + text.count("[") > _MOST_VALUES:
        raise SubmissionError(
            "the notebook has too many cells or outputs",
            where=where,
            expected=f"at most {_MOST_CELLS:,} cells",
            next_step="clear its outputs, save it and hand it in again, or hand in a .py file",
        )
    try:
        notebook = json.loads(text)
    except (ValueError, RecursionError) as error:
        line = f":{error.lineno}:{error.colno}" if isinstance(error, json.JSONDecodeError) else ""
        raise SubmissionError(
            "the notebook isn't valid JSON",
            where=where + line,
            expected="a Jupyter notebook",
            next_step="open it in Jupyter and save it again, or hand in a .py file",
        ) from error
    if not isinstance(notebook, dict):
        raise SubmissionError(
            "this isn't a Jupyter notebook", where=where, expected="a JSON object with cells"
        )
    return notebook


def _cells(notebook: dict[str, Any], where: str) -> Iterable[NotebookCell]:
    cells, worksheets = notebook.get("cells"), notebook.get("worksheets")
    if cells is None and isinstance(worksheets, list):  # notebooks of before 2014
        inside = [sheet.get("cells") if isinstance(sheet, dict) else None for sheet in worksheets]
        if all(isinstance(some, list | None) for some in inside):
            cells = [cell for some in inside for cell in some or []]
    if not isinstance(cells, list):
        raise SubmissionError(
            "this isn't a Jupyter notebook", where=where, expected="a JSON object with cells"
        )
    if len(cells) > _MOST_CELLS:
        raise SubmissionError(
            "the notebook has too many cells",
            where=where,
            expected=f"at most {_MOST_CELLS:,}",
            got=f"{len(cells):,}",
            next_step="hand in the cells that define the function, or a .py file",
        )
    language = _language(notebook)
    if language not in {"", "python"}:
        raise SubmissionError(
            "this notebook isn't in Python", where=where, expected="Python", got=clean_line(language, 40)
        )
    for number, cell in enumerate(cells, start=1):
        if not isinstance(cell, dict):
            continue
        is_code = cell.get("cell_type") == "code"
        source = cell.get("source", cell.get("input"))
        if isinstance(source, list) and all(isinstance(line, str) for line in source):
            source = "".join(source)
        if not isinstance(source, str) or "\0" in source or not _encodable(source):
            if is_code:
                raise SubmissionError(
                    f"cell {number} of the notebook is damaged", where=where, expected="text"
                )
            source = ""
        metadata, count = cell.get("metadata"), cell.get("execution_count")
        yield NotebookCell(
            is_code,
            source.replace("\r\n", "\n").replace("\r", "\n"),
            metadata if isinstance(metadata, dict) else {},
            count if type(count) is int else None,  # a bool is an int as well
        )


def _encodable(text: str) -> bool:
    # JSON can spell lone surrogates, which aren't characters.
    return not any("\ud800" <= c <= "\udfff" for c in text)


def _language(notebook: dict[str, Any]) -> str:
    metadata = notebook.get("metadata")
    for name, key in (("kernelspec", "language"), ("language_info", "name")):
        part = metadata.get(name) if isinstance(metadata, dict) else None
        value = part.get(key) if isinstance(part, dict) else None
        if isinstance(value, str) and value:
            return value.casefold()
    return ""


def python_of(source: str) -> str:
    """Return a code cell with blank lines for its magics, so that line numbers stay; Bash is all blank."""
    return "\n".join(_without_magics(source.split("\n")))


def _without_magics(lines: list[str]) -> list[str]:
    first = next((line for line in lines if line.strip()), "")
    magic = _CELL_MAGIC.match(first.lstrip())
    if magic:
        if magic.group(1) not in _PYTHON_CELLS:
            return [""] * len(lines)
        at = lines.index(first)
        lines = [*lines[:at], "", *lines[at + 1 :]]
    lines_kept: list[str] = []
    state = _State()
    in_magic = False
    for line in lines:
        if in_magic or (state.between_statements and _is_magic(line.strip())):
            indent = line[: len(line) - len(line.lstrip())]
            # An indented one may be all that its block holds.
            lines_kept.append(f"{indent}pass" if indent and not in_magic else "")
            in_magic = line.endswith("\\")
        else:
            lines_kept.append(line)
            state.take(line)
    return lines_kept


def _is_magic(line: str) -> bool:
    return _LINE_MAGIC.match(line) is not None or _HELP_LINE.fullmatch(line) is not None


class _State:
    """Where in a Python text a line begins: between statements, or inside a string or bracket."""

    def __init__(self) -> None:
        self._depth = 0
        self._quote = ""
        self._continued = False

    @property
    def between_statements(self) -> bool:
        return not self._depth and not self._quote and not self._continued

    def take(self, line: str) -> None:
        comment = False
        for match in _TOKENS.finditer(line):
            token = match.group()
            if self._quote:
                if token == self._quote:
                    self._quote = ""
            elif token == "#":
                comment = True
                break
            elif token[0] in "\"'":
                self._quote = token
            elif token in "([{":
                self._depth += 1
            elif token in ")]}":
                self._depth = max(0, self._depth - 1)
        self._continued = not comment and line.endswith("\\")
        if len(self._quote) == 1 and not self._continued:
            self._quote = ""  # an unfinished string ends with its line
