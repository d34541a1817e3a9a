"""Texts of other systems into ours: foreign markup → blocks → Markdown with ``$`` formulas."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from engine.prose.maths import MathsError, maths_forms

__all__ = [
    "HELD",
    "Block",
    "BlockBuilder",
    "CodeBlock",
    "FormulaRun",
    "Inline",
    "LineBreak",
    "ListBlock",
    "ParagraphBlock",
    "QuoteBlock",
    "TableBlock",
    "TextRun",
    "escaped",
    "escaped_line_start",
    "finished",
    "lines_of",
    "looks_like_dollar_maths",
    "normal_formula",
    "plain_characters",
    "split_formulas",
]


# ----------------------------------------------------------------------------------------------------
# What a text consists of, whatever markup it was written in.


@dataclass(frozen=True, slots=True)
class TextRun:
    """Characters of one style, as they are to be seen."""

    text: str
    bold: bool = False
    italic: bool = False
    code: bool = False


@dataclass(frozen=True, slots=True)
class FormulaRun:
    """A formula in LaTeX, without its delimiters."""

    source: str
    display: bool = False


@dataclass(frozen=True, slots=True)
class LineBreak:
    """The end of a line inside a paragraph."""


Inline = TextRun | FormulaRun | LineBreak


@dataclass(frozen=True, slots=True)
class ParagraphBlock:
    """Characters and formulas that belong together."""

    content: tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """Lines whose layout matters."""

    text: str


@dataclass(frozen=True, slots=True)
class QuoteBlock:
    """Blocks that are set off."""

    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class ListBlock:
    """A list; each entry holds blocks."""

    entries: tuple[tuple[Block, ...], ...]
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class TableBlock:
    """Rows of cells, all equally many."""

    rows: tuple[tuple[tuple[Inline, ...], ...], ...]


Block = ParagraphBlock | CodeBlock | QuoteBlock | ListBlock | TableBlock


def lines_of(blocks: Sequence[Block], lead: str = "") -> Iterator[tuple[Inline, ...]]:
    """Yield the content of blocks line by line, for places that hold one run of words."""
    for block in blocks:
        if isinstance(block, ParagraphBlock):
            yield from _led(block.content, lead)
        elif isinstance(block, CodeBlock):
            for line in block.text.split("\n"):
                yield (TextRun(line.strip(), code=True),)
        elif isinstance(block, QuoteBlock):
            yield from lines_of(block.blocks, lead)
        elif isinstance(block, TableBlock):
            for row in block.rows:
                cells = [(*cell, TextRun("  ")) for cell in row]
                yield tuple(inline for cell in cells for inline in cell)
        else:
            for number, entry in enumerate(block.entries, start=1):
                yield from lines_of(entry, f"{number}. " if block.ordered else "– ")


def _led(content: tuple[Inline, ...], lead: str) -> Iterator[tuple[Inline, ...]]:
    """Yield a paragraph's lines, the first one led by the mark of its list."""
    line: list[Inline] = [TextRun(lead)] if lead else []
    for inline in content:
        if isinstance(inline, LineBreak):
            yield tuple(line)
            line = []
        else:
            line.append(inline)
    yield tuple(line)


# ----------------------------------------------------------------------------------------------------
# Formulas in foreign texts: ``$$…$$``, ``\(…\)`` and ``\[…\]``, into the LaTeX that we can typeset.
#
# A single dollar is a dollar, as in Moodle.

_CLOSING = {"$$": "$$", "\\(": "\\)", "\\[": "\\]"}
_OPENING = re.compile(r"\$\$|\\[(\[]")
_DOLLARS = re.compile(r"(?<![\\$])\$(?=[^\s$])[^$\n]{0,120}?[\\^_][^$\n]{0,120}?(?<!\s)\$(?!\$)")

_SYNONYMS = {
    "dfrac": "\\frac", "tfrac": "\\frac", "cfrac": "\\frac", "lt": "<", "gt": ">", "bm": "\\boldsymbol",
    "textrm": "\\text", "mbox": "\\text", "textnormal": "\\text", "textit": "\\text", "hbox": "\\text",
    "displaystyle": "", "textstyle": "", "scriptstyle": "", "limits": "", "nolimits": "", "nonumber": "",
    "lbrack": "[", "rbrack": "]", "dotsc": "\\ldots", "dotsb": "\\cdots", "colon": ":", "thinspace": "\\,",
    "big": "", "Big": "", "bigg": "", "Bigg": "", "bigl": "", "bigr": "", "Bigl": "", "Bigr": "",
    "biggl": "", "biggr": "", "middle": "", "intercal": "\\top",
}  # fmt: skip
_MACRO = re.compile(r"\\([A-Za-z]+)\*?(?![A-Za-z])")
_ENVIRONMENTS = {"align": "aligned", "gather": "aligned", "equation": "aligned", "smallmatrix": "matrix"}
_ENVIRONMENT = re.compile(r"\\(begin|end)\s*\{([A-Za-z]+)\*?\}")
_ARRAY = re.compile(r"\\begin\s*\{array\}\s*\{[lcr| ]*\}")
_FRACTION = re.compile(r"\\frac\s*(\d)\s*(\d)(?!\d)")
_SCRIPT = re.compile(r"([_^])\s*(\d)(?=\d)")
_TEMPLATE = re.compile(r"\{(?=[{%#])")


def split_formulas(text: str) -> Iterator[str | FormulaRun]:
    """Yield the stretches of a text and its formulas, in order; linear in its length."""
    at = start = 0
    hopeless: set[str] = set()
    while (opening := _OPENING.search(text, at)) is not None:
        closing = _CLOSING[opening[0]]
        end = -1 if closing in hopeless else text.find(closing, opening.end())
        if end < 0 or not text[opening.end() : end].strip():
            if end < 0:
                hopeless.add(closing)
            at = opening.end()
            continue
        if start < opening.start():
            yield text[start : opening.start()]
        yield FormulaRun(text[opening.end() : end], display=opening[0] != "\\(")
        at = start = end + len(closing)
    if start < len(text):
        yield text[start:]


def looks_like_dollar_maths(text: str) -> bool:
    """Tell whether single dollars seem to be meant as the ends of a formula."""
    return _DOLLARS.search(text) is not None


def normal_formula(source: str) -> str | None:
    """Return a formula as our subset of LaTeX has it, or None where it can't be typeset.

    Other names of what we know are replaced; nothing else changes.
    """
    formula = " ".join(source.split())
    formula = _ARRAY.sub(r"\\begin{matrix}", formula).replace("\\end{array}", "\\end{matrix}")
    formula = _ENVIRONMENT.sub(_environment, formula)
    formula = _MACRO.sub(_macro, formula)
    formula = _FRACTION.sub(r"\\frac{\1}{\2}", formula)
    formula = _SCRIPT.sub(r"\1{\2}", formula)
    formula = _TEMPLATE.sub("{ ", formula).strip()
    try:
        maths_forms(formula, False)
    except MathsError:
        return None
    return None if not formula or re.search(r"(?<!\\)\$", formula) else formula


def _macro(found: re.Match[str]) -> str:
    other = _SYNONYMS.get(found[1])
    if other is None:
        return found[0].rstrip("*") if found[1] == "operatorname" else found[0]
    follows = found.string[found.end() : found.end() + 1]
    return f"{other} " if other[-1:].isalpha() and follows.isalpha() else other


def _environment(found: re.Match[str]) -> str:
    return f"\\{found[1]}{{{_ENVIRONMENTS.get(found[2], found[2])}}}"


# ----------------------------------------------------------------------------------------------------
# Foreign characters: what a text of ours may hold, and how each is written so that it shows as itself.

_INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Cn"}
_KEPT = {"\u200d"}  # joins emoji and the letters of some scripts


def plain_characters(text: str) -> tuple[str, bool]:
    """Return text without characters that hide, turn or steer, and whether there were any but line ends.

    Every kind of blank becomes a blank, every kind of line end a line end.
    """
    kept: list[str] = []
    lost = False
    for character in text.replace("\r\n", "\n").replace("\r", "\n"):
        if character == "\n" or character in _KEPT:
            kept.append(character)
        elif character in "\u2028\u2029\x85\x0b\x0c":
            kept.append("\n")
        elif character.isspace():
            kept.append(" ")
        elif unicodedata.category(character) in _INVISIBLE:
            lost = lost or character not in "\u00ad\u200b\u200c\ufeff\u2060"  # hyphenation and the like
        else:
            kept.append(character)
    return "".join(kept), lost


_ESCAPES = {
    "\\": "&#92;",
    "`": "&#96;",
    "$": "\\$",
    "*": "\\*",
    "_": "\\_",
    "|": "\\|",
    "&": "&amp;",
    "{": "&#123;",
}
_SPECIAL = re.compile(
    r"[\\`$*|]"
    r"|(?<![^\W_])_|_(?![^\W_])"  # inside a word it is only itself
    r"|(?<=\{)[{%#]"  # would begin a template
    r"|&(?=#|[A-Za-z]|$)"  # would be a character reference, perhaps with what follows this text
    r"|\{$"
)
_LINE_START = re.compile(r"[-+](?=[\s-]|$)|[>#~=]|:(?=-)")
_NUMBERED = re.compile(r"(\d{1,9})([.)])(?=\s|$)")


def escaped(text: str) -> str:
    r"""Return one line as Markdown of ours that shows these very characters.

    A backslash becomes a character reference, because ``\alpha`` outside a formula is an error here.
    """
    return _SPECIAL.sub(lambda found: _ESCAPES.get(found[0]) or "\\" + found[0], text)


def escaped_line_start(text: str) -> str:
    """Return an escaped line that can't begin a list, a heading, a quotation, a fence or a table."""
    if _LINE_START.match(text):
        return "\\" + text
    numbered = _NUMBERED.match(text)
    return f"{numbered[1]}\\{text[numbered.end(1) :]}" if numbered else text


# ----------------------------------------------------------------------------------------------------
# Builds blocks from what a reader meets in order, however badly it is nested.

MAX_DEPTH = 12
HELD = re.compile("\ue000([0-9]{1,6})\ue001")
"""Stands for a formula that was taken out before the markup was read."""

Cell = tuple[Inline, ...]


@dataclass
class _Open:
    """Something that is open: the text itself, a quotation, a list or its entry, a table or its cell."""

    kind: str
    blocks: list[Block] = field(default_factory=list)
    ordered: bool = False
    entries: list[tuple[Block, ...]] = field(default_factory=list)
    rows: list[list[Cell]] = field(default_factory=list)


class BlockBuilder:
    """Collects inline content; paragraphs and larger blocks are opened and closed by name.

    Parameters
    ----------
    held : sequence of FormulaRun
        What :data:`HELD` stands for.
    """

    def __init__(self, held: Sequence[FormulaRun] = ()) -> None:
        self._held = held
        self._stack = [_Open("text")]
        self._content: list[TextRun | FormulaRun] = []
        self._apart = 0  # what stands before this position isn't joined with what follows

    # --- inline content

    def add(self, inline: TextRun | FormulaRun) -> None:
        r"""Add characters (``\n`` is a line end) or a formula to the paragraph."""
        last = self._content[-1] if len(self._content) > self._apart else None
        both = _together(last, inline)
        if both is None:
            self._content.append(inline)
        else:
            self._content[-1] = both

    @property
    def ends_with_break(self) -> bool:
        """Whether the last thing added is a line end."""
        last = self._content[-1] if self._content else None
        return isinstance(last, TextRun) and last.text.endswith("\n")

    def mark(self) -> int:
        """Return a mark to :meth:`take` from."""
        self._apart = len(self._content)
        return self._apart

    def take(self, mark: int) -> list[TextRun | FormulaRun]:
        """Take out what was added since a mark."""
        taken, self._content, self._apart = self._content[mark:], self._content[:mark], mark
        return taken

    # --- blocks

    def paragraph(self) -> None:
        """End the paragraph."""
        content, self._content, self._apart = self._content, [], 0
        paragraphs = finished(content, self._held)
        if paragraphs:
            self._blocks().extend(paragraphs)

    def program(self, text: str) -> None:
        """Add lines whose layout matters."""
        self.paragraph()
        if text.strip():
            self._blocks().append(CodeBlock(text.strip("\n").rstrip()))

    def open(self, kind: str, *, ordered: bool = False) -> bool:
        """Open a quotation, list, entry, table, row or cell; False where nesting is too deep."""
        self.paragraph()
        if kind == "entry":
            self._close_down_to("list", but=True)
            if self._stack[-1].kind != "list":
                self._push(_Open("list"))
        elif kind in ("row", "cell"):
            self._close_down_to("table", but=True)
            if self._stack[-1].kind != "table":
                return False
            table = self._stack[-1]
            if kind == "row" or not table.rows:
                table.rows.append([])
            if kind == "row":
                return True
        return self._push(_Open(kind, ordered=ordered))

    def close(self, kind: str) -> None:
        """Close the innermost block of a kind and what is open inside it; nothing if none is."""
        self.paragraph()
        limit = {"entry": "list", "cell": "table"}.get(kind)
        for level in range(len(self._stack) - 1, 0, -1):
            if self._stack[level].kind == kind:
                while len(self._stack) > level:
                    self._pop()
                return
            if self._stack[level].kind == limit:
                return

    def blocks(self) -> tuple[Block, ...]:
        """End everything and return what there is."""
        self.paragraph()
        while len(self._stack) > 1:
            self._pop()
        return tuple(self._stack[0].blocks)

    def _blocks(self) -> list[Block]:
        """Return where the next block belongs."""
        top = self._stack[-1]
        if top.kind == "list":
            self._push(_Open("entry"))
            return self._stack[-1].blocks
        return self._outside_tables()

    def _outside_tables(self) -> list[Block]:
        """Return where blocks go: what stands between the cells of a table goes before it."""
        return next(opened.blocks for opened in reversed(self._stack) if opened.kind != "table")

    def _push(self, opened: _Open) -> bool:
        if len(self._stack) > MAX_DEPTH:
            return False
        if opened.kind != "entry" and self._stack[-1].kind == "list":
            self._stack.append(_Open("entry"))
        self._stack.append(opened)
        return True

    def _close_down_to(self, kind: str, *, but: bool) -> None:
        """Close what is open inside the innermost block of a kind, if there is one."""
        levels = [level for level, opened in enumerate(self._stack) if opened.kind == kind]
        while levels and len(self._stack) > levels[-1] + but:
            self._pop()

    def _pop(self) -> None:
        done = self._stack.pop()
        outer = self._stack[-1]
        blocks = self._outside_tables()
        if done.kind == "quote" and done.blocks:
            blocks.append(QuoteBlock(tuple(done.blocks)))
        elif done.kind == "entry" and done.blocks:
            outer.entries.append(tuple(done.blocks))
        elif done.kind == "list" and done.entries:
            blocks.append(ListBlock(tuple(done.entries), done.ordered))
        elif done.kind == "cell":
            outer.rows[-1].append(tuple(_joined(lines_of(done.blocks))))
        elif done.kind == "table":
            blocks.extend(_table(done.rows))


def _together(first: TextRun | FormulaRun | None, second: TextRun | FormulaRun) -> TextRun | None:
    """Return two runs of one style as one, None for anything else."""
    if (
        not isinstance(first, TextRun)
        or not isinstance(second, TextRun)
        or replace(first, text=second.text) != second
    ):
        return None
    return replace(first, text=first.text + second.text)


def _joined(lines: Iterable[Cell]) -> Iterator[Inline]:
    for number, line in enumerate(lines):
        if number:
            yield TextRun(" ")
        yield from line


def _table(rows: Sequence[Sequence[Cell]]) -> Iterator[Block]:
    width = max((len(row) for row in rows), default=0)
    filled = [(*row, *[()] * (width - len(row))) for row in rows if row]
    if not any(cell for row in filled for cell in row):
        return
    if width == 1 or len(filled) == 1:  # used for layout
        yield from (ParagraphBlock(cell) for row in filled for cell in row if cell)
    else:
        yield TableBlock(tuple(filled))


# --- a paragraph that has ended ---------------------------------------------------------


def finished(
    content: Sequence[TextRun | FormulaRun], held: Sequence[FormulaRun] = ()
) -> list[ParagraphBlock]:
    """Return the paragraphs of some content: formulas found, blanks joined, empty lines as borders."""
    pieces: list[Inline] = []
    for inline in content:
        if isinstance(inline, FormulaRun):
            pieces.append(inline)
            continue
        for part in [inline.text] if inline.code else _with_held(inline.text, held):
            pieces += [part] if isinstance(part, FormulaRun) else _lines(part, inline)
    return [ParagraphBlock(tuple(line)) for line in _paragraphs(pieces) if line]


def _with_held(text: str, held: Sequence[FormulaRun]) -> Iterator[str | FormulaRun]:
    at = 0
    for found in HELD.finditer(text):
        yield from split_formulas(text[at : found.start()])
        if int(found[1]) < len(held):
            yield held[int(found[1])]
        at = found.end()
    yield from split_formulas(text[at:])


def _lines(text: str, style: TextRun) -> Iterator[Inline]:
    text = text.replace("\ue000", "").replace("\ue001", "")
    for number, line in enumerate(text.split("\n")):
        if number:
            yield LineBreak()
        if line:
            yield replace(style, text=re.sub(" +", " ", line))


def _paragraphs(pieces: Sequence[Inline]) -> Iterator[list[Inline]]:
    """Yield content between empty lines, without blanks at the ends of lines."""
    lines: list[list[Inline]] = [[]]
    for piece in pieces:
        if isinstance(piece, LineBreak):
            lines.append([])
        else:
            lines[-1].append(piece)
    paragraph: list[Inline] = []
    for line in [_trimmed(line) for line in lines]:
        if not line:
            yield paragraph
            paragraph = []
        else:
            paragraph += [LineBreak(), *line] if paragraph else line
    yield paragraph


def _trimmed(line: list[Inline]) -> list[Inline]:
    """Return a line whose runs have no blanks at its ends and no two blanks where they meet."""
    kept: list[Inline] = []
    for piece in line:
        last = kept[-1] if kept else None
        after_blank = last is None or (isinstance(last, TextRun) and last.text.endswith(" "))
        if isinstance(piece, TextRun) and after_blank:
            piece = replace(piece, text=piece.text.lstrip(" "))
        if not isinstance(piece, TextRun) or piece.text:
            kept.append(piece)
    while kept and isinstance(end := kept[-1], TextRun):
        text = end.text.rstrip(" ")
        if text:
            kept[-1] = replace(end, text=text)
            break
        kept.pop()
    return kept
