r"""Texts as Moodle shows them: HTML, formulas as TeX between ``\(`` and ``\)``, pictures as files beside it.

Moodle's filters look for formulas and addresses in any text, and a Cloze text for its fields: what only looks
like one is taken apart here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from engine.export.prose_html import ProseHtml, html_text, tex_in_delimiters
from engine.model import RenderedText
from engine.prose.prose_tree import ProsePicture

# Two dollars begin a formula, too, and two of the others an address: an element keeps them apart.
_SIGN_PAIR = re.compile(r"\$(?=\$)|@(?=@)")


@dataclass(frozen=True, slots=True)
class MoodleText:
    """HTML, and the files that it shows: name and content."""

    html: str
    files: tuple[tuple[str, bytes], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.html)


def moodle_text(*texts: RenderedText, pictures: int = 0) -> MoodleText:
    """Return texts one after the other, as paragraphs, where so many pictures stand before them."""
    files: list[tuple[str, bytes]] = []

    def address(picture: ProsePicture) -> str:
        files.append((f"picture-{pictures + len(files) + 1}.svg", picture.svg.encode("utf-8")))
        return f"@@PLUGINFILE@@/{files[-1][0]}"

    writer = ProseHtml(tex_in_delimiters, address, _signs)
    return MoodleText("".join(map(writer.blocks, texts)), tuple(files))


@lru_cache(maxsize=1024)
def moodle_line(text: RenderedText) -> str:
    """Return an option, a card or a prompt, in which no picture can stand: without a paragraph around it."""
    return ProseHtml(tex_in_delimiters, lambda picture: "", _signs).inline(text)


def moodle_words(plain: str) -> str:
    """Return plain text as HTML, such as feedback."""
    return "<br/>".join(map(_signs, plain.split("\n")))


def _signs(text: str) -> str:
    # Quotes are quotes between elements. A brace of the text would begin a field of a Cloze text.
    text = html_text(text).replace("&#x27;", "'").replace("&quot;", '"').replace("{", "&#123;")
    return _SIGN_PAIR.sub(r"\g<0><span></span>", text) if "$$" in text or "@@" in text else text
