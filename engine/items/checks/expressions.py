"""Expressions can be read, use only the language, and name only what is defined."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from engine.errors import Diagnostic
from engine.items.checks.reading import (
    CheckContext,
    ExpressionSite,
    UnreadableExpression,
    Where,
    mapping,
    parse_expression,
)
from engine.text.words import did_you_mean

__all__ = ["check_expressions", "expression_sites"]


# ----------------------------------------------------------------------------------------------------
# Where the expressions of a problem file stand, and which names each of them may use.


def expression_sites(reading: CheckContext) -> Iterator[ExpressionSite]:
    """Yield every expression of the file.

    Sizes see the parameters above them; derived values the parameters and the derived values above;
    constraints and keys all of them; a step also the values of the steps above it, and its invariants
    and misconceptions its own. Only a step whose answer has a value (a number, a word) is a name.
    """
    yield from _sizes(reading)
    yield from _derived(reading)
    values = reading.values()
    for where, _ in reading.entries("constraints"):
        yield from _at(reading, (*where, "expr"), values)
    for where, _ in reading.entries("claims"):
        yield from _at(reading, (*where, "holds"), values | reading.keys())
    yield from _answer(reading, ("answer",), values)
    yield from _at(reading, ("printed", "expr"), values)
    yield from _misconceptions(reading, (), values)
    yield from _steps(reading, values, reading.keys() - {"key"})


def _sizes(reading: CheckContext) -> Iterator[ExpressionSite]:
    parameters = mapping(reading.at("parameters"))
    names = list(parameters)
    for index, name in enumerate(names):
        above, later = frozenset(names[:index]), frozenset(names[index:])
        yield from _at(reading, ("parameters", name, "size"), above, later)
        for where, _ in reading.entries("parameters", name, "shape"):
            yield from _at(reading, where, above, later)


def _derived(reading: CheckContext) -> Iterator[ExpressionSite]:
    names = list(mapping(reading.at("derived")))
    parameters = frozenset(mapping(reading.at("parameters")))
    for index, name in enumerate(names):
        yield from _at(reading, ("derived", name), parameters | set(names[:index]), frozenset(names[index:]))


def _steps(reading: CheckContext, values: frozenset[str], steps: frozenset[str]) -> Iterator[ExpressionSite]:
    above = values
    for where, _ in reading.entries("steps"):
        name = reading.at(*where, "id")
        own = above | ({name} & steps) if isinstance(name, str) else above
        yield from _answer(reading, (*where, "answer"), above, steps)
        for place, _ in reading.entries(*where, "invariants"):
            yield from _at(reading, place, own, steps)
        yield from _misconceptions(reading, where, own, steps)
        above = own


def _answer(
    reading: CheckContext, answer: Where, names: frozenset[str], later: frozenset[str] = frozenset()
) -> Iterator[ExpressionSite]:
    """Yield the key, and the conditions of options, cards, prompts and targets."""
    yield from _at(reading, (*answer, "key"), names, later)
    for pool in ("options", "cards", "prompts", "targets"):
        for where, _ in reading.entries(*answer, pool):
            yield from _at(reading, (*where, "when"), names, later)


def _misconceptions(
    reading: CheckContext, holder: Where, names: frozenset[str], later: frozenset[str] = frozenset()
) -> Iterator[ExpressionSite]:
    for where, _ in reading.entries(*holder, "misconceptions"):
        yield from _at(reading, (*where, "expr"), names, later)


def _at(
    reading: CheckContext, loc: Where, names: frozenset[str], later: frozenset[str] = frozenset()
) -> Iterator[ExpressionSite]:
    value: Any = reading.at(*loc)
    if isinstance(value, str) and value.strip():
        yield ExpressionSite(loc, value, names, later - names)


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


def check_expressions(reading: CheckContext) -> Iterator[Diagnostic]:
    """Yield syntax errors, what isn't part of the language, and undefined names."""
    for site in expression_sites(reading):
        tree = parse_expression(site.text)
        if isinstance(tree, UnreadableExpression):
            yield reading.fault(site.loc, _unreadable(tree), offset=tree.offset)
            continue
        fault = _language(reading, site, tree)
        if fault is not None:
            yield fault
        else:
            yield from _names(reading, site, tree)


def _unreadable(tree: UnreadableExpression) -> str:
    hint = "; inside { } an expression with commas needs quotes" if "never closed" in tree.reason else ""
    return f"this expression can't be read: {tree.reason}{hint}"


def _language(reading: CheckContext, site: ExpressionSite, tree: ast.expr) -> Diagnostic | None:
    for node in ast.walk(tree):
        if not isinstance(node, _LANGUAGE) or isinstance(node, _NOT_OURS):
            what = _NAMES.get(type(node), type(node).__name__)
            return reading.fault(site.loc, f"expressions can't hold {what}", offset=_offset(site.text, node))
    return None


def _names(reading: CheckContext, site: ExpressionSite, tree: ast.expr) -> Iterator[Diagnostic]:
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
