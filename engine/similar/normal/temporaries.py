"""Variables that only give an expression a name, and variables that nobody reads."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence

__all__ = ["without_temporaries"]

_LONGEST = 2_000  # statements of a function; nobody writes that many by hand
_ROUNDS = 8

_Place = tuple[int, int]


def without_temporaries(tree: ast.Module) -> None:
    """Put each value that is assigned once and read once where it is read; drop what is never read.

    Only functions are changed: a name of the module may be what was asked for.
    """
    for node in list(ast.walk(tree)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            nodes = list(ast.walk(node))
            if sum(isinstance(inner, ast.stmt) for inner in nodes) > _LONGEST:
                continue
            for _ in range(_ROUNDS):
                if not _drop_unread(nodes):
                    break
                nodes = list(ast.walk(node))
            _inline(node, nodes)


def _drop_unread(nodes: Sequence[ast.AST]) -> bool:
    read = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    read |= set(_outer(nodes))
    dropped = False
    for block in _blocks(nodes):
        kept = [s for s in block if not (name := _assigned(s)) or name in read]
        dropped |= len(kept) < len(block)
        block[:] = kept
    return dropped


def _inline(function: ast.AST, nodes: Sequence[ast.AST]) -> None:
    loads: Counter[str] = Counter()
    stores: Counter[str] = Counter(_outer(nodes))
    for node in nodes:
        if isinstance(node, ast.Name):
            (loads if isinstance(node.ctx, ast.Load) else stores)[node.id] += 1
        elif isinstance(node, ast.arg):
            stores[node.arg] += 1
    once = {name for name, count in loads.items() if count == 1 and stores[name] == 1}
    blocks = list(_blocks(nodes))
    defined = {
        name: statement
        for block in blocks
        for statement in block
        if isinstance(statement, ast.Assign) and (name := _assigned(statement)) in once
    }
    moved = _Moved(defined)
    if defined:
        moved.visit(function)
    for block in blocks if moved.done else ():
        block[:] = [s for s in block if _assigned(s) not in moved.done]


class _Moved(ast.NodeTransformer):
    def __init__(self, defined: dict[str, ast.Assign]) -> None:
        self._defined = defined
        self.done: set[str] = set()

    def visit_Name(self, node: ast.Name) -> ast.expr:
        statement = self._defined.get(node.id)
        if statement is None or not isinstance(node.ctx, ast.Load) or _place(statement) >= _place(node):
            return node
        self.done.add(node.id)
        # What is moved may itself read a temporary; it isn't visited where it stood any more.
        value = self.visit(statement.value)
        assert isinstance(value, ast.expr)
        return value

    def visit_Assign(self, node: ast.Assign) -> ast.Assign:
        if self._defined.get(_assigned(node) or "") is not node:
            self.generic_visit(node)
        return node


def _blocks(nodes: Sequence[ast.AST]) -> Iterator[list[ast.stmt]]:
    for node in nodes:
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                yield block


def _outer(nodes: Sequence[ast.AST]) -> Iterator[str]:
    """Yield the names that a function shares with what is around it."""
    for node in nodes:
        if isinstance(node, ast.Global | ast.Nonlocal):
            yield from node.names


def _assigned(statement: ast.stmt) -> str:
    """Return the one name that a statement assigns, else nothing."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
        return target.id if isinstance(target, ast.Name) else ""
    return ""


def _place(node: ast.stmt | ast.expr) -> _Place:
    return node.lineno, node.col_offset
