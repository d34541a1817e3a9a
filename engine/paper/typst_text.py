"""Prose as Typst source.

What a student reads comes from :func:`engine.prose.prose_tree.prose_tree`, for variants of any age. Every
text goes into a string of Typst's, so that nothing in it is markup; structure is written by calls.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from engine.model import RenderedText
from engine.paper.block_heights import fits_together
from engine.prose.maths import MathsError
from engine.prose.maths.typst import typst_maths
from engine.prose.prose_tree import (
    ProseBlock,
    ProseBreak,
    ProseCode,
    ProseEmphasis,
    ProseFormula,
    ProseList,
    ProseListing,
    ProseParagraph,
    ProsePicture,
    ProseQuote,
    ProseRun,
    ProseTable,
    ProseText,
    prose_tree,
)
from engine.text.words import typst_string


@lru_cache(maxsize=4096)
def typst_text(text: RenderedText) -> str:
    """Return a text as a piece of Typst's markup.

    Parameters
    ----------
    text : RenderedText
        As a variant keeps it.
    """
    return typst_blocks(prose_tree(text))


def typst_plain(text: str) -> str:
    """Return a text without structure, such as a name, as a piece of Typst's markup."""
    return f"#{typst_string(text)}"


def typst_flag(value: bool) -> str:
    """Return a truth value as Typst writes it."""
    return "true" if value else "false"


def typst_option(letter: str, text: RenderedText, *, is_right: bool = False, large: bool = False) -> str:
    """Return an option, a card or the left side of a pair, with its letter or number; ticked in a key."""
    together = typst_flag(fits_together((), (text,), 0.0, large=large))
    mark = ", mark: [✓]" if is_right else ""
    return f"#option({typst_string(letter)}, {together}, [{typst_text(text)}]{mark})"


def typst_blocks(blocks: Iterable[ProseBlock]) -> str:
    """Return blocks of a text as Typst's markup, an empty line between two."""
    return "\n\n".join(_block(block) for block in blocks)


def _block(block: ProseBlock) -> str:
    match block:
        case ProseParagraph(runs, heading):
            written = _runs(runs)
            return f"#strong[{written}]" if heading else written
        case ProseList(entries, start):
            items = ", ".join(f"[{typst_blocks(entry)}]" for entry in entries)
            # A trailing comma: one entry alone would be no list.
            return f"#list({items},)" if start is None else f"#enum(start: {start}, {items},)"
        case ProseTable(head, rows):
            return _table(head, rows)
        case ProseListing(text):
            return f"#raw({typst_string(text)}, block: true)"
        case ProseQuote(inner):
            return f"#quote(block: true)[{typst_blocks(inner)}]"
        case ProsePicture():
            return _picture(block)


def _table(head: tuple[tuple[ProseRun, ...], ...], rows: Iterable[tuple[tuple[ProseRun, ...], ...]]) -> str:
    columns = len(head)
    cells = ", ".join(f"[{_runs(cell)}]" for row in rows for cell in row)
    header = ", ".join(f"[{_runs(cell)}]" for cell in head)
    return f"#prose-table({columns}, ({header},), ({cells},))"


def _picture(picture: ProsePicture) -> str:
    # On paper its ink is black.
    svg = picture.svg.replace("currentColor", "#000")
    alt, caption = typst_string(picture.alt_text), typst_string(picture.caption)
    return f"#prose-picture({typst_string(svg)}, {alt}, {caption})"


def _runs(runs: Iterable[ProseRun]) -> str:
    written = []
    before: ProseRun | None = None
    for run in runs:
        # A blank after a formula on a line of its own would indent the line that follows.
        if isinstance(run, ProseText) and isinstance(before, ProseFormula) and before.display:
            run = ProseText(run.text.lstrip())
        written.append(_run(run))
        before = run
    return "".join(written)


def _run(run: ProseRun) -> str:
    match run:
        case ProseText(text):
            return _words(text)
        case ProseCode(text):
            return f"#raw({typst_string(text)});"
        case ProseBreak():
            return "#linebreak();"
        case ProseEmphasis(inner, strong):
            return f"#{'strong' if strong else 'emph'}[{_runs(inner)}];"
        case ProseFormula(tex, _, display):
            return _formula(tex, display)


def _words(text: str) -> str:
    # A string swallows no blanks at its ends, and ends where it ends: the semicolon keeps a bracket or a dot
    # that follows from being taken for a call or a field.
    return f"#{typst_string(text)};"


def _formula(tex: str, display: bool) -> str:
    try:
        written = typst_maths(tex, display)
    except MathsError:
        # A store may hold what an earlier version could set: its source is better than no exam.
        written = f"#raw({typst_string(tex)})"
    return written + ";"
