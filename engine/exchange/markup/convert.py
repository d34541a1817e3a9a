"""One text of a file into Markdown of ours."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from engine.exchange.markup.blocks import Block, Break, Formula, Inline, Run, lines_of
from engine.exchange.markup.building import finished
from engine.exchange.markup.characters import plain_characters
from engine.exchange.markup.formulas import split_formulas
from engine.exchange.markup.html import read_html
from engine.exchange.markup.write import Writer
from engine.exchange.question import Form, Markup
from engine.plurals import counted

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

__all__ = ["MAX_PROSE", "Converted", "TextTooLong", "convert"]

MAX_PROSE = 20_000
"""The longest text that a problem file may hold."""
_MAX_SOURCE = 200_000
_MAX_MARKDOWN = 50_000
_MAX_FORMULAS = 1000
_PICTURE_DATA = re.compile(r"data:[\w/+.-]{0,60};base64,[A-Za-z0-9+/=]*")
_CODE = re.compile(r"(```.*?```|`[^`\n]*`)", re.DOTALL)
_DOUBLED = re.compile(r"\\(?=\\[()\[\]])")


class TextTooLong(ValueError):  # noqa: N818 - a limit, not a mistake
    """A text is longer than a problem file may hold."""


@dataclass(frozen=True, slots=True)
class Converted:
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


def convert(markup: Markup, *, inline: bool = False) -> Converted:
    """Return a foreign text as ours.

    Parameters
    ----------
    markup : Markup
    inline : bool
        One run of words without paragraphs, for options and feedback.

    Raises
    ------
    TextTooLong
    """
    text = _PICTURE_DATA.sub("data:", markup.text)
    if len(text) > _MAX_SOURCE:
        raise TextTooLong(f"a text has over {_MAX_SOURCE:,} characters")
    blocks, lost = _READERS[markup.form](text)
    writer = Writer()
    prose = writer.line(blocks) if inline else writer.text(blocks)
    if len(prose) > MAX_PROSE:
        raise TextTooLong(
            f"a text has {counted(len(prose), 'character', ',')}; at most {MAX_PROSE:,} are possible"
        )
    if prose.count("$") > 2 * _MAX_FORMULAS:
        raise TextTooLong(f"a text has over {_MAX_FORMULAS} formulas")
    return Converted(prose, _words(blocks), tuple(dict.fromkeys([*lost, *writer.lost])))


Read = tuple[Sequence[Block], list[str]]


def _html(text: str) -> Read:
    return read_html(text)


def _auto(text: str) -> Read:
    return read_html(text, line_ends=True)


def _plain(text: str) -> Read:
    text, lost = plain_characters(text)
    return finished([Run(text)]), ["invisible characters"] if lost else []


def _markdown(text: str) -> Read:
    """Read Markdown by way of HTML; formulas are held back, as Markdown would eat their backslashes."""
    if len(text) > _MAX_MARKDOWN:
        raise TextTooLong(f"a text in Markdown has over {_MAX_MARKDOWN:,} characters")
    text, invisible = plain_characters(text)
    held: list[Formula] = []
    parts: list[str] = []
    for index, part in enumerate(_CODE.split(text)):
        if index % 2:
            parts.append(part)
            continue
        for piece in split_formulas(_DOUBLED.sub("", part)):
            if isinstance(piece, Formula):
                held.append(piece)
                parts.append(f"\ue000{len(held) - 1}\ue001")
            else:
                parts.append(piece)
    blocks, lost = read_html(_reader().render("".join(parts)), held=held)
    return blocks, ["invisible characters", *lost] if invisible else lost


@lru_cache(maxsize=1)
def _reader() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


_READERS = {Form.HTML: _html, Form.AUTO: _auto, Form.PLAIN: _plain, Form.MARKDOWN: _markdown}


def _words(blocks: Sequence[Block]) -> str:
    return "\n".join("".join(map(_word, line)) for line in lines_of(blocks)).strip()


def _word(inline: Inline) -> str:
    if isinstance(inline, Formula):
        return f" {inline.source} "
    return "\n" if isinstance(inline, Break) else inline.text
