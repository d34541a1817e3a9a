"""Texts are templates that can be rendered, and formulas that can be typeset."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from engine.errors import Diagnostic
from engine.spec.checks.prose_sites import prose_sites
from engine.spec.checks.reading import ProseSite, Reading
from engine.spec.functions import builtin_vocabulary
from engine.spec.latex import latex_faults
from engine.spec.text_file import shown
from engine.spec.wording import did_you_mean

if TYPE_CHECKING:
    from jinja2 import Environment, nodes

__all__ = ["check_prose"]


def check_prose(reading: Reading) -> Iterator[Diagnostic]:
    """Yield template errors, undefined names, and formulas with a ``$`` or brace too many."""
    for site in prose_sites(reading):
        if not site.text.strip():
            yield reading.fault(site.loc, "this text is empty")
        if any(mark in site.text for mark in ("{{", "{%", "{#")):
            yield from _template(reading, site)
        if "$" in site.text:
            for offset, message in latex_faults(site.text):
                yield reading.fault(site.loc, message, offset=offset)


@lru_cache(maxsize=1)
def _environment() -> Environment:
    from jinja2.sandbox import SandboxedEnvironment

    class Unfolded(SandboxedEnvironment):
        # What is intercepted isn't computed while a template is only read: 'a' * 10**9 would fill the memory.
        intercepted_binops = frozenset(SandboxedEnvironment.default_binop_table)

    environment = Unfolded()
    environment.filters = dict.fromkeys(builtin_vocabulary().text_filters, str)
    return environment


def _template(reading: Reading, site: ProseSite) -> Iterator[Diagnostic]:
    from jinja2 import TemplateSyntaxError

    try:
        tree = _environment().parse(site.text)
        faults = list(_forbidden(reading, tree)) or list(_names(reading, site, tree))
    except TemplateSyntaxError as problem:
        offset = _line_start(site.text, problem.lineno)
        yield reading.fault(site.loc, _syntax(problem.message or "", site.text), offset=offset)
        return
    except RecursionError:
        yield reading.fault(site.loc, "this template is nested too deeply")
        return
    for word, message in faults:
        yield reading.fault(site.loc, message, offset=_first(site.text, word))


Found = tuple[str, str]
"""A word of a template and what is wrong with it."""


def _forbidden(reading: Reading, tree: nodes.Template) -> Iterator[Found]:
    """Yield blocks, attributes and filters that aren't part of our templates."""
    from jinja2 import nodes

    blocks = (
        nodes.Macro,
        nodes.CallBlock,
        nodes.Include,
        nodes.Import,
        nodes.FromImport,
        nodes.Extends,
        nodes.Block,
    )
    for block in tree.find_all(blocks):
        word = {"CallBlock": "call", "FromImport": "from"}.get(
            type(block).__name__, type(block).__name__.lower()
        )
        yield word, f"a text can't use {{% {word} %}}"
    for get in tree.find_all(nodes.Getattr):
        if not (isinstance(get.node, nodes.Name) and get.node.name == "loop"):
            yield f".{get.attr}", f"a text can't use a dot after a value (.{shown(get.attr, 30)})"
    known = sorted(reading.vocabulary.text_filters)
    for used in tree.find_all(nodes.Filter):
        if used.name not in known:
            yield used.name, f"there is no filter '{shown(used.name, 30)}'" + did_you_mean(used.name, known)


def _names(reading: Reading, site: ProseSite, tree: nodes.Template) -> Iterator[Found]:
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
    return f"this template can't be read: {shown(complaint, 120)}{hint}"


def _function(reading: Reading, name: nodes.Name) -> str | None:
    known = reading.vocabulary.functions | reading.vocabulary.text_functions | {"range"}
    if name.name in known:
        return None
    return f"there is no function '{shown(name.name)}'" + did_you_mean(name.name, sorted(known))


def _undefined(name: nodes.Name, site: ProseSite) -> str | None:
    if name.name in site.names:
        return None
    known = ", ".join(sorted(site.names)[:12])
    otherwise = f"; the names here are {known}" if known else "; no names are defined here"
    return f"'{shown(name.name)}' isn't defined" + did_you_mean(name.name, sorted(site.names), otherwise)


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
