"""Expressions keep to the language, and name and call only what is defined."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

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


def expression_sites(context: CheckContext) -> Iterator[TextSite]:
    """Yield every expression of the file.

    Sizes see the parameters above them; derived values the parameters and the derived values above;
    constraints and keys all of them; a step also the values of the steps above it, and its invariants
    and misconceptions its own. Only a step whose answer has a value (a number, a word) is a name.
    """
    yield from _sizes(context)
    yield from _derived(context)
    values = context.values()
    for where in context.entries("constraints"):
        yield from _site(context, (*where, "expr"), values)
    for where in context.entries("claims"):
        yield from _site(context, (*where, "holds"), values | context.keys())
    yield from _answer(context, ("answer",), values)
    yield from _site(context, ("printed", "expr"), values)
    yield from _misconceptions(context, (), values)
    yield from _steps(context, values, context.keys() - {"key"})


def _sizes(context: CheckContext) -> Iterator[TextSite]:
    parameters = mapping(context.value("parameters"))
    names = list(parameters)
    for index, name in enumerate(names):
        above, later = frozenset(names[:index]), frozenset(names[index:])
        shape = context.entries("parameters", name, "shape")
        for loc in (("parameters", name, "size"), *shape):
            # a number of a size has its own bounds, and is no expression
            if isinstance(context.value(*loc), str):
                yield from _site(context, loc, above, later)


def _derived(context: CheckContext) -> Iterator[TextSite]:
    names = list(mapping(context.value("derived")))
    parameters = frozenset(mapping(context.value("parameters")))
    for index, name in enumerate(names):
        yield from _site(
            context, ("derived", name), parameters | set(names[:index]), frozenset(names[index:])
        )


def _steps(context: CheckContext, values: frozenset[str], steps: frozenset[str]) -> Iterator[TextSite]:
    # a step is worked out with what the steps above it gave, and can't wait for one below
    above = values
    for where in context.entries("steps"):
        step = context.value(*where, "id")
        with_step = above | ({step} & steps) if isinstance(step, str) else above
        yield from _answer(context, (*where, "answer"), above, steps)
        for place in context.entries(*where, "invariants"):
            yield from _site(context, place, with_step, steps)
        yield from _misconceptions(context, where, with_step, steps)
        above = with_step


def _answer(
    context: CheckContext, answer: Where, names: frozenset[str], later: frozenset[str] = frozenset()
) -> Iterator[TextSite]:
    """Yield the key, and the conditions of options, cards, prompts and targets."""
    yield from _site(context, (*answer, "key"), names, later)
    for pool in ("options", "cards", "prompts", "targets"):
        for where in context.entries(*answer, pool):
            yield from _site(context, (*where, "when"), names, later)


def _misconceptions(
    context: CheckContext, holder: Where, names: frozenset[str], later: frozenset[str] = frozenset()
) -> Iterator[TextSite]:
    for where in context.entries(*holder, "misconceptions"):
        yield from _site(context, (*where, "expr"), names, later)


def _site(
    context: CheckContext, loc: Where, names: frozenset[str], later: frozenset[str] = frozenset()
) -> Iterator[TextSite]:
    value: Any = as_expression(context.value(*loc))
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
    name, functions = mention.name, context.vocabulary.functions
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
