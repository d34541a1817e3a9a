"""Disguises that tear expressions apart."""

from __future__ import annotations

import ast
import random

_METHODS = {"sum", "max", "mean", "argmax", "reshape", "swapaxes"}


def temporaries_made(source: str, chance: random.Random) -> str:
    """A variable for each call inside an assigned or returned expression."""
    tree = ast.parse(source)
    count = 0
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if not isinstance(body, list) or isinstance(node, ast.ClassDef | ast.Module):
            continue
        new: list[ast.stmt] = []
        for statement in body:
            if isinstance(statement, ast.Assign | ast.Return) and statement.value is not None:
                tearing = _Tearing(count)
                tearing.top = statement.value
                statement.value = tearing.visit(statement.value)
                count = tearing.count
                new += tearing.made
            new.append(statement)
        node.body = new  # type: ignore[attr-defined]
    return ast.unparse(ast.fix_missing_locations(tree))


class _Tearing(ast.NodeTransformer):
    def __init__(self, count: int) -> None:
        self.count = count
        self.made: list[ast.stmt] = []
        self.top: ast.expr | None = None

    def visit_Call(self, node: ast.Call) -> ast.expr:
        is_top = node is self.top
        self.generic_visit(node)
        if is_top:
            return node
        name = f"piece_{self.count}"
        self.count += 1
        self.made.append(ast.Assign([ast.Name(name, ast.Store())], node))
        return ast.Name(name, ast.Load())

    def visit(self, node: ast.AST) -> ast.AST:
        # what these read may not exist outside, or not be evaluated at all
        kept = (
            ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.DictComp | ast.Lambda | ast.IfExp | ast.BoolOp
        )
        found = node if isinstance(node, kept) else super().visit(node)
        assert isinstance(found, ast.AST)
        return found


def called_by_function(source: str, chance: random.Random) -> str:
    """``np.sum(x)`` for ``x.sum()``, where the file has numpy or torch by its usual name."""
    tree = ast.parse(source)
    library = "torch" if "import torch\n" in source else "np" if "import numpy as np" in source else ""
    if not library:
        return source
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in _METHODS
            and (node.func.attr != "reshape" or len(node.args) == 1)  # np.reshape takes a shape, not sizes
            and not (
                isinstance(node.func.value, ast.Name) and node.func.value.id in {"np", "torch", "ma", "F"}
            )
        ):
            node.args.insert(0, node.func.value)
            node.func.value = ast.Name(library, ast.Load())
    return ast.unparse(ast.fix_missing_locations(tree))


def helper_made(source: str, chance: random.Random) -> str:
    """The value of every second assignment and return is computed by a function of its own."""
    tree = ast.parse(source)
    helpers: list[ast.stmt] = []
    top = {n.name for n in tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef)}
    for function in [n for n in tree.body if isinstance(n, ast.FunctionDef)]:
        local = {n.arg for n in ast.walk(function) if isinstance(n, ast.arg)}
        local |= {
            n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }
        for statement in ast.walk(function):
            value = statement.value if isinstance(statement, ast.Assign | ast.Return) else None
            if value is None or len(list(ast.walk(value))) < 8 or chance.random() < 0.5:
                continue
            if any(isinstance(n, ast.comprehension | ast.Lambda) for n in ast.walk(value)):
                continue
            used = sorted({n.id for n in ast.walk(value) if isinstance(n, ast.Name)} & local)
            name = f"part_{len(helpers)}"
            assert name not in top
            parameters = ast.arguments([], [ast.arg(u) for u in used], None, [], [], None, [])
            helpers.append(ast.FunctionDef(name, parameters, [ast.Return(value)], [], lineno=1))
            loads: list[ast.expr] = [ast.Name(u, ast.Load()) for u in used]
            statement.value = ast.Call(ast.Name(name, ast.Load()), loads, [])  # type: ignore[union-attr]
    tree.body += helpers
    return ast.unparse(ast.fix_missing_locations(tree))
