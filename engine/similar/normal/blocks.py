"""Blocks of statements: what can't be reached is gone, appending loops are comprehensions."""

from __future__ import annotations

import ast
from collections.abc import Sequence

__all__ = ["plain_block"]


def plain_block(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """Return a block without what follows a jump, appending loops as comprehensions."""
    kept: list[ast.stmt] = []
    for statement in body:
        kept.append(_as_comprehension(statement, kept) or statement)
        if isinstance(statement, ast.Return | ast.Raise | ast.Break | ast.Continue):
            break
    return kept


def _as_comprehension(loop: ast.stmt, before: list[ast.stmt]) -> ast.stmt | None:
    """Return ``r = [e for t in it]`` for ``r = []`` and a loop that does nothing but append to `r`."""
    if not isinstance(loop, ast.For) or loop.orelse or len(loop.body) != 1:
        return None
    inner, conditions = loop.body[0], list[ast.expr]()
    if isinstance(inner, ast.If) and not inner.orelse and len(inner.body) == 1:
        conditions = [inner.test]
        inner = inner.body[0]
    call = inner.value if isinstance(inner, ast.Expr) else None
    if not (
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr == "append"
        and isinstance(call.func.value, ast.Name)
        and len(call.args) == 1
    ):
        return None
    name = call.func.value.id
    start = next((s for s in reversed(before) if _begins_list(s, name)), None)
    if start is None:
        return None
    before.remove(start)
    generator = ast.comprehension(loop.target, loop.iter, conditions, 0)
    value = ast.copy_location(ast.ListComp(call.args[0], [generator]), loop)
    target = ast.copy_location(ast.Name(name, ast.Store()), loop)
    return ast.copy_location(ast.Assign([target], value), loop)


def _begins_list(statement: ast.stmt, name: str) -> bool:
    return (
        isinstance(statement, ast.Assign)
        and isinstance(statement.targets[0], ast.Name)
        and statement.targets[0].id == name
        and isinstance(statement.value, ast.List)
        and not statement.value.elts
    )
