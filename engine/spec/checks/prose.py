"""Texts are templates that can be rendered, and formulas that can be typeset."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from engine.errors import Diagnostic
from engine.spec.checks.prose_sites import prose_sites
from engine.spec.checks.reading import ProseSite, Reading
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

    return SandboxedEnvironment()


def _template(reading: Reading, site: ProseSite) -> Iterator[Diagnostic]:
    from jinja2 import TemplateSyntaxError, meta, nodes

    try:
        tree = _environment().parse(site.text)
        undeclared = meta.find_undeclared_variables(tree)
    except TemplateSyntaxError as problem:
        offset = _line_start(site.text, problem.lineno)
        yield reading.fault(site.loc, _syntax(problem.message or "", site.text), offset=offset)
        return
    except RecursionError:
        yield reading.fault(site.loc, "this template is nested too deeply")
        return
    for kind in (nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends):
        if tree.find(kind) is not None:
            yield reading.fault(site.loc, f"a text can't use {{% {kind.__name__.lower()} %}}")
    called = {id(call.node) for call in tree.find_all(nodes.Call)}
    seen: set[str] = set()
    for name in tree.find_all(nodes.Name):
        if name.name not in undeclared or name.name in seen:
            continue
        message = _function(reading, name) if id(name) in called else _undefined(name, site)
        if message:
            seen.add(name.name)
            yield reading.fault(site.loc, message, offset=_first(site.text, name.name))


def _syntax(complaint: str, text: str) -> str:
    if complaint.startswith("Unexpected end of template"):
        return "this template opens a {% block %} that never ends"
    touching = any(braces in text for braces in ("{{{", "}}}", "{{%", "%}}"))
    hint = "; put a blank between a brace of LaTeX and one of the template" if touching else ""
    return f"this template can't be read: {shown(complaint, 120)}{hint}"


def _function(reading: Reading, name: nodes.Name) -> str | None:
    if reading.vocabulary is None:
        return None
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
    """Return where a name first stands inside a template part."""
    for part in re.finditer(r"\{[{%].*?[}%]\}", text, re.DOTALL):
        found = re.search(rf"(?<![\w.]){re.escape(name)}\b", part[0])
        if found:
            return part.start() + found.start()
    return None
