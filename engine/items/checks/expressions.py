"""Expressions keep to the language, and name and call only what is defined."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

from engine.errors import Diagnostic
from engine.expressions.functions import FUNCTIONS, arguments_of
from engine.expressions.grammar import GrammarFault, Mention, mentions, read_expression
from engine.items.checks.context import (
    CheckContext,
    TextSite,
    Where,
    mapping,
    undefined_name,
    unknown_function,
)
from engine.items.field_types import as_expression

__all__ = ["check_expressions", "expression_sites"]


_WORKED_OUT: tuple[Where, ...] = (
    ("answer", "key"),
    *(("answer", pool, "*", "when") for pool in ("options", "cards", "prompts", "targets")),
)
_NOTHING: frozenset[str] = frozenset()


def expression_sites(context: CheckContext) -> Iterator[TextSite]:
    """Yield every expression of the file.

    Sizes see the parameters above them; derived values the parameters and the derived values above;
    constraints and keys all of them; a step also the values of the steps above it, and its invariants
    and misconceptions its own. Only a step whose answer has a value (a number, a word) is a name.
    """
    parameters, derived = (list(mapping(context.value(name))) for name in ("parameters", "derived"))
    for index, name in enumerate(parameters):
        above, later = frozenset(parameters[:index]), frozenset(parameters[index:])
        for size in (("size",), ("shape", "*")):
            # a number of a size has its own bounds, and is no expression
            sites = _sites(context, ("parameters", name, *size), above, later)
            yield from (site for site in sites if isinstance(context.value(*site.loc), str))
    for index, name in enumerate(derived):
        above, later = frozenset(parameters + derived[:index]), frozenset(derived[index:])
        yield from _sites(context, ("derived", name), above, later)
    values, keys = context.values(), context.keys()
    yield from _sites(context, ("claims", "*", "holds"), values | keys)
    others: tuple[Where, ...] = (
        ("constraints", "*", "expr"), ("printed", "expr"), ("misconceptions", "*", "expr"), *_WORKED_OUT
    )  # fmt: skip
    for pattern in others:
        yield from _sites(context, pattern, values)
    yield from _steps(context, values, keys - {"key"})


def _steps(context: CheckContext, values: frozenset[str], steps: frozenset[str]) -> Iterator[TextSite]:
    # a step is worked out with what the steps above it gave, and can't wait for one below
    above = values
    for step in context.entries("steps"):
        name = context.value(*step, "id")
        with_step = above | ({name} & steps) if isinstance(name, str) else above
        for pattern in _WORKED_OUT:
            yield from _sites(context, (*step, *pattern), above, steps)
        for pattern in (("invariants", "*"), ("misconceptions", "*", "expr")):
            yield from _sites(context, (*step, *pattern), with_step, steps)
        above = with_step


def _sites(
    context: CheckContext, pattern: Where, names: frozenset[str], later: frozenset[str] = _NOTHING
) -> Iterator[TextSite]:
    for loc in context.places(pattern):
        value = as_expression(context.value(*loc))
        if isinstance(value, str):
            yield TextSite(loc, value, names, later - names)


def check_expressions(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield what isn't an expression of the language, undefined names, and calls that can't be made."""
    for site in expression_sites(context):
        tree = read_expression(site.text)
        if isinstance(tree, GrammarFault):
            yield context.fault(site.loc, tree.message, offset=tree.offset)
            continue
        for mention in mentions(site.text, tree):
            message = _call_fault(context, mention) if mention.call else _undefined(mention.name, site)
            if message:
                yield context.fault(site.loc, message, offset=mention.offset)


def _call_fault(context: CheckContext, mention: Mention) -> str | None:
    name, functions = mention.name, context.functions
    if name not in functions:
        return unknown_function(name, functions)
    if mention.call is None or name not in FUNCTIONS:
        return None
    # what Python would say at the draw, said now; the values don't matter for it
    call = FUNCTIONS[name].call
    by_name = {str(keyword.arg): keyword.value for keyword in mention.call.keywords}
    try:
        inspect.signature(call).bind(*mention.call.args, **by_name)
    except TypeError as error:
        return f"{name}({arguments_of(call)}) can't be called like this: {error}"
    return None


def _undefined(name: str, site: TextSite) -> str | None:
    if name in site.names:
        return None
    if name in site.later:
        return f"'{name}' is defined only further down; an expression uses what stands above it"
    return undefined_name(name, site)
