"""Expressions keep to the language, and name and call only what is defined.
Texts are templates that can be rendered, and formulas can be typeset.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

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
from engine.text.words import one_line

if TYPE_CHECKING:
    from jinja2 import nodes

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
            # a number of a size has its own bounds, and isn't an expression
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
        return f"'{name}' is defined only further down; an expression uses what is above it"
    return undefined_name(name, site)


_TEXTS: tuple[Where, ...] = (
    ("stem",), ("printed", "stem"), ("hints", "*"), ("errata", "*", "note"), ("prompt",),
    *(("answer", pool, "*", "text") for pool in ("options", "cards", "prompts", "targets")),
    ("answer", "rubric", "*", "title"),
)  # fmt: skip
# What is read after the answer may show the key: ``key``, or in an item with steps their ids.
_TEXTS_WITH_KEYS: tuple[Where, ...] = (
    ("solution",), ("misconceptions", "*", "feedback"), ("answer", "feedback"),
    ("answer", "options", "*", "feedback"), ("answer", "prompts", "*", "feedback"), ("answer", "sample"),
    ("answer", "rubric", "*", "text"), ("answer", "rubric", "*", "levels", "*", "text"),
)  # fmt: skip


def prose_sites(context: CheckContext) -> Iterator[TextSite]:
    """Yield every text that students see, of the item and of its steps."""
    values = context.values()
    for patterns, names in ((_TEXTS, values), (_TEXTS_WITH_KEYS, values | context.keys())):
        for holder in context.holders():
            for pattern in patterns:
                for loc in context.places((*holder, *pattern)):
                    if isinstance(text := context.value(*loc), str):
                        yield TextSite(loc, text, names)


# Formulas that can't be typeset: a ``$`` or a brace that has no partner. What stands in a formula can only be
# parsed once its template is filled, so that the rest is left to the draw.

# The quantifiers are possessive: a file of unclosed braces must not take quadratic time.
_TEMPLATE = re.compile(
    r"\{\{(?:[^{}]|\{(?!\{)|\}(?!\}))*+\}\}|\{%(?:[^{%]|\{(?!%)|%(?!\}))*+%\}"
    r"|\{#(?:[^{#]|\{(?!#)|#(?!\}))*+#\}"
)
_TICKS = re.compile(r"`++")
_TOKEN = re.compile(
    r"\\(?P<edge>begin|end)\s*\{(?P<name>[^{}]*)\}|\\(?P<side>left|right)(?![A-Za-z])|\\."
    r"|\$\$|\$|[{}]|\n[ \t]*\n",
    re.DOTALL,
)

Fault = tuple[int, str]


def blank_templates(text: str) -> str:
    """Return prose of the same length with template parts and code replaced by ``x``."""

    def blank(part: str) -> str:
        return re.sub(r"[^\n]", "x", part)  # an empty line still ends a paragraph

    text = _TEMPLATE.sub(lambda match: blank(match[0]), text)
    pieces, position = [], 0
    for begin, end in _code_spans([match.span() for match in _TICKS.finditer(text)]):
        pieces += [text[position:begin], blank(text[begin:end])]
        position = end
    return "".join([*pieces, text[position:]])


def _code_spans(runs: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield where code is: from a run of backticks to the next run of the same length."""
    # from the back, so that the next run of a length is known when its opening run is met: looking for it
    # from each run would be quadratic
    closing: list[int | None] = []
    last_of_length: dict[int, int] = {}
    for index in reversed(range(len(runs))):
        length = runs[index][1] - runs[index][0]
        closing.append(last_of_length.get(length))
        last_of_length[length] = index
    closing.reverse()
    index = 0
    while index < len(runs):
        if (end := closing[index]) is not None:
            yield runs[index][0], runs[end][1]
            index = end
        index += 1


def latex_faults(text: str) -> Iterator[Fault]:
    """Yield (offset, sentence) for every formula that doesn't close or whose braces don't match.

    Parameters
    ----------
    text : str
        Prose with ``$…$`` and ``$$…$$``; template parts and code in backticks are passed over.
    """
    formula: _Formula | None = None
    for token in _TOKEN.finditer(blank_templates(text)):
        if formula is None:
            if token[0].startswith("$"):
                formula = _Formula(token.start(), token[0])
            continue
        if token[0].startswith("$"):
            yield from formula.close(token)
            # "$a$$b$" is two formulas: the second dollar opens the next one
            again = formula.fence == "$" and token[0] == "$$"
            formula = _Formula(token.start() + 1, "$") if again else None
        elif token[0].startswith("\n") and formula.fence == "$":
            yield formula.start, "this $ opens a formula that doesn't end before the paragraph does"
            formula = None
        else:
            yield from formula.take(token)
    if formula is not None:
        yield formula.start, f"this {formula.fence} opens a formula that never ends; a dollar sign is \\$"


class _Formula:
    """A formula up to some token: where it starts, and the brackets that are open."""

    def __init__(self, start: int, fence: str) -> None:
        self.start = start
        self.fence = fence
        self.open: list[tuple[int, str]] = []

    def take(self, token: re.Match[str]) -> Iterator[Fault]:
        """Take one token inside the formula."""
        bracket, opens = _bracket(token)
        if not bracket:
            return
        if opens:
            self.open.append((token.start(), bracket))
        elif self.open and self.open[-1][1] == bracket:
            self.open.pop()
        else:
            yield token.start(), f"{token[0]} closes nothing here; {bracket} is missing before it"

    def close(self, token: re.Match[str]) -> Iterator[Fault]:
        """Take the ``$`` at its end."""
        if self.fence == "$$" and token[0] == "$":
            yield token.start(), "a single $ is inside a formula between $$ and $$"
        for start, bracket in self.open:
            yield start, f"{bracket} isn't closed in this formula"


def _bracket(token: re.Match[str]) -> tuple[str, bool]:
    """Return the opening bracket of a pair, empty for other tokens, and whether this is it."""
    if token[0] in ("{", "}"):
        return "{", token[0] == "{"
    if token["edge"]:
        return f"\\begin{{{token['name']}}}", token["edge"] == "begin"
    return "\\left" if token["side"] else "", token["side"] == "left"


def check_prose(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield template errors, undefined names, and formulas with a ``$`` or brace too many."""
    for site in prose_sites(context):
        if not site.text.strip():
            yield context.fault(site.loc, "this text is empty")
        if any(mark in site.text for mark in ("{{", "{%", "{#")):
            yield from _template(context, site)
        if "$" in site.text:
            for offset, message in latex_faults(site.text):
                yield context.fault(site.loc, message, offset=offset)


def _template(context: CheckContext, site: TextSite) -> Iterator[Diagnostic]:
    # jinja2 is imported only where a file has a template
    from jinja2 import TemplateSyntaxError

    from engine.prose.stems import TEXT_FILTERS, TEXT_FUNCTIONS, forbidden_parts, parse_template

    try:
        tree = parse_template(site.text)
        faults = list(forbidden_parts(tree, {*TEXT_FUNCTIONS, *TEXT_FILTERS}))
        faults = faults or list(_names(site, tree, context.functions | TEXT_FUNCTIONS.keys() | {"range"}))
    except TemplateSyntaxError as problem:
        offset = _line_start(site.text, problem.lineno)
        yield context.fault(site.loc, _syntax(problem.message or "", site.text), offset=offset)
        return
    except RecursionError:  # jinja2's parser has no limit of its own
        yield context.fault(site.loc, "this template is nested too deeply")
        return
    for word, message in faults:
        yield context.fault(site.loc, message, offset=_first(site.text, word))


def _names(site: TextSite, tree: nodes.Template, functions: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Yield names and functions that aren't defined."""
    from jinja2 import meta, nodes

    undeclared = set(meta.find_undeclared_variables(tree))
    callees = {id(call.node) for call in tree.find_all(nodes.Call)}
    for node in tree.find_all(nodes.Name):
        if node.name not in undeclared:
            continue
        undeclared.discard(node.name)  # each name once: its place is searched for in the text
        if id(node) not in callees and node.name not in site.names:
            yield node.name, undefined_name(node.name, site)
        elif id(node) in callees and node.name not in functions:
            yield node.name, unknown_function(node.name, functions)


def _syntax(complaint: str, text: str) -> str:
    if complaint.startswith("Unexpected end of template"):
        return "this template opens a {% block %} that never ends"
    # \frac{{{ a }}}{2}: LaTeX and jinja2 use the same braces
    touching = any(braces in text for braces in ("{{{", "}}}", "{{%", "%}}"))
    hint = "; put a blank between a brace of LaTeX and one of the template" if touching else ""
    return f"this template can't be read: {one_line(complaint, 120)}{hint}"


def _line_start(text: str, line: int) -> int | None:
    lines = text.split("\n")
    if not 0 < line <= len(lines):
        return None
    return sum(len(before) + 1 for before in lines[: line - 1])


def _first(text: str, name: str) -> int | None:
    # jinja2 gives lines but no columns, so that a word (or .attribute) is looked for in the template parts
    for part in re.finditer(r"\{[{%](?:(?!\{[{%]|[}%]\}).)*+[}%]\}", text, re.DOTALL):
        start = "" if name.startswith(".") else r"(?<![\w.])"
        match = re.search(rf"{start}{re.escape(name)}\b", part[0])
        if match:
            return part.start() + match.start()
    return None
