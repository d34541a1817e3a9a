"""Foreign Python text, parsed and never run; and where its lines stand in a notebook."""

from __future__ import annotations

import ast
import re
import threading
import warnings
from collections.abc import Iterator

__all__ = ["MAX_CHARACTERS", "cell_mark", "parse_python", "place_in_cells", "top_level"]

MAX_CHARACTERS = 256 * 1024  # of all files of one submission

_parsing = threading.Lock()  # warning filters belong to the whole process
_MARK = re.compile(r"# --- code cell (\d+) ---")


def parse_python(source: str) -> ast.Module:
    """Return the syntax tree without the parser's warnings: an odd escape is the student's business.

    Raises
    ------
    SyntaxError
    ValueError, RecursionError, MemoryError
        Null bytes; nesting without end.
    """
    with _parsing, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source)


def top_level(tree: ast.Module) -> Iterator[ast.stmt]:
    """Yield the statements that bind names of the module: those in ``if``, ``try`` and loops too."""
    waiting: list[ast.AST] = list(reversed(tree.body))
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.stmt):
            yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.expr):
            waiting += reversed(list(ast.iter_child_nodes(node)))


def cell_mark(number: int) -> str:
    """Return the comment line before the code cell of this number (from 1) in a notebook's source."""
    return f"# --- code cell {number} ---"


def place_in_cells(source: str, line: int) -> tuple[int, int] | None:
    """Return (code cell, line within it), both from 1, of a line of a notebook's source.

    None: the source has no such line, or no cell begins before it.
    """
    lines = source.split("\n")
    if not 0 < line <= len(lines):
        return None
    for begin in range(line - 1, -1, -1):
        if found := _MARK.fullmatch(lines[begin]):
            return int(found.group(1)), max(1, line - 1 - begin)
    return None
