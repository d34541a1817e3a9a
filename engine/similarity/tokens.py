"""Expressions → tokens: operator before operands, no brackets, a library's names by their last part."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from engine.similar.normal.names import Names
from engine.similar.normal.token import OWN, Token

__all__ = ["Expressions"]

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


class Expressions:
    """Turns the expressions of one file into tokens."""

    def __init__(self, names: Names) -> None:
        self._names = names

    def all(self, nodes: Sequence[ast.expr]) -> list[Token]:
        """Return the tokens of several expressions, one after the other."""
        return [token for node in nodes for token in self.one(node)]

    def one(self, node: ast.expr) -> list[Token]:
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
                return [*signs, *self.all([node.left, *node.comparators])]
            case ast.UnaryOp():
                return [Token(type(node.op).__name__, node.lineno), *self.one(node.operand)]
            case ast.Slice():
                ends = [node.lower, node.upper, *([node.step] if node.step else [])]
                missing = Token("_", node.lineno)
                found = [self.one(end) if end else [missing] for end in ends]
                return [Token("Slice", node.lineno), *(token for part in found for token in part)]
            case ast.JoinedStr():
                return [Token("STRING", node.lineno)]
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                return self._comprehension(node)
            case _:
                return self.anything(node)

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
        return [Token(f".{word}", node.lineno), *self.one(node.value)]

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
            (head,) = self.one(func)
            own = head.text == OWN
        else:
            head = Token("call", node.lineno)
            args.insert(0, func)
        found = [head, *self.all(args)]
        for keyword in sorted(node.keywords, key=lambda keyword: keyword.arg or ""):
            if not own and keyword.arg:
                found.append(Token(f"{_SYNONYMS.get(keyword.arg, keyword.arg)}=", node.lineno))
            found += self.one(keyword.value)
        return found

    def _binary(self, node: ast.BinOp) -> list[Token]:
        sign = type(node.op).__name__
        if isinstance(node.op, _FREE_ORDER):
            return self._sorted(sign, node.lineno, list(_chain(node, type(node.op))))
        return [Token(sign, node.lineno), *self.one(node.left), *self.one(node.right)]

    def _sorted(self, sign: str, line: int, operands: Sequence[ast.expr]) -> list[Token]:
        """Return operands that may change places, in an order that no renaming changes."""
        parts = sorted((self.one(o) for o in operands), key=lambda part: [token.text for token in part])
        return [Token(sign, line), *(token for part in parts for token in part)]

    def _comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
    ) -> list[Token]:
        found: list[Token] = []
        for generator in node.generators:
            found.append(Token("for", node.lineno))
            found += self.all([generator.target, generator.iter])
            for condition in generator.ifs:
                found += [Token("if", condition.lineno), *self.one(condition)]
        return found + self.all([node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt])

    def arguments(self, args: ast.arguments) -> list[Token]:
        """Return the tokens of what a function takes: its names, then the defaults."""
        every = [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]
        found = [Token(OWN, arg.lineno, arg.arg) for arg in every if arg is not None]
        return found + self.all([d for d in (*args.defaults, *args.kw_defaults) if d is not None])

    def anything(self, node: ast.AST) -> list[Token]:
        """Return the tokens of what has no form of its own here: its kind, then what it holds."""
        found = [Token(type(node).__name__, getattr(node, "lineno", 1))]
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                found += self.one(child)
            elif isinstance(child, ast.arguments):
                found += self.arguments(child)
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
