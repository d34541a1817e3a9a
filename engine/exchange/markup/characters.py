"""Foreign characters: what a text of ours may hold, and how each is written so that it shows as itself."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["escaped", "escaped_line_start", "plain_characters"]

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
