"""Rewrite a syntax tree so that what Python lets one write in several ways is written in one.

For example ``b > a`` becomes ``a < b``, an appending loop a comprehension, and a variable that is read once
its value.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TypeVar

# Blocks of statements: what can't be reached is gone, appending loops are comprehensions.


def plain_block(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """Return a block without what follows a jump, appending loops as comprehensions."""
    statements: list[ast.stmt] = []
    for statement in body:
        statements.append(_as_comprehension(statement, statements) or statement)
        if isinstance(statement, ast.Return | ast.Raise | ast.Break | ast.Continue):
            break
    return statements


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
        visited = self.generic_visit(node)
        assert isinstance(visited, ast.stmt)
        return visited

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
    # ``b > a`` becomes ``a < b``.
    if len(node.ops) == 1 and type(node.ops[0]) in _TURNED:
        node.ops = [_TURNED[type(node.ops[0])]()]
        node.left, node.comparators = node.comparators[0], [node.left]
    return node


def _opposite(test: ast.expr) -> ast.expr | None:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return test.operand
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and type(test.ops[0]) in _OPPOSITE:
        test.ops = [_OPPOSITE[type(test.ops[0])]()]
        return _turned(test)
    return None


def _loaded(target: ast.expr) -> ast.expr:
    # The same node in another context: Python refuses to compile a target that is read.
    loaded = copy.copy(target)
    loaded.ctx = ast.Load()  # type: ignore[attr-defined]  # every target has one
    return loaded


def _like(old: ast.AST, new: T) -> T:
    return ast.copy_location(new, old)


# Variables that only give an expression a name, and variables that nobody reads.

# Every round walks the whole function.
_LONGEST = 2_000  # statements of a function; nobody writes that many by hand
# A dropped variable may be the only reader of another one; chains written by hand are shorter than this.
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
        statements = [s for s in block if not (name := _assigned(s)) or name in read]
        dropped |= len(statements) < len(block)
        block[:] = statements
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
    for node in nodes:
        if isinstance(node, ast.Global | ast.Nonlocal):
            yield from node.names


def _assigned(statement: ast.stmt) -> str:
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
        return target.id if isinstance(target, ast.Name) else ""
    return ""


def _place(node: ast.stmt | ast.expr) -> _Place:
    return node.lineno, node.col_offset
