"""What a text consists of, whatever markup it was written in, and which characters and formulas it keeps.

Foreign markup becomes blocks (:mod:`~engine.authoring.importing.from_html`), and blocks become Markdown with
``$`` formulas (:mod:`~engine.authoring.importing.to_markdown`): so no text of strangers is ever copied as
markup, and none can become a template or a picture block of ours.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from engine.prose.maths import MathsError, maths_forms


class TextTooLong(ValueError):  # noqa: N818 - a limit, not a mistake
    """A text is longer than a problem file may hold, or has more markup than can be read."""


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
    line: list[Inline] = [TextRun(lead)] if lead else []
    for inline in content:
        if isinstance(inline, LineBreak):
            yield tuple(line)
            line = []
        else:
            line.append(inline)
    yield tuple(line)


# A single dollar is a dollar, as in Moodle.
_CLOSING = {"$$": "$$", "\\(": "\\)", "\\[": "\\]"}
_OPENING = re.compile(r"\$\$|\\[(\[]")
_DOLLARS = re.compile(r"(?<![\\$])\$(?=[^\s$])[^$\n]{0,120}?[\\^_][^$\n]{0,120}?(?<!\s)\$(?!\$)")

# names that our subset of LaTeX lacks, with the name it has; sizes are left to the page
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
    position = start = 0
    absent: set[str] = set()  # delimiters that don't occur any more: each is searched to the end only once
    while (opening := _OPENING.search(text, position)) is not None:
        closing = _CLOSING[opening[0]]
        end = -1 if closing in absent else text.find(closing, opening.end())
        if end < 0 or not text[opening.end() : end].strip():
            if end < 0:
                absent.add(closing)
            position = opening.end()
            continue
        if start < opening.start():
            yield text[start : opening.start()]
        yield FormulaRun(text[opening.end() : end], display=opening[0] != "\\(")
        position = start = end + len(closing)
    if start < len(text):
        yield text[start:]


def looks_like_dollar_maths(text: str) -> bool:
    """Return whether single dollars seem to be meant as the ends of a formula."""
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


def _macro(match: re.Match[str]) -> str:
    other = _SYNONYMS.get(match[1])
    if other is None:
        return match[0].rstrip("*") if match[1] == "operatorname" else match[0]
    follows = match.string[match.end() : match.end() + 1]
    return f"{other} " if other[-1:].isalpha() and follows.isalpha() else other


def _environment(match: re.Match[str]) -> str:
    return f"\\{match[1]}{{{_ENVIRONMENTS.get(match[2], match[2])}}}"


# categories of Unicode that show nothing: controls, formats, surrogates, private use, unassigned
_INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Cn"}
_JOINER = "\u200d"  # joins emoji and the letters of some scripts
# hyphenation, zero-width blanks and byte order marks: they say nothing, so nobody need hear of their loss
_HARMLESS = "\u00ad\u200b\u200c\ufeff\u2060"


def plain_characters(text: str) -> tuple[str, bool]:
    """Return text without characters that hide, turn or steer, and whether there were any but line ends.

    Every kind of blank becomes a blank, every kind of line end a line end.
    """
    visible: list[str] = []
    has_invisible = False
    for character in text.replace("\r\n", "\n").replace("\r", "\n"):
        if character in ("\n", _JOINER):
            visible.append(character)
        elif character in "\u2028\u2029\x85\x0b\x0c":
            visible.append("\n")
        elif character.isspace():
            visible.append(" ")
        elif unicodedata.category(character) in _INVISIBLE:
            has_invisible = has_invisible or character not in _HARMLESS
        else:
            visible.append(character)
    return "".join(visible), has_invisible


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
    return _SPECIAL.sub(lambda match: _ESCAPES.get(match[0]) or "\\" + match[0], text)


def escaped_line_start(text: str) -> str:
    """Return an escaped line that can't begin a list, a heading, a quotation, a fence or a table."""
    if _LINE_START.match(text):
        return "\\" + text
    numbered = _NUMBERED.match(text)
    return f"{numbered[1]}\\{text[numbered.end(1) :]}" if numbered else text


PLACEHOLDER = re.compile("\ue000([0-9]{1,6})\ue001")
"""Stands for a formula that was taken out before the markup was read, as Markdown eats backslashes."""


def paragraphs_of(
    content: Sequence[TextRun | FormulaRun], formulas: Sequence[FormulaRun] = ()
) -> list[ParagraphBlock]:
    r"""Return the paragraphs of some content: blanks joined, empty lines as borders, formulas recognised.

    Parameters
    ----------
    content : sequence of TextRun or FormulaRun
        ``\n`` in a text ends a line.
    formulas : sequence of FormulaRun
        What the numbers of :data:`PLACEHOLDER` stand for.
    """
    pieces: list[Inline] = []
    for inline in content:
        if isinstance(inline, FormulaRun):
            pieces.append(inline)
            continue
        for part in [inline.text] if inline.code else _with_formulas(inline.text, formulas):
            pieces += [part] if isinstance(part, FormulaRun) else _lines(part, inline)
    return [ParagraphBlock(tuple(paragraph)) for paragraph in _between_empty_lines(pieces) if paragraph]


def _with_formulas(text: str, formulas: Sequence[FormulaRun]) -> Iterator[str | FormulaRun]:
    end = 0
    for match in PLACEHOLDER.finditer(text):
        yield from split_formulas(text[end : match.start()])
        if int(match[1]) < len(formulas):
            yield formulas[int(match[1])]
        end = match.end()
    yield from split_formulas(text[end:])


def _lines(text: str, style: TextRun) -> Iterator[Inline]:
    text = text.replace("\ue000", "").replace("\ue001", "")
    for number, line in enumerate(text.split("\n")):
        if number:
            yield LineBreak()
        if line:
            yield replace(style, text=re.sub(" +", " ", line))


def _between_empty_lines(pieces: Sequence[Inline]) -> Iterator[list[Inline]]:
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
    pieces: list[Inline] = []
    for piece in line:
        last = pieces[-1] if pieces else None
        after_blank = last is None or (isinstance(last, TextRun) and last.text.endswith(" "))
        if isinstance(piece, TextRun) and after_blank:
            piece = replace(piece, text=piece.text.lstrip(" "))
        if not isinstance(piece, TextRun) or piece.text:
            pieces.append(piece)
    while pieces and isinstance(end := pieces[-1], TextRun):
        text = end.text.rstrip(" ")
        if text:
            pieces[-1] = replace(end, text=text)
            break
        pieces.pop()
    return pieces
