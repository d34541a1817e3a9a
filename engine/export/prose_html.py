"""Texts as the HTML of platforms that take formulas and pictures in a way of their own."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from html import escape

from engine.model import ChoiceOption, RenderedText
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
from engine.text.words import xml_characters

# What MathJax takes for the beginning of a formula. An element in between ends that, and shows nothing.
_FORMULA_START = re.compile(r"\\(?=[(\[])")


def html_text(text: str) -> str:
    r"""Return characters as HTML and XML show them; none of them begins a formula.

    Examples
    --------
    >>> html_text(r"a < \(b\)")
    'a &lt; \\<span></span>(b\\)'
    """
    return _FORMULA_START.sub(r"\\<span></span>", xml_value(text))


def xml_value(text: str) -> str:
    """Return a text as it stands in an element or between the quotes of an attribute.

    Examples
    --------
    >>> xml_value('"a" & b')
    '&quot;a&quot; &amp; b'
    """
    return escape(xml_characters(text)).replace("\n", "&#10;")


def tex_in_delimiters(formula: ProseFormula) -> str:
    r"""Return a formula between ``\( \)`` or ``\[ \]``, for platforms on which MathJax runs."""
    begin, end = (r"\[", r"\]") if formula.display else (r"\(", r"\)")
    return begin + escape(formula.tex, quote=False) + end


def plain_options(options: Sequence[ChoiceOption]) -> dict[str, str] | None:
    """Return the text of each option for a list that shows characters only, by id.

    None where one has more than characters, such as a formula, or where two would look alike.
    """
    texts = {option.id: " ".join(option.text.plain.split()) for option in options}
    are_plain = all(
        isinstance(block, ProseParagraph) and all(isinstance(run, ProseText) for run in block.runs)
        for option in options
        for block in prose_tree(option.text)
    )
    return texts if are_plain and len({text.casefold() for text in texts.values()}) == len(texts) else None


class PictureStore:
    """The pictures of an export; the same picture is one file, whatever shows it.

    Parameters
    ----------
    folder : str
        Where they lie, with a slash at its end.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self.files: dict[str, bytes] = {}
        """Path → content."""

    def keep(self, picture: ProsePicture) -> str:
        """Keep a picture; return its name in the folder."""
        content = f'<?xml version="1.0" encoding="UTF-8"?>\n{picture.svg}\n'.encode()
        name = f"{hashlib.sha256(content).hexdigest()[:16]}.svg"
        self.files[self._folder + name] = content
        return name


class ProseHtml:
    """Writes texts.

    Parameters
    ----------
    formula : callable
        Returns the HTML of a formula.
    address : callable
        Keeps a picture, and returns its address.
    characters : callable
        Returns the HTML of characters.
    """

    def __init__(
        self,
        formula: Callable[[ProseFormula], str],
        address: Callable[[ProsePicture], str],
        characters: Callable[[str], str] = html_text,
    ) -> None:
        self._formula = formula
        self._address = address
        self._characters = characters

    def blocks(self, text: RenderedText | None) -> str:
        """Return the paragraphs, lists, tables … of a text."""
        return "" if text is None else self._blocks(prose_tree(text))

    def inline(self, text: RenderedText) -> str:
        """Return what stands in a line: an option, a label. Several blocks stay blocks."""
        return self._entry(prose_tree(text))

    def _blocks(self, blocks: Sequence[ProseBlock]) -> str:
        return "\n".join(self._block(block) for block in blocks)

    def _entry(self, blocks: Sequence[ProseBlock]) -> str:
        if len(blocks) == 1 and isinstance(blocks[0], ProseParagraph):
            return self._runs(blocks[0].runs)
        return self._blocks(blocks)

    def _block(self, block: ProseBlock) -> str:
        match block:
            case ProseParagraph(runs, heading):
                words = self._runs(runs)
                return f"<p><strong>{words}</strong></p>" if heading else f"<p>{words}</p>"
            case ProseList(entries, start):
                items = "".join(f"<li>{self._entry(entry)}</li>" for entry in entries)
                first = f' start="{start}"' if start not in (None, 1) else ""
                return f"<ul>{items}</ul>" if start is None else f"<ol{first}>{items}</ol>"
            case ProseTable(head, rows):
                headings = f"<thead>{self._line(head, 'th')}</thead>" if any(head) else ""
                body = "".join(self._line(row, "td") for row in rows)
                return f"<table>{headings}<tbody>{body}</tbody></table>"
            case ProseListing(text):
                return f"<pre>{self._characters(text)}</pre>"
            case ProseQuote(inner):
                return f"<blockquote>{self._blocks(inner)}</blockquote>"
            case ProsePicture(alt_text=alt_text, caption=caption):
                source = xml_value(self._address(block))
                picture = f'<p><img src="{source}" alt="{xml_value(alt_text)}"/></p>'
                return picture + (f"<p><em>{self._characters(caption)}</em></p>" if caption else "")

    def _line(self, cells: Sequence[Sequence[ProseRun]], tag: str) -> str:
        # A cell without text keeps a blank that readers of XML don't drop.
        return "".join(
            ["<tr>", *(f"<{tag}>{self._runs(cell) or '&#160;'}</{tag}>" for cell in cells), "</tr>"]
        )

    def _runs(self, runs: Sequence[ProseRun]) -> str:
        return "".join(self._run(run) for run in runs)

    def _run(self, run: ProseRun) -> str:
        match run:
            case ProseText(text):
                # Importers drop blanks that stand alone between two elements, but not this one.
                return self._characters(text) if text.strip() else "&#160;"
            case ProseCode(text):
                return f"<code>{self._characters(text)}</code>"
            case ProseBreak():
                return "<br/>"
            case ProseFormula():
                return self._formula(run)
            case ProseEmphasis(runs, strong):
                tag = "strong" if strong else "em"
                return f"<{tag}>{self._runs(runs)}</{tag}>"
