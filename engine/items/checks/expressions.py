"""Expressions can be read, use only the language, and name only what is defined."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

from engine.errors import Diagnostic
from engine.expressions.functions import FUNCTIONS, arguments_of
from engine.expressions.grammar import GrammarFault, Mention, mentions, read_expression
from engine.items.checks.reading import CheckContext, ExpressionSite, Where, mapping
from engine.items.field_types import as_expression
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
        shape = (where for where, _ in reading.entries("parameters", name, "shape"))
        for loc in (("parameters", name, "size"), *shape):
            # a number of a size has its own bounds, and is no expression
            if isinstance(reading.at(*loc), str):
                yield from _at(reading, loc, above, later)


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
    value: Any = as_expression(reading.at(*loc))
    if isinstance(value, str):
        yield ExpressionSite(loc, value, names, later - names)


def check_expressions(reading: CheckContext) -> Iterator[Diagnostic]:
    """Yield what isn't an expression of the language, undefined names, and calls that can't be made."""
    for site in expression_sites(reading):
        tree = read_expression(site.text)
        if isinstance(tree, GrammarFault):
            yield reading.fault(site.loc, tree.message, offset=tree.offset)
            continue
        for mention in mentions(site.text, tree):
            message = _call_fault(reading, mention) if mention.call else _undefined(mention.name, site)
            if message:
                yield reading.fault(site.loc, message, offset=mention.offset)


def _call_fault(reading: CheckContext, mention: Mention) -> str | None:
    name, functions = mention.name, reading.vocabulary.functions
    if name not in functions:
        return f"there is no function '{name}'" + did_you_mean(name, sorted(functions))
    if mention.call is None or name not in FUNCTIONS:
        return None
    call = FUNCTIONS[name].call
    by_name = {str(keyword.arg): keyword.value for keyword in mention.call.keywords}
    try:
        inspect.signature(call).bind(*mention.call.args, **by_name)
    except TypeError as error:
        return f"{name}({arguments_of(call)}) can't be called like this: {error}"
    return None


def _undefined(name: str, site: ExpressionSite) -> str | None:
    if name in site.names:
        return None
    if name in site.later:
        return f"'{name}' is defined only further down; an expression uses what stands above it"
    known = ", ".join(sorted(site.names)[:12])
    otherwise = f"; the names here are {known}" if known else "; no names are defined here"
    return f"'{name}' isn't defined" + did_you_mean(name, sorted(site.names), otherwise)
