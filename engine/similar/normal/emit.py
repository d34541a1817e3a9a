"""Statements → tokens: heads and bodies apart, a function in a scope of its own."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from engine.similar.normal.expressions import Expressions
from engine.similar.normal.names import Names
from engine.similar.normal.token import Statement, Token

__all__ = ["Emitter"]


class Emitter:
    """Turns the statements of one file into tokens; a function is a scope of its own."""

    def __init__(self, names: Names) -> None:
        self._read = Expressions(names)
        self._scopes = 0

    def module(self, body: Sequence[ast.stmt]) -> list[Statement]:
        """Return the statements of a module, each function's after those around it."""
        self._scopes += 1
        return self._body(body, self._scopes - 1)

    def _body(self, body: Sequence[ast.stmt], scope: int) -> list[Statement]:
        found: list[Statement] = []
        inner: list[ast.stmt] = []
        waiting = list(reversed(body))
        while waiting:
            node = waiting.pop()
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                inner.append(node)
                continue
            tokens = self._head(node)
            if tokens:
                found.append(Statement(tuple(tokens), scope))
            waiting += reversed(_below(node))
        for node in inner:
            found += self._definition(node)
        return found

    def _definition(self, node: ast.stmt) -> list[Statement]:
        assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        scope, self._scopes = self._scopes, self._scopes + 1
        head = [token for wrapper in node.decorator_list for token in self._read.one(wrapper)]
        head.append(Token("class" if isinstance(node, ast.ClassDef) else "def", node.lineno))
        if isinstance(node, ast.ClassDef):
            head += self._read.all(node.bases)
        else:
            head += self._read.arguments(node.args)
        return [Statement(tuple(head), scope), *self._body(node.body, scope)]

    def _head(self, node: ast.stmt) -> list[Token]:
        match node:
            case ast.Assign():
                return [
                    Token("=", node.lineno),
                    *self._read.all(node.targets),
                    *self._read.one(node.value),
                ]
            case ast.Return():
                return [
                    Token("return", node.lineno),
                    *(self._read.all([node.value]) if node.value else []),
                ]
            case ast.Expr():
                return self._read.one(node.value)
            case ast.For() | ast.AsyncFor():
                return [
                    Token("for", node.lineno),
                    *self._read.one(node.target),
                    *self._read.one(node.iter),
                ]
            case ast.If() | ast.While():
                word = "if" if isinstance(node, ast.If) else "while"
                return [Token(word, node.lineno), *self._read.one(node.test)]
            case ast.With() | ast.AsyncWith():
                items = [part for item in node.items for part in (item.context_expr, item.optional_vars)]
                return [Token("with", node.lineno), *self._read.all([part for part in items if part])]
            case ast.Raise():
                # the words of the message are free
                raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
                return [Token("raise", node.lineno), *(self._read.one(raised) if raised else [])]
            case ast.Assert():
                return [Token("assert", node.lineno), *self._read.one(node.test)]
            case ast.Global() | ast.Nonlocal() | ast.Try():
                return []
            case _:
                return self._read.anything(node)


def _below(node: ast.stmt) -> list[ast.stmt]:
    found: list[ast.stmt] = []
    for name in ("body", "handlers", "orelse", "finalbody", "cases"):
        for child in getattr(node, name, ()):
            found += [child] if isinstance(child, ast.stmt) else child.body
    return found
