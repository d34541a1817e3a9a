"""Texts of other systems as Markdown of ours: every character shows as itself, nothing becomes a template.

``convert`` reads a text in its own form (HTML, Markdown, plain) into blocks and writes them; what can't be
written as it was meant is named, so that an author can look at it. For example ``<b>a*b</b> \\(x\\)`` becomes
``**a\\*b** $x$``.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from engine.authoring.importing.foreign_question import MarkedText, TextForm
from engine.authoring.importing.from_html import read_html
from engine.authoring.importing.text_blocks import (
    Block,
    CodeBlock,
    FormulaRun,
    Inline,
    LineBreak,
    ListBlock,
    ParagraphBlock,
    QuoteBlock,
    TableBlock,
    TextRun,
    TextTooLong,
    escaped,
    escaped_line_start,
    lines_of,
    looks_like_dollar_maths,
    normal_formula,
    paragraphs_of,
    plain_characters,
    split_formulas,
)
from engine.text.words import clean_line, count_noun

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

# a template is read before Markdown, so that not even code may hold one
_NOT_IN_CODE = re.compile(r"`|\n|\{[{%#]")
_NOT_IN_PROGRAM = re.compile(r"```|\{[{%#]")
_LINE_END = "\\\n"


class MarkdownWriter:
    """Writes blocks; ``lost`` names what can't be written as it was meant."""

    def __init__(self) -> None:
        self.lost: list[str] = []

    def text(self, blocks: Sequence[Block]) -> str:
        """Return blocks with empty lines between them."""
        return "\n\n".join(filter(None, (self._block(block) for block in blocks)))

    def line(self, blocks: Sequence[Block]) -> str:
        """Return the blocks' content as one run of words (an option, a card, feedback)."""
        return self._lines(lines_of(blocks), display=False)

    def _block(self, block: Block) -> str:
        if isinstance(block, ParagraphBlock):
            return self._lines(_split(block.content), display=True)
        if isinstance(block, CodeBlock):
            return self._program(block)
        if isinstance(block, QuoteBlock):
            return "\n".join(f"> {line}".rstrip() for line in self.text(block.blocks).split("\n"))
        if isinstance(block, TableBlock):
            return self._table(block)
        return "\n".join(self._items(block, ""))

    def _program(self, block: CodeBlock) -> str:
        if _NOT_IN_PROGRAM.search(block.text):
            self.lost.append(
                "a program that can't be set apart here; its lines are shown without their layout"
            )
            return self._lines(lines_of([block]), display=False)
        return f"```\n{block.text}\n```"

    def _table(self, table: TableBlock) -> str:
        rows = [[self._line(cell, display=False) for cell in row] for row in table.rows]
        rows.insert(1, ["---"] * len(rows[0]))
        return "\n".join("| " + " | ".join(row) + " |" for row in rows)

    def _items(self, items: ListBlock, indent: str) -> Iterator[str]:
        for number, entry in enumerate(items.entries, start=1):
            lead = f"{number}. " if items.ordered else "- "
            inner = indent + " " * len(lead)
            text = [block for block in entry if not isinstance(block, ListBlock)]
            words = self._lines(lines_of(text), display=False) or "…"  # an entry can't be empty
            yield indent + lead + words.replace("\n", "\n" + inner)
            for block in entry:
                if isinstance(block, ListBlock):
                    yield from self._items(block, inner)

    def _lines(self, lines: Iterator[Sequence[Inline]], *, display: bool) -> str:
        written = [self._line(line, display=display) for line in lines]
        return _LINE_END.join(line for line in written if line)

    def _line(self, line: Sequence[Inline], *, display: bool) -> str:
        out = ""
        for index, inline in enumerate(line):
            if isinstance(inline, FormulaRun):
                out += self._formula(inline, display, out)
            elif isinstance(inline, TextRun):
                if looks_like_dollar_maths(inline.text):
                    self.lost.append(
                        "single dollars: they are shown as dollars, as in Moodle; \\(…\\) is a formula"
                    )
                out += _styled(inline, out, _first_character(line[index + 1 :]))
        return escaped_line_start(out.strip())

    def _formula(self, formula: FormulaRun, display: bool, before: str) -> str:
        source = normal_formula(formula.source)
        if source is None:
            as_typed = " ".join(formula.source.split())
            self.lost.append(
                f"a formula that can't be typeset here; it is shown as typed: {clean_line(as_typed, 80)}"
            )
            return _styled(TextRun(as_typed, code=True), before, "")
        return f"$${source}$$" if formula.display and display else f"${source}$"


def _split(content: Sequence[Inline]) -> Iterator[list[Inline]]:
    line: list[Inline] = []
    for inline in content:
        if isinstance(inline, LineBreak):
            yield line
            line = []
        else:
            line.append(inline)
    yield line


def _first_character(following: Sequence[Inline]) -> str:
    """Return the character that is shown next, a letter for a formula, nothing at the end of a line."""
    for inline in following:
        if isinstance(inline, FormulaRun):
            return "x"
        if isinstance(inline, TextRun) and inline.text:
            return inline.text[0]
    return ""


def _styled(run: TextRun, before: str, after: str) -> str:
    core = run.text.strip(" ")
    if not core:
        return run.text
    lead = run.text[: len(run.text) - len(run.text.lstrip(" "))]
    trail = run.text[len(run.text.rstrip(" ")) :]
    if run.code and not _NOT_IN_CODE.search(core) and not (before + lead).endswith("`"):
        return f"{lead}`{core}`{trail}"
    written = escaped(core)
    mark = "*" * (2 * run.bold + run.italic)
    before_mark, after_mark = (before + lead)[-1:], (trail + after)[:1]
    if mark and before_mark != "*" and _opens(before_mark, written) and _opens(after_mark, written[::-1]):
        written = f"{mark}{written}{mark}"
    return lead + written + trail


def _opens(outside: str, inside: str) -> bool:
    """Return whether a mark of emphasis between these two is one (seen from the outside)."""
    return not _is_punctuation(inside[0]) or not outside or outside.isspace() or _is_punctuation(outside)


def _is_punctuation(character: str) -> bool:
    return unicodedata.category(character)[0] in "PS"


MAX_PROSE = 20_000
"""The longest text that a problem file may hold."""
_MAX_SOURCE = 200_000  # ten times what may come out: word processors write that much markup around words
_MAX_MARKDOWN = 50_000  # the reader of Markdown takes quadratic time on nested brackets
_MAX_FORMULAS = 1000
_PICTURE_DATA = re.compile(r"data:[\w/+.-]{0,60};base64,[A-Za-z0-9+/=]*")
_CODE = re.compile(r"(```.*?```|`[^`\n]*`)", re.DOTALL)
_SECOND_BACKSLASH = re.compile(r"\\(?=\\[()\[\]])")


@dataclass(frozen=True, slots=True)
class ConvertedText:
    """A text of ours.

    Parameters
    ----------
    prose : str
        Markdown with ``$`` formulas; may be empty.
    words : str
        The same without markup, formulas as LaTeX: to look for numbers and names in.
    lost : tuple of str
        What was left out or is shown differently.
    """

    prose: str
    words: str
    lost: tuple[str, ...] = ()


BlocksAndLosses = tuple[Sequence[Block], list[str]]


def convert(markup: MarkedText, *, inline: bool = False) -> ConvertedText:
    """Return a foreign text as ours.

    Parameters
    ----------
    markup : MarkedText
    inline : bool
        One run of words without paragraphs, for options and feedback.

    Raises
    ------
    TextTooLong
    """
    blocks, lost = read_blocks(markup)
    return written_blocks(blocks, lost, inline=inline)


def read_blocks(markup: MarkedText) -> BlocksAndLosses:
    """Return the blocks of a foreign text, and what has no counterpart among them.

    Raises
    ------
    TextTooLong
    """
    text = _PICTURE_DATA.sub("data:", markup.text)  # megabytes that would count as length
    if len(text) > _MAX_SOURCE:
        raise TextTooLong(f"a text has over {_MAX_SOURCE:,} characters")
    return _READERS[markup.form](text)


def written_blocks(
    blocks: Sequence[Block], lost: Sequence[str] = (), *, inline: bool = False
) -> ConvertedText:
    """Return blocks as a text of ours.

    Raises
    ------
    TextTooLong
    """
    writer = MarkdownWriter()
    prose = writer.line(blocks) if inline else writer.text(blocks)
    if len(prose) > MAX_PROSE:
        raise TextTooLong(
            f"a text has {count_noun(len(prose), 'character', ',')}; at most {MAX_PROSE:,} are possible"
        )
    if prose.count("$") > 2 * _MAX_FORMULAS:
        raise TextTooLong(f"a text has over {_MAX_FORMULAS} formulas")
    words = "\n".join("".join(map(_word, line)) for line in lines_of(blocks)).strip()
    return ConvertedText(prose, words, tuple(dict.fromkeys([*lost, *writer.lost])))


def _plain(text: str) -> BlocksAndLosses:
    text, has_invisible = plain_characters(text)
    return paragraphs_of([TextRun(text)]), ["invisible characters"] if has_invisible else []


def _markdown(text: str) -> BlocksAndLosses:
    """Read Markdown by way of HTML; it would eat the backslashes of formulas, so these wait outside."""
    if len(text) > _MAX_MARKDOWN:
        raise TextTooLong(f"a text in Markdown has over {_MAX_MARKDOWN:,} characters")
    text, has_invisible = plain_characters(text)
    formulas: list[FormulaRun] = []
    parts: list[str] = []
    for index, part in enumerate(_CODE.split(text)):
        if index % 2:
            parts.append(part)
            continue
        for piece in split_formulas(_SECOND_BACKSLASH.sub("", part)):
            if isinstance(piece, FormulaRun):
                formulas.append(piece)
                parts.append(f"\ue000{len(formulas) - 1}\ue001")
            else:
                parts.append(piece)
    blocks, lost = read_html(_markdown_reader().render("".join(parts)), formulas=formulas)
    return blocks, ["invisible characters", *lost] if has_invisible else lost


@lru_cache(maxsize=1)
def _markdown_reader() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


_READERS: dict[TextForm, Callable[[str], BlocksAndLosses]] = {
    TextForm.HTML: read_html,
    TextForm.AUTO: partial(read_html, line_ends=True),
    TextForm.PLAIN: _plain,
    TextForm.MARKDOWN: _markdown,
}


def _word(inline: Inline) -> str:
    if isinstance(inline, FormulaRun):
        return f" {inline.source} "
    return "\n" if isinstance(inline, LineBreak) else inline.text
