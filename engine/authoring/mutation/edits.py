"""Small changes of Python: of a tree, and of the text that it was read from.

A changed program keeps the author's layout and comments everywhere but in the changed place, so that its
difference from the solution is what a person would have typed.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, TypeVar

T = TypeVar("T")
N = TypeVar("N", bound=ast.AST)


def whole_number(node: ast.AST) -> int | None:
    """Return the whole number that a node writes, with its sign; None for all else, truth values too."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        size = whole_number(node.operand)
        return None if size is None else -size
    is_whole = isinstance(node, ast.Constant) and type(node.value) is int
    return node.value if is_whole else None  # type: ignore[attr-defined]


def number_node(value: int) -> ast.expr:
    """Return a whole number as Python's parser reads it."""
    return ast.Constant(value) if value >= 0 else ast.UnaryOp(ast.USub(), ast.Constant(-value))


def last_name(function: ast.expr) -> str:
    """Return what a call calls, without the module or object before it; empty for what has no name."""
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def renamed(function: ast.expr, name: str) -> ast.expr:
    """Return another function of the same module or object."""
    if isinstance(function, ast.Attribute):
        return ast.Attribute(function.value, name, function.ctx)
    return ast.Name(name, ast.Load())


def call_with(node: ast.Call, **fields: Any) -> ast.Call:
    """Return a call with another function, other arguments or other keywords."""
    return ast.Call(**{"func": node.func, "args": node.args, "keywords": node.keywords, **fields})


def replaced(entries: Sequence[T], place: int, entry: T) -> list[T]:
    """Return the entries with another one at a place."""
    return [*entries[:place], entry, *entries[place + 1 :]]


def without(entries: Sequence[T], place: int) -> list[T]:
    """Return the entries without the one at a place."""
    return [*entries[:place], *entries[place + 1 :]]


def swaps(entries: Sequence[ast.expr]) -> Iterator[list[ast.expr]]:
    """Yield the entries with two neighbours exchanged; what is unpacked with ``*`` stays where it is."""
    for place, (first, second) in enumerate(pairwise(entries)):
        if not isinstance(first, ast.Starred) and not isinstance(second, ast.Starred):
            yield [*entries[:place], second, first, *entries[place + 2 :]]


class _Exchange(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self._old, self._new = old, new

    def visit(self, node: ast.AST) -> Any:
        return self._new if node is self._old else super().visit(node)


def exchanged(tree: N, old: ast.AST, new: ast.AST) -> N:
    """Return a copy of a tree in which `new` stands in the place of `old`, which is a node of it."""
    memo: dict[int, Any] = {}
    changed = copy.deepcopy(tree, memo)
    result = _Exchange(memo[id(old)], copy.deepcopy(new)).visit(changed)
    return ast.fix_missing_locations(result)  # type: ignore[no-any-return]


def header(statement: ast.stmt) -> str:
    """Return a statement on one line; of one with a body, only the line before it."""
    shallow = copy.copy(statement)
    for field in ("body", "orelse", "finalbody", "handlers", "decorator_list"):
        if hasattr(shallow, field):
            setattr(shallow, field, [])
    return ast.unparse(shallow).strip()


def splice(source: str, node: ast.expr | ast.stmt, text: str) -> str:
    """Return a source in which a text stands in the place of a node.

    Columns of the parser count bytes, not characters.
    """
    lines = source.encode().splitlines(keepends=True)
    assert node.end_lineno is not None and node.end_col_offset is not None
    before = b"".join(lines[: node.lineno - 1]) + lines[node.lineno - 1][: node.col_offset]
    after = lines[node.end_lineno - 1][node.end_col_offset :] + b"".join(lines[node.end_lineno :])
    return (before + text.encode() + after).decode()
