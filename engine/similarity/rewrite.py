"""One way to write what Python lets one write in several ways."""

from __future__ import annotations

import ast
import copy
from typing import TypeVar

from engine.similar.normal.blocks import plain_block

__all__ = ["plain"]

T = TypeVar("T", bound=ast.AST)

_OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.NotEq: ast.Eq,
    ast.IsNot: ast.Is,
    ast.NotIn: ast.In,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
}
_TURNED: dict[type[ast.cmpop], type[ast.cmpop]] = {ast.Gt: ast.Lt, ast.GtE: ast.LtE}
_NEGATED = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
}


def plain(tree: ast.Module) -> ast.Module:
    """Return the tree rewritten in place; it means nearly the same, which suffices for comparing.

    Docstrings, type hints, imports, ``pass``, printed output and code that can't be reached are gone;
    ``x += y`` is ``x = x + y``, ``a, b = c, d`` two assignments, a named lambda a function, ``not a == b``
    is ``a != b``, ``b > a`` is ``a < b``; the branch of a negated condition comes second; a list that a loop
    appends to is a comprehension.
    """
    rewritten = _Plain().visit(tree)
    assert isinstance(rewritten, ast.Module)
    return rewritten


class _Plain(ast.NodeTransformer):
    # --- statements that say nothing

    def visit_Import(self, node: ast.Import) -> None:
        return None

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        return None

    def visit_Pass(self, node: ast.Pass) -> None:
        return None

    def visit_Expr(self, node: ast.Expr) -> ast.stmt | None:
        called = node.value.func if isinstance(node.value, ast.Call) else None
        if isinstance(node.value, ast.Constant) or (isinstance(called, ast.Name) and called.id == "print"):
            return None
        return self._deeper(node)

    def _deeper(self, node: ast.AST) -> ast.stmt:
        found = self.generic_visit(node)
        assert isinstance(found, ast.stmt)
        return found

    # --- blocks

    def visit(self, node: ast.AST) -> object:
        result = super().visit(node)
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                setattr(node, name, plain_block(block))
        return result

    def visit_If(self, node: ast.If) -> object:
        self.generic_visit(node)
        if isinstance(node.test, ast.Constant):
            return node.body if node.test.value else node.orelse
        if node.orelse and (test := _opposite(node.test)) is not None:
            node.test, node.body, node.orelse = test, node.orelse, node.body
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        self.generic_visit(node)
        if (test := _opposite(node.test)) is not None:
            node.test, node.body, node.orelse = test, node.orelse, node.body
        return node

    def visit_While(self, node: ast.While) -> object:
        self.generic_visit(node)
        return None if isinstance(node.test, ast.Constant) and not node.test.value else node

    # --- assignments

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        value = ast.BinOp(_loaded(node.target), node.op, node.value)
        return self._deeper(_like(node, ast.Assign([node.target], _like(node, value))))

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt | None:
        if node.value is None:
            return None
        return self._deeper(_like(node, ast.Assign([node.target], node.value)))

    def visit_Assign(self, node: ast.Assign) -> object:
        target, value = node.targets[0], node.value
        if isinstance(target, ast.Name) and isinstance(value, ast.Lambda):
            body = [_like(value, ast.Return(value.body))]
            named = ast.FunctionDef(target.id, value.args, list[ast.stmt](body), [], None, None)
            return self._deeper(_like(node, named))
        if len(node.targets) == 1 and isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            pairs = list(zip(target.elts, value.elts, strict=False))
            starred = any(isinstance(part, ast.Starred) for part in (*target.elts, *value.elts))
            if len(pairs) == len(target.elts) == len(value.elts) and not starred:
                return [self.visit(_like(node, ast.Assign([name], part))) for name, part in pairs]
        return self._deeper(node)

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        node.returns = None
        return self._deeper(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.stmt:
        node.returns = None
        return self._deeper(node)

    # --- conditions

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        inner = node.operand
        if isinstance(node.op, ast.Not) and isinstance(inner, ast.Compare) and len(inner.ops) == 1:
            inner.ops = [_NEGATED[type(inner.ops[0])]()]
            return _turned(inner)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        return _turned(node)


def _turned(node: ast.Compare) -> ast.Compare:
    """Write ``b > a`` as ``a < b``."""
    if len(node.ops) == 1 and type(node.ops[0]) in _TURNED:
        node.ops = [_TURNED[type(node.ops[0])]()]
        node.left, node.comparators = node.comparators[0], [node.left]
    return node


def _opposite(test: ast.expr) -> ast.expr | None:
    """Return the positive condition of a negated one, None for one that isn't."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return test.operand
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and type(test.ops[0]) in _OPPOSITE:
        test.ops = [_OPPOSITE[type(test.ops[0])]()]
        return _turned(test)
    return None


def _loaded(target: ast.expr) -> ast.expr:
    """Return a target as a value: the same node in another context."""
    loaded = copy.copy(target)
    loaded.ctx = ast.Load()  # type: ignore[attr-defined]  # every target has one
    return loaded


def _like(old: ast.AST, new: T) -> T:
    return ast.copy_location(new, old)
