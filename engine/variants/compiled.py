"""Checked syntax trees as functions: a tree is walked once, and then called for every variant.

Each node becomes a function of a :class:`Scope`. Nothing is compiled to bytecode or handed to ``eval``: what
an expression can do is what the functions below do.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from engine.variants.values import is_tensor

__all__ = ["Node", "Scope", "compiled", "truth"]


@dataclass(slots=True)  # not frozen: one is made for each evaluation, and a frozen one takes twice as long
class Scope:
    """What an expression is evaluated with.

    Parameters
    ----------
    names : mapping of str to value
    functions : mapping of str to callable
    operators : mapping of ast operator type to callable
    """

    names: Mapping[str, Any]
    functions: Mapping[str, Callable[..., Any]]
    operators: Mapping[Any, Callable[..., Any]]


Node = Callable[[Scope], Any]


def truth(value: Any) -> bool:
    """Return a value as true or false.

    Raises
    ------
    TypeError
        It is a vector or matrix.
    """
    if is_tensor(value) and value.numel() != 1:
        raise TypeError("a vector is neither true nor false; use all(…) or any(…)")
    return bool(value)


def compiled(tree: ast.expr) -> Node:
    """Return the function of a checked tree.

    Raises
    ------
    KeyError
        The tree holds a node that isn't part of the language: see :func:`engine.variants.expressions.parse`.
    """
    return _COMPILERS[type(tree)](tree)


def _constant(node: ast.Constant) -> Node:
    value = node.value
    return lambda scope: value


def _name(node: ast.Name) -> Node:
    name = node.id

    def look_up(scope: Scope) -> Any:
        try:
            return scope.names[name]
        except KeyError:
            known = ", ".join(sorted(scope.names)) or "none"
            raise TypeError(f"no name {name!r} here (known: {known})") from None

    return look_up


def _list(node: ast.List) -> Node:
    entries = [compiled(entry) for entry in node.elts]

    def collect(scope: Scope) -> Any:
        values = [entry(scope) for entry in entries]
        if any(isinstance(value, str) for value in values):
            return tuple(values)
        from engine.variants.functions.structure import stack

        return stack(*values)

    return collect


def _tuple(node: ast.Tuple) -> Node:
    entries = [compiled(entry) for entry in node.elts]
    return lambda scope: tuple(entry(scope) for entry in entries)


def _subscript(node: ast.Subscript) -> Node:
    container, index = compiled(node.value), compiled(node.slice)

    def take(scope: Scope) -> Any:
        value = container(scope)
        if not (is_tensor(value) or isinstance(value, tuple)):
            raise TypeError(f"a {type(value).__name__} can't be indexed")
        return value[index(scope)]

    return take


def _slice(node: ast.Slice) -> Node:
    bounds = [None if bound is None else compiled(bound) for bound in (node.lower, node.upper, node.step)]
    return lambda scope: slice(*(None if bound is None else bound(scope) for bound in bounds))


def _unary(node: ast.UnaryOp) -> Node:
    operator, operand = type(node.op), compiled(node.operand)
    return lambda scope: scope.operators[operator](operand(scope))


def _binary(node: ast.BinOp) -> Node:
    operator, left, right = type(node.op), compiled(node.left), compiled(node.right)
    return lambda scope: scope.operators[operator](left(scope), right(scope))


def _logic(node: ast.BoolOp) -> Node:
    wanted = isinstance(node.op, ast.Or)
    values = [compiled(value) for value in node.values]
    return lambda scope: wanted if any(truth(v(scope)) is wanted for v in values) else not wanted


def _compare(node: ast.Compare) -> Node:
    first = compiled(node.left)
    others = [(type(op), compiled(right)) for op, right in zip(node.ops, node.comparators, strict=True)]

    def compare(scope: Scope) -> Any:
        left, result = first(scope), True
        for operator, right_of in others:
            right = right_of(scope)
            result = scope.operators[operator](left, right)
            if len(others) > 1 and not truth(result):
                return False
            left = right
        return result

    return compare


def _conditional(node: ast.IfExp) -> Node:
    test, body, orelse = compiled(node.test), compiled(node.body), compiled(node.orelse)
    return lambda scope: body(scope) if truth(test(scope)) else orelse(scope)


def _call(node: ast.Call) -> Node:
    assert isinstance(node.func, ast.Name)  # the parser has seen to it
    name = node.func.id
    arguments = [compiled(argument) for argument in node.args]
    named = {str(keyword.arg): compiled(keyword.value) for keyword in node.keywords}

    def call(scope: Scope) -> Any:
        function = scope.functions.get(name)
        if function is None:
            raise TypeError(f"there is no function {name!r}")
        values = [argument(scope) for argument in arguments]
        return function(*values, **{key: value(scope) for key, value in named.items()})

    return call


_COMPILERS: dict[type[ast.AST], Callable[[Any], Node]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.List: _list,
    ast.Tuple: _tuple,
    ast.Subscript: _subscript,
    ast.Slice: _slice,
    ast.UnaryOp: _unary,
    ast.BinOp: _binary,
    ast.BoolOp: _logic,
    ast.Compare: _compare,
    ast.IfExp: _conditional,
    ast.Call: _call,
}
