"""Expressions can be read, use only the language, and name only what is defined."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from engine.errors import Diagnostic
from engine.spec.checks.expression_sites import expression_sites
from engine.spec.checks.reading import ExpressionSite, Reading, Unreadable, parse_expression
from engine.spec.wording import did_you_mean

__all__ = ["check_expressions"]

_LANGUAGE = (
    ast.Name, ast.Constant, ast.List, ast.Tuple, ast.Subscript, ast.Slice, ast.UnaryOp, ast.BinOp, ast.BoolOp,
    ast.IfExp, ast.Compare, ast.Call, ast.keyword, ast.expr_context, ast.operator, ast.unaryop, ast.boolop,
    ast.cmpop,
)  # fmt: skip
_NOT_OURS = (
    ast.In,
    ast.NotIn,
    ast.Is,
    ast.IsNot,
    ast.BitOr,
    ast.BitXor,
    ast.BitAnd,
    ast.LShift,
    ast.RShift,
    ast.Invert,
)
_NAMES = {
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
    ast.In: "in",
    ast.Is: "is",
}


def check_expressions(reading: Reading) -> Iterator[Diagnostic]:
    """Yield syntax errors, what isn't part of the language, and undefined names."""
    for site in expression_sites(reading):
        tree = parse_expression(site.text)
        if isinstance(tree, Unreadable):
            yield reading.fault(site.loc, _unreadable(tree), offset=tree.offset)
            continue
        fault = _language(reading, site, tree)
        if fault is not None:
            yield fault
        else:
            yield from _names(reading, site, tree)


def _unreadable(tree: Unreadable) -> str:
    hint = "; inside { } an expression with commas needs quotes" if "never closed" in tree.reason else ""
    return f"this expression can't be read: {tree.reason}{hint}"


def _language(reading: Reading, site: ExpressionSite, tree: ast.expr) -> Diagnostic | None:
    for node in ast.walk(tree):
        if not isinstance(node, _LANGUAGE) or isinstance(node, _NOT_OURS):
            what = _NAMES.get(type(node), type(node).__name__)
            return reading.fault(site.loc, f"expressions can't hold {what}", offset=_offset(site.text, node))
    return None


def _names(reading: Reading, site: ExpressionSite, tree: ast.expr) -> Iterator[Diagnostic]:
    functions = reading.vocabulary.functions
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Name):
            continue
        if id(node) in called:
            message = (
                None if functions is None or node.id in functions else _unknown_function(node.id, functions)
            )
        else:
            message = _undefined(node.id, site)
        if message:
            yield reading.fault(site.loc, message, offset=_offset(site.text, node))


def _unknown_function(name: str, functions: frozenset[str]) -> str:
    return f"there is no function '{name}'" + did_you_mean(name, sorted(functions))


def _undefined(name: str, site: ExpressionSite) -> str | None:
    if name in site.names:
        return None
    if name in site.later:
        return f"'{name}' is defined only further down; an expression uses what stands above it"
    known = ", ".join(sorted(site.names)[:12])
    otherwise = f"; the names here are {known}" if known else "; no names are defined here"
    return f"'{name}' isn't defined" + did_you_mean(name, sorted(site.names), otherwise)


def _offset(text: str, node: ast.AST) -> int | None:
    """Return where a node starts in the text of its expression, None over several lines."""
    lead = len(text) - len(text.lstrip())
    if getattr(node, "lineno", 1) != 1 or not hasattr(node, "col_offset"):
        return None
    head = text.strip().encode()[: node.col_offset]
    return lead + len(head.decode(errors="replace"))
