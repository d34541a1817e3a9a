"""Finds formulas in prose that can't be typeset: a ``$`` or a brace that has no partner."""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["blank_templates", "latex_faults"]

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
