"""The grammar of key expressions: which of Python's expressions belong to the language.

The check of a problem file and the draw of a variant ask the same function, so that an expression which a
file may hold can be compiled, and one which can't is a fault of the file, shown at its character::

    item.yaml:9:36: expressions can't hold a dot after a value
        answer: {type: vector, key: e.tofile('x'), decimals: 3}
                                    ^

There are no attributes, comprehensions, lambdas, f-strings or assignments, because each of them would let an
author's file do more than arithmetic: through ``().__class__`` alone one reaches the whole interpreter.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

# An expression of a student's exercise fits on a line or two; whoever needs more has derived values. The
# bound on nodes also bounds the depth: compiling and evaluating recurse at most twice for each level.
MAX_LENGTH = 500
MAX_NODES = 300
MAX_WORD = 64
# Beyond it an integer isn't an int64 any more, and a chain of powers could fill the memory.
MAX_INTEGER = 2**63
# As many expressions as a bank of a thousand items has: each is read for every one of its variants.
CACHE_SIZE = 4096

_LANGUAGE: tuple[type[ast.AST], ...] = (
    ast.Name, ast.Constant, ast.List, ast.Tuple, ast.Subscript, ast.Slice, ast.Load,
    ast.UnaryOp, ast.USub, ast.UAdd, ast.Not,
    ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.MatMult,
    ast.BoolOp, ast.And, ast.Or, ast.IfExp,
    ast.Compare, ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE,
    ast.Call, ast.keyword,
)  # fmt: skip
_AS_WRITTEN: dict[type[ast.AST], str] = {
    ast.Attribute: "a dot after a value",
    ast.Lambda: "lambda",
    ast.Starred: "*",
    ast.JoinedStr: "an f-string",
    ast.NamedExpr: ":=",
    ast.Dict: "a dictionary",
    ast.Set: "a set",
    ast.ListComp: "for",
    ast.SetComp: "for",
    ast.DictComp: "for",
    ast.GeneratorExp: "for",
    ast.Await: "await",
    ast.Yield: "yield",
    ast.YieldFrom: "yield",
    ast.In: "in",
    ast.NotIn: "not in",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.BitOr: "|",
    ast.BitXor: "^; a power is **",
    ast.BitAnd: "&",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.Invert: "~",
}


@dataclass(frozen=True, slots=True)
class GrammarFault:
    """Why a text isn't an expression of the language, and at which of its characters if one is to blame."""

    message: str
    offset: int | None = None


@dataclass(frozen=True, slots=True)
class Mention:
    """A name where an expression uses it, with the call if it is that of a function."""

    name: str
    offset: int
    call: ast.Call | None


@lru_cache(maxsize=CACHE_SIZE)
def read_expression(text: str) -> ast.expr | GrammarFault:
    """Return the syntax tree of an expression, or the first rule that it breaks."""
    if not text.strip():
        return GrammarFault("this expression is empty")
    if len(text) > MAX_LENGTH:
        return GrammarFault(f"this expression is longer than {MAX_LENGTH} characters")
    try:
        with warnings.catch_warnings():  # Python warns of "\d" in a word, which means nothing here
            warnings.simplefilter("ignore")
            tree = ast.parse(text.strip(), mode="eval").body
    except SyntaxError as error:
        return _syntax_fault(text, error)
    except (ValueError, RecursionError, MemoryError):
        return GrammarFault("this expression can't be read")
    nodes = list(ast.walk(tree))
    if len(nodes) > MAX_NODES:
        return GrammarFault(f"this expression has over {MAX_NODES} parts; use derived values")
    return next(_faults(text, nodes), tree)


def _syntax_fault(text: str, error: SyntaxError) -> GrammarFault:
    hint = "; inside { } an expression with commas needs quotes" if "never closed" in error.msg else ""
    message = f"this expression can't be read: {error.msg}{hint}"
    if not error.lineno or not error.offset:
        return GrammarFault(message)
    # where something is missing at the end, Python points behind the last character
    offset = _line_start(text, error.lineno) + error.offset - 1
    return GrammarFault(message, min(offset, len(text.rstrip()) - 1))


def _faults(text: str, nodes: list[ast.AST]) -> Iterator[GrammarFault]:
    for node in nodes:
        message = _constant_fault(node.value) if isinstance(node, ast.Constant) else _node_fault(node)
        if message is not None:
            yield GrammarFault(message, _offset(text, node))


def _node_fault(node: ast.AST) -> str | None:
    # an operator has no place of its own, so that it is looked at with the node that holds it
    for part in (node, *getattr(node, "ops", ()), getattr(node, "op", node)):
        if not isinstance(part, _LANGUAGE):
            return f"expressions can't hold {_AS_WRITTEN.get(type(part), type(part).__name__)}"
    if isinstance(node, ast.keyword) and node.arg is None:
        return "expressions can't hold **"
    if isinstance(node, ast.Call):
        names = [keyword.arg for keyword in node.keywords if keyword.arg]
        # what isn't part of the language itself is named as such: e.tofile() holds a dot
        if isinstance(node.func, _LANGUAGE) and not isinstance(node.func, ast.Name):
            return "only functions by name can be called"
        if len(set(names)) < len(names):
            return "an argument is passed twice by name"
    return None


def _constant_fault(value: Any) -> str | None:
    if isinstance(value, str):
        return f"a word is longer than {MAX_WORD} characters" if len(value) > MAX_WORD else None
    if not isinstance(value, int | float):  # None, ..., bytes and imaginary numbers
        return f"expressions can't hold {ast.unparse(ast.Constant(value))[:30]}"
    return "numbers stay below 2**63" if abs(value) >= MAX_INTEGER else None


def mentions(text: str, tree: ast.expr) -> Iterator[Mention]:
    """Yield the names and functions that a tree uses, outer ones first."""
    calls = {id(node.func): node for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield Mention(node.id, _offset(text, node), calls.get(id(node)))


def _offset(text: str, node: ast.AST) -> int:
    """Return where a node starts in its text; Python counts the bytes of a line."""
    start = _line_start(text, getattr(node, "lineno", 1))
    head = text[start:].encode()[: getattr(node, "col_offset", 0)]
    return start + len(head.decode(errors="ignore"))


def _line_start(text: str, line: int) -> int:
    """Return where a line starts, counted from 1 in the text without the blanks around it."""
    lead = len(text) - len(text.lstrip())
    return lead + sum(len(before) + 1 for before in text.strip().split("\n")[: line - 1])
