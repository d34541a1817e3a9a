"""Texts are templates that can be rendered, and formulas that can be typeset."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from engine.errors import Diagnostic
from engine.items.checks.reading import CheckContext, ProseSite, Where
from engine.text.escape import one_line
from engine.text.words import did_you_mean

if TYPE_CHECKING:
    from jinja2 import nodes

__all__ = ["blank_templates", "check_prose", "latex_faults", "prose_sites"]


# ----------------------------------------------------------------------------------------------------
# Where the texts of a problem file stand, and which names each template may use.

_OF_ANSWERS = (
    ("options", ("text", "feedback")),
    ("cards", ("text",)),
    ("prompts", ("text", "feedback")),
    ("targets", ("text",)),
)


def prose_sites(reading: CheckContext) -> Iterator[ProseSite]:
    """Yield every text that students see.

    All may show parameters and derived values; feedback and the solution also the keys: ``key``, or
    the steps' ids.
    """
    values = reading.values()
    keys = reading.keys()
    yield from _at(reading, ("stem",), values)
    yield from _at(reading, ("printed", "stem"), values)
    yield from _at(reading, ("solution",), values | keys)
    for where, _ in reading.texts("hints"):
        yield from _at(reading, where, values)
    for where, _ in reading.entries("errata"):
        yield from _at(reading, (*where, "note"), values)
    holders: list[Where] = [(), *(where for where, _ in reading.entries("steps"))]
    for holder in holders:
        yield from _at(reading, (*holder, "prompt"), values)
        for where, _ in reading.entries(*holder, "misconceptions"):
            yield from _at(reading, (*where, "feedback"), values | keys)
    yield from _of_answers(reading, values, keys)


def _of_answers(reading: CheckContext, values: frozenset[str], keys: frozenset[str]) -> Iterator[ProseSite]:
    for site in reading.answers():
        yield from _at(reading, (*site.loc, "feedback"), values | keys)
        for name, fields in _OF_ANSWERS:
            for where, _ in reading.entries(*site.loc, name):
                for field in fields:
                    names = values | keys if field == "feedback" else values
                    yield from _at(reading, (*where, field), names)


def _at(reading: CheckContext, loc: Where, names: frozenset[str]) -> Iterator[ProseSite]:
    value = reading.at(*loc)
    if isinstance(value, str):
        yield ProseSite(loc, value, names)


# ----------------------------------------------------------------------------------------------------
# Finds formulas in prose that can't be typeset: a ``$`` or a brace that has no partner.

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

    def blank(found: re.Match[str]) -> str:
        return re.sub(r"[^\n]", "x", found[0])

    text = _TEMPLATE.sub(blank, text)
    runs = [found.span() for found in _TICKS.finditer(text)]
    pieces, at = [], 0
    for begin, end in _code_spans(runs):
        pieces += [text[at:begin], re.sub(r"[^\n]", "x", text[begin:end])]
        at = end
    return "".join([*pieces, text[at:]])


def _code_spans(runs: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield where code stands: from a run of backticks to the next run of the same length."""
    next_of: list[int | None] = []
    by_length: dict[int, int] = {}
    for number in reversed(range(len(runs))):
        length = runs[number][1] - runs[number][0]
        next_of.append(by_length.get(length))
        by_length[length] = number
    next_of.reverse()
    number = 0
    while number < len(runs):
        closing = next_of[number]
        if closing is not None:
            yield runs[number][0], runs[closing][1]
            number = closing
        number += 1


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
    """One formula that is being read: what has been opened in it and not closed."""

    def __init__(self, start: int, fence: str) -> None:
        self.start = start
        self.fence = fence
        self.open: list[tuple[int, str]] = []

    def take(self, token: re.Match[str]) -> Iterator[Fault]:
        """Take one token inside the formula."""
        what = _opens(token)
        if what is not None:
            self.open.append((token.start(), what))
            return
        closes = _closes(token)
        if closes is None:
            return
        if self.open and self.open[-1][1] == closes:
            self.open.pop()
        else:
            yield token.start(), f"{token[0]} closes nothing here; {closes} is missing before it"

    def close(self, token: re.Match[str]) -> Iterator[Fault]:
        """Take the ``$`` at its end."""
        if self.fence == "$$" and token[0] == "$":
            yield token.start(), "a single $ stands inside a formula between $$ and $$"
        for start, what in self.open:
            yield start, f"{what} isn't closed in this formula"


def _opens(token: re.Match[str]) -> str | None:
    if token[0] == "{":
        return "{"
    if token["edge"] == "begin":
        return f"\\begin{{{token['name']}}}"
    return "\\left" if token["side"] == "left" else None


def _closes(token: re.Match[str]) -> str | None:
    if token[0] == "}":
        return "{"
    if token["edge"] == "end":
        return f"\\begin{{{token['name']}}}"
    return "\\left" if token["side"] == "right" else None


def check_prose(reading: CheckContext) -> Iterator[Diagnostic]:
    """Yield template errors, undefined names, and formulas with a ``$`` or brace too many."""
    for site in prose_sites(reading):
        if not site.text.strip():
            yield reading.fault(site.loc, "this text is empty")
        if any(mark in site.text for mark in ("{{", "{%", "{#")):
            yield from _template(reading, site)
        if "$" in site.text:
            for offset, message in latex_faults(site.text):
                yield reading.fault(site.loc, message, offset=offset)


def _template(reading: CheckContext, site: ProseSite) -> Iterator[Diagnostic]:
    # jinja2 is imported only where a file has a template
    from jinja2 import TemplateSyntaxError

    from engine.prose.stems import forbidden_parts, parse_template

    try:
        tree = parse_template(site.text)
        faults = list(forbidden_parts(tree, reading.vocabulary.text_filters))
        faults = faults or list(_names(reading, site, tree))
    except TemplateSyntaxError as problem:
        offset = _line_start(site.text, problem.lineno)
        yield reading.fault(site.loc, _syntax(problem.message or "", site.text), offset=offset)
        return
    except RecursionError:
        yield reading.fault(site.loc, "this template is nested too deeply")
        return
    for word, message in faults:
        yield reading.fault(site.loc, message, offset=_first(site.text, word))


def _names(reading: CheckContext, site: ProseSite, tree: nodes.Template) -> Iterator[tuple[str, str]]:
    """Yield names and functions that aren't defined."""
    from jinja2 import meta, nodes

    undeclared = set(meta.find_undeclared_variables(tree))
    called = {id(call.node) for call in tree.find_all(nodes.Call)}
    for name in tree.find_all(nodes.Name):
        if name.name in undeclared:
            undeclared.discard(name.name)
            message = _function(reading, name) if id(name) in called else _undefined(name, site)
            if message:
                yield name.name, message


def _syntax(complaint: str, text: str) -> str:
    if complaint.startswith("Unexpected end of template"):
        return "this template opens a {% block %} that never ends"
    touching = any(braces in text for braces in ("{{{", "}}}", "{{%", "%}}"))
    hint = "; put a blank between a brace of LaTeX and one of the template" if touching else ""
    return f"this template can't be read: {one_line(complaint, 120)}{hint}"


def _function(reading: CheckContext, name: nodes.Name) -> str | None:
    known = reading.vocabulary.functions | reading.vocabulary.text_functions | {"range"}
    if name.name in known:
        return None
    return f"there is no function '{one_line(name.name)}'" + did_you_mean(name.name, sorted(known))


def _undefined(name: nodes.Name, site: ProseSite) -> str | None:
    if name.name in site.names:
        return None
    known = ", ".join(sorted(site.names)[:12])
    otherwise = f"; the names here are {known}" if known else "; no names are defined here"
    return f"'{one_line(name.name)}' isn't defined" + did_you_mean(name.name, sorted(site.names), otherwise)


def _line_start(text: str, line: int) -> int | None:
    lines = text.split("\n")
    if not 0 < line <= len(lines):
        return None
    return sum(len(before) + 1 for before in lines[: line - 1])


def _first(text: str, name: str) -> int | None:
    """Return where a name (or ``.attribute``) first stands inside a template part."""
    for part in re.finditer(r"\{[{%](?:(?!\{[{%]|[}%]\}).)*+[}%]\}", text, re.DOTALL):
        start = "" if name.startswith(".") else r"(?<![\w.])"
        found = re.search(rf"{start}{re.escape(name)}\b", part[0])
        if found:
            return part.start() + found.start()
    return None
