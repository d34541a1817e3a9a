r"""Texts as Moodle shows them: HTML, formulas as TeX between ``\(`` and ``\)``, pictures as files beside it.

Moodle's MathJax filter finds formulas in any text, so that what only looks like one is taken apart here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import escape

from engine.model import RenderedText
from engine.prose.prose_tree import (
    ProseBlock,
    ProseBreak,
    ProseCode,
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

# What begins a formula for MathJax, or an address for Moodle: an element around the first of two signs keeps
# both what they are.
_TAKEN = re.compile(r"\$(?=\$)|\\(?=[(\[])|@(?=@)")
# What XML can't hold, not even escaped.
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class MoodleText:
    """HTML, and the files that it shows: name and content."""

    html: str
    files: tuple[tuple[str, bytes], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.html)


def moodle_text(*texts: RenderedText, pictures: int = 0) -> MoodleText:
    """Return texts one after the other, as paragraphs, where so many pictures stand before them."""
    writer = _Writer(pictures)
    return MoodleText("".join(writer.blocks(prose_tree(text)) for text in texts), tuple(writer.files))


@lru_cache(maxsize=1024)
def moodle_line(text: RenderedText) -> str:
    """Return an option, a card or a prompt: its runs without a paragraph around them."""
    blocks = prose_tree(text)
    writer = _Writer()
    if len(blocks) == 1 and isinstance(blocks[0], ProseParagraph) and not blocks[0].heading:
        return writer.runs(blocks[0].runs)
    return writer.blocks(blocks)


def moodle_words(plain: str) -> str:
    """Return plain text as HTML, such as feedback."""
    return _safe(plain).replace("\n", "<br>")


def xml_characters(text: str) -> str:
    """Return a text without what XML can't hold."""
    return _NOT_XML.sub("", text)


class _Writer:
    def __init__(self, pictures: int = 0) -> None:
        self._pictures = pictures
        self.files: list[tuple[str, bytes]] = []

    def blocks(self, blocks: Iterable[ProseBlock]) -> str:
        return "".join(map(self._block, blocks))

    def _block(self, block: ProseBlock) -> str:
        if isinstance(block, ProseParagraph):
            tag = "h4" if block.heading else "p"
            return f"<{tag}>{self.runs(block.runs)}</{tag}>"
        if isinstance(block, ProseList):
            entries = "".join(f"<li>{self._entry(entry)}</li>" for entry in block.entries)
            if block.start is None:
                return f"<ul>{entries}</ul>"
            start = "" if block.start == 1 else f' start="{block.start}"'
            return f"<ol{start}>{entries}</ol>"
        if isinstance(block, ProseTable):
            return self._table(block)
        if isinstance(block, ProseListing):
            return f"<pre><code>{_signs(block.text)}</code></pre>"
        if isinstance(block, ProseQuote):
            return f"<blockquote>{self.blocks(block.blocks)}</blockquote>"
        return self._picture(block)

    def _entry(self, entry: Sequence[ProseBlock]) -> str:
        if len(entry) == 1 and isinstance(entry[0], ProseParagraph):
            return self.runs(entry[0].runs)
        return self.blocks(entry)

    def _table(self, table: ProseTable) -> str:
        head = "".join(f"<th>{self.runs(cell)}</th>" for cell in table.head)
        rows = "".join(
            f"<tr>{''.join(f'<td>{self.runs(cell)}</td>' for cell in row)}</tr>" for row in table.rows
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"

    def _picture(self, picture: ProsePicture) -> str:
        name = f"picture-{self._pictures + len(self.files) + 1}.svg"
        self.files.append((name, picture.svg.encode("utf-8")))
        words = _signs(picture.alt_text).replace('"', "&quot;")
        image = f'<img src="@@PLUGINFILE@@/{name}" alt="{words}">'
        caption = f"<p><em>{_safe(picture.caption)}</em></p>" if picture.caption else ""
        return f"<p>{image}</p>{caption}"

    def runs(self, runs: Iterable[ProseRun]) -> str:
        return "".join(map(self._run, runs))

    def _run(self, run: ProseRun) -> str:
        if isinstance(run, ProseText):
            return _safe(run.text)
        if isinstance(run, ProseFormula):
            tex = escape(run.tex, quote=False)
            return f"\\[{tex}\\]" if run.display else f"\\({tex}\\)"
        if isinstance(run, ProseCode):
            return f"<code>{_signs(run.text)}</code>"
        if isinstance(run, ProseBreak):
            return "<br>"
        tag = "strong" if run.strong else "em"
        return f"<{tag}>{self.runs(run.runs)}</{tag}>"


def _signs(text: str) -> str:
    # a brace of the text would begin a field of a Cloze text
    return escape(text, quote=False).replace("{", "&#123;")


def _safe(text: str) -> str:
    text = _signs(text)
    return _TAKEN.sub(lambda match: f"<span>{match[0]}</span>", text) if _TAKEN.search(text) else text
