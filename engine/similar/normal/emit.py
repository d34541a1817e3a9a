"""Syntax trees → tokens: operator before operands, no brackets, a library's names by their last part."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from engine.similar.normal.names import Names
from engine.similar.normal.token import OWN, Statement, Token

__all__ = ["Emitter"]

# numpy and torch call the same thing differently; a translated file is the same file.
_SYNONYMS = {
    "amax": "max",
    "amin": "min",
    "dim": "axis",
    "keepdim": "keepdims",
    "add": "Add",
    "subtract": "Sub",
    "multiply": "Mult",
    "mul": "Mult",
    "divide": "Div",
    "div": "Div",
    "matmul": "MatMult",
    "power": "Pow",
    "pow": "Pow",
    "cat": "concatenate",
    "transpose": "swapaxes",
}
_FREE_ORDER = (ast.Add, ast.Mult, ast.BitAnd, ast.BitOr)
_SMALL = range(-2, 11)


class Emitter:
    """Turns the statements of one file into tokens; a function is a scope of its own."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._scopes = 0

    def module(self, body: Sequence[ast.stmt]) -> list[Statement]:
        """Return the statements of a module, each function's after those around it."""
        self._scopes += 1
        return self._body(body, self._scopes - 1)

    # --- statements

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
        head = [token for wrapper in node.decorator_list for token in self.expression(wrapper)]
        head.append(Token("class" if isinstance(node, ast.ClassDef) else "def", node.lineno))
        if isinstance(node, ast.ClassDef):
            head += self._all(node.bases)
        else:
            head += self._arguments(node.args)
        return [Statement(tuple(head), scope), *self._body(node.body, scope)]

    def _arguments(self, args: ast.arguments) -> list[Token]:
        every = [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]
        found = [Token(OWN, arg.lineno, arg.arg) for arg in every if arg is not None]
        return found + self._all([d for d in (*args.defaults, *args.kw_defaults) if d is not None])

    def _head(self, node: ast.stmt) -> list[Token]:
        match node:
            case ast.Assign():
                return [Token("=", node.lineno), *self._all(node.targets), *self.expression(node.value)]
            case ast.Return():
                return [Token("return", node.lineno), *(self._all([node.value]) if node.value else [])]
            case ast.Expr():
                return self.expression(node.value)
            case ast.For() | ast.AsyncFor():
                return [Token("for", node.lineno), *self.expression(node.target), *self.expression(node.iter)]
            case ast.If() | ast.While():
                word = "if" if isinstance(node, ast.If) else "while"
                return [Token(word, node.lineno), *self.expression(node.test)]
            case ast.With() | ast.AsyncWith():
                items = [part for item in node.items for part in (item.context_expr, item.optional_vars)]
                return [Token("with", node.lineno), *self._all([part for part in items if part])]
            case ast.Raise():
                # the words of the message are free
                raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
                return [Token("raise", node.lineno), *(self.expression(raised) if raised else [])]
            case ast.Assert():
                return [Token("assert", node.lineno), *self.expression(node.test)]
            case ast.Global() | ast.Nonlocal() | ast.Try():
                return []
            case _:
                return self._anything(node)

    # --- expressions

    def _all(self, nodes: Sequence[ast.expr]) -> list[Token]:
        return [token for node in nodes for token in self.expression(node)]

    def expression(self, node: ast.expr) -> list[Token]:
        """Return the tokens of one expression."""
        match node:
            case ast.Name():
                return [self._name(node.id, node.lineno)]
            case ast.Constant():
                return [Token(_literal(node.value), node.lineno)]
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
                return [Token(_literal(-value), node.lineno)]
            case ast.Call():
                return self._call(node)
            case ast.Attribute():
                return self._attribute(node)
            case ast.BinOp():
                return self._binary(node)
            case ast.BoolOp():
                return self._sorted(type(node.op).__name__, node.lineno, node.values)
            case ast.Compare():
                if len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq | ast.NotEq):
                    both = [node.left, *node.comparators]
                    return self._sorted(type(node.ops[0]).__name__, node.lineno, both)
                signs = [Token(type(op).__name__, node.lineno) for op in node.ops]
                return [*signs, *self._all([node.left, *node.comparators])]
            case ast.UnaryOp():
                return [Token(type(node.op).__name__, node.lineno), *self.expression(node.operand)]
            case ast.Slice():
                ends = [node.lower, node.upper, *([node.step] if node.step else [])]
                missing = Token("_", node.lineno)
                found = [self.expression(end) if end else [missing] for end in ends]
                return [Token("Slice", node.lineno), *(token for part in found for token in part)]
            case ast.JoinedStr():
                return [Token("STRING", node.lineno)]
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                return self._comprehension(node)
            case _:
                return self._anything(node)

    def _name(self, name: str, line: int) -> Token:
        meaning = self._names.library(name)
        if meaning is None:
            return Token(OWN, line, name)
        last = meaning.rpartition(".")[2]
        return Token(_SYNONYMS.get(last, last), line)

    def _attribute(self, node: ast.Attribute) -> list[Token]:
        if self._is_module(node.value):
            return [Token(_SYNONYMS.get(node.attr, node.attr), node.lineno)]
        if node.attr in self._names.own_attributes:
            return [Token(OWN, node.lineno, f".{node.attr}")]
        word = _SYNONYMS.get(node.attr, node.attr)
        return [Token(f".{word}", node.lineno), *self.expression(node.value)]

    def _is_module(self, node: ast.expr) -> bool:
        while isinstance(node, ast.Attribute):
            node = node.value
        return (
            isinstance(node, ast.Name) and node.id in self._names.imported and node.id not in self._names.own
        )

    def _call(self, node: ast.Call) -> list[Token]:
        """Return the tokens of a call; ``np.max(x)`` and ``x.max()`` are the same."""
        func, args = node.func, list(node.args)
        own = False
        if isinstance(func, ast.Attribute) and not self._is_module(func.value):
            if func.attr in self._names.own_attributes:
                own, head = True, Token(OWN, node.lineno, f".{func.attr}")
            else:
                head = Token(_SYNONYMS.get(func.attr, func.attr), node.lineno)
                args.insert(0, func.value)
        elif isinstance(func, ast.Name | ast.Attribute):
            (head,) = self.expression(func)
            own = head.text == OWN
        else:
            head = Token("call", node.lineno)
            args.insert(0, func)
        found = [head, *self._all(args)]
        for keyword in sorted(node.keywords, key=lambda keyword: keyword.arg or ""):
            if not own and keyword.arg:
                found.append(Token(f"{_SYNONYMS.get(keyword.arg, keyword.arg)}=", node.lineno))
            found += self.expression(keyword.value)
        return found

    def _binary(self, node: ast.BinOp) -> list[Token]:
        sign = type(node.op).__name__
        if isinstance(node.op, _FREE_ORDER):
            return self._sorted(sign, node.lineno, list(_chain(node, type(node.op))))
        return [Token(sign, node.lineno), *self.expression(node.left), *self.expression(node.right)]

    def _sorted(self, sign: str, line: int, operands: Sequence[ast.expr]) -> list[Token]:
        """Return operands that may change places, in an order that no renaming changes."""
        parts = sorted(
            (self.expression(o) for o in operands), key=lambda part: [token.text for token in part]
        )
        return [Token(sign, line), *(token for part in parts for token in part)]

    def _comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
    ) -> list[Token]:
        found: list[Token] = []
        for generator in node.generators:
            found.append(Token("for", node.lineno))
            found += self._all([generator.target, generator.iter])
            for condition in generator.ifs:
                found += [Token("if", condition.lineno), *self.expression(condition)]
        return found + self._all([node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt])

    def _anything(self, node: ast.AST) -> list[Token]:
        found = [Token(type(node).__name__, getattr(node, "lineno", 1))]
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                found += self.expression(child)
            elif isinstance(child, ast.arguments):
                found += self._arguments(child)
        return found


def _below(node: ast.stmt) -> list[ast.stmt]:
    found: list[ast.stmt] = []
    for name in ("body", "handlers", "orelse", "finalbody", "cases"):
        for child in getattr(node, name, ()):
            found += [child] if isinstance(child, ast.stmt) else child.body
    return found


def _chain(node: ast.expr, op: type[ast.operator]) -> Iterator[ast.expr]:
    """Yield the operands of ``a + b + c``."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, op):
        yield from _chain(node.left, op)
        yield from _chain(node.right, op)
    else:
        yield node


def _literal(value: object) -> str:
    """Return a literal's class; small numbers and halves stay: axes and powers are no matter of taste."""
    if value is None or isinstance(value, bool) or value is Ellipsis:
        return str(value)
    if isinstance(value, int | float):
        if value in (0.5, -0.5):
            return str(value)
        return str(int(value)) if value in _SMALL else "NUMBER"
    return "STRING"
