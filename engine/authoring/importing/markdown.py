"""Blocks as Markdown of ours: every character shows as itself, nothing becomes a template."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

from engine.exchange.markup.blocks import (
    Block,
    Break,
    Formula,
    Inline,
    Items,
    Paragraph,
    Program,
    Quote,
    Run,
    Table,
    lines_of,
)
from engine.exchange.markup.characters import escaped, escaped_line_start
from engine.exchange.markup.formulas import looks_like_dollar_maths, normal_formula
from engine.foreign import clean_line

__all__ = ["Writer"]

_NOT_IN_CODE = re.compile(r"`|\n|\{[{%#]")
_NOT_IN_PROGRAM = re.compile(r"```|\{[{%#]")
_LINE_END = "\\\n"


class Writer:
    """Writes blocks; ``lost`` names what can't be written as it was meant, each once."""

    def __init__(self) -> None:
        self._lost: dict[str, None] = {}

    @property
    def lost(self) -> list[str]:
        """What couldn't be written as it was meant."""
        return list(self._lost)

    def text(self, blocks: Sequence[Block]) -> str:
        """Return blocks with empty lines between them."""
        return "\n\n".join(filter(None, (self._block(block) for block in blocks)))

    def line(self, blocks: Sequence[Block]) -> str:
        """Return the blocks' content as one run of words (an option, a card, feedback)."""
        return self._lines(lines_of(blocks), display=False)

    # --- blocks

    def _block(self, block: Block) -> str:
        if isinstance(block, Paragraph):
            return self._lines(_split(block.content), display=True)
        if isinstance(block, Program):
            return self._program(block)
        if isinstance(block, Quote):
            return "\n".join(f"> {line}".rstrip() for line in self.text(block.blocks).split("\n"))
        if isinstance(block, Table):
            return self._table(block)
        return "\n".join(self._items(block, ""))

    def _program(self, block: Program) -> str:
        if _NOT_IN_PROGRAM.search(block.text):
            self._lost["a program that can't be set apart here; its lines are shown without their layout"] = (
                None
            )
            return self._lines(lines_of([block]), display=False)
        return f"```\n{block.text}\n```"

    def _table(self, table: Table) -> str:
        rows = [[self._line(cell, display=False) for cell in row] for row in table.rows]
        rows.insert(1, ["---"] * len(rows[0]))
        return "\n".join("| " + " | ".join(row) + " |" for row in rows)

    def _items(self, items: Items, indent: str) -> Iterator[str]:
        for number, entry in enumerate(items.entries, start=1):
            lead = f"{number}. " if items.ordered else "- "
            inner = indent + " " * len(lead)
            own = [block for block in entry if not isinstance(block, Items)]
            words = self._lines(lines_of(own), display=False) or "…"
            yield indent + lead + words.replace("\n", "\n" + inner)
            for block in entry:
                if isinstance(block, Items):
                    yield from self._items(block, inner)

    # --- lines

    def _lines(self, lines: Iterator[Sequence[Inline]], *, display: bool) -> str:
        written = [self._line(line, display=display) for line in lines]
        return _LINE_END.join(line for line in written if line)

    def _line(self, line: Sequence[Inline], *, display: bool) -> str:
        out = ""
        for index, inline in enumerate(line):
            if isinstance(inline, Formula):
                out += self._formula(inline, display, out)
            elif isinstance(inline, Run):
                if looks_like_dollar_maths(inline.text):
                    self._lost[
                        "single dollars: they are shown as dollars, as in Moodle; \\(…\\) is a formula"
                    ] = None
                out += _styled(inline, out, _first_shown(line[index + 1 :]))
        return escaped_line_start(out.strip())

    def _formula(self, formula: Formula, display: bool, before: str) -> str:
        source = normal_formula(formula.source)
        if source is None:
            typed = " ".join(formula.source.split())
            self._lost[
                f"a formula that can't be typeset here; it is shown as typed: {clean_line(typed, 80)}"
            ] = None
            return _styled(Run(typed, code=True), before, "")
        return f"$${source}$$" if formula.display and display else f"${source}$"


def _split(content: Sequence[Inline]) -> Iterator[list[Inline]]:
    line: list[Inline] = []
    for inline in content:
        if isinstance(inline, Break):
            yield line
            line = []
        else:
            line.append(inline)
    yield line


def _first_shown(following: Sequence[Inline]) -> str:
    """Return the character that is shown next, a letter for a formula, nothing at the end of a line."""
    for inline in following:
        if isinstance(inline, Formula):
            return "x"
        if isinstance(inline, Run) and inline.text:
            return inline.text[0]
    return ""


def _styled(run: Run, before: str, after: str) -> str:
    """Return a run with the marks of its style, where Markdown would read them as such."""
    core = run.text.strip(" ")
    if not core:
        return run.text
    lead = run.text[: len(run.text) - len(run.text.lstrip(" "))]
    trail = run.text[len(run.text.rstrip(" ")) :]
    if run.code and not _NOT_IN_CODE.search(core) and not (before + lead).endswith("`"):
        return f"{lead}`{core}`{trail}"
    shown = escaped(core)
    mark = "*" * (2 * run.bold + run.italic)
    left, right = (before + lead)[-1:], (trail + after)[:1]
    if mark and left != "*" and _opens(left, shown) and _opens(right, shown[::-1]):
        shown = f"{mark}{shown}{mark}"
    return lead + shown + trail


def _opens(outside: str, inside: str) -> bool:
    """Tell whether a mark of emphasis between these two is one (seen from the outside)."""
    return not _is_punctuation(inside[0]) or not outside or outside.isspace() or _is_punctuation(outside)


def _is_punctuation(character: str) -> bool:
    return unicodedata.category(character)[0] in "PS"
