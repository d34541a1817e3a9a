"""Make text that students or files bring safe for the medium that shows it.

Foreign text is never markup: control characters and direction overrides are made
visible or dropped, length is cut, and each medium has its own escape.
"""

from __future__ import annotations

import unicodedata

from engine.text.words import count_noun

# Bidirectional controls, zero-width characters and line separators can make text read as something else.
_HIDDEN = {
    0x00AD,
    0x2028,
    0x2029,
    0xFEFF,
    *range(0x200B, 0x2010),
    *range(0x202A, 0x202F),
    *range(0x2060, 0x2070),
}


def visible(text: str) -> str:
    r"""Return `text` with nothing in it that hides, turns or steers, character for character.

    Newlines and tabs stay; every other control, format, surrogate or private-use
    character becomes ``\N{REPLACEMENT CHARACTER}``, so places in the text stay where they are.
    """
    if text.isprintable():
        return text
    # asked of each different character once: a long text has few of them
    steering = {ord(c): "\ufffd" for c in set(text) if c not in "\n\t" and _steers(c)}
    return text.translate(steering) if steering else text


def _steers(character: str) -> bool:
    return unicodedata.category(character) in {"Cc", "Cf", "Cs", "Co"} or ord(character) in _HIDDEN


def clean(text: str, limit: int = 2000) -> str:
    """Return `text` as :func:`visible` gives it, cut to `limit` characters and saying so."""
    cleaned = visible(text[:limit])
    if len(text) > limit:
        cleaned += f" … ({count_noun(len(text) - limit, 'more character')})"
    return cleaned


def clean_line(text: str, limit: int = 200) -> str:
    """Return `text` cleaned and on one line."""
    return " ".join(clean(text, limit).split())


def one_line(text: str, limit: int = 60) -> str:
    """Return foreign text fit for one line of a message: blanks stay, line ends show, cut to ``limit``."""
    text = visible(text[: limit + 1]).replace("\n", "\ufffd")
    return text if len(text) <= limit else text[: limit - 1] + "…"


def csv_cell(text: str) -> str:
    """Return a cell that no spreadsheet takes for a formula; different lines stay different.

    An apostrophe before what would be one keeps it from it. What has that already gets one more, so that
    ``=1`` and ``'=1`` can be told apart.
    """
    line = clean_line(text, 32_000)
    return "'" + line if begins_formula(line.lstrip("'")) else line


def begins_formula(text: str) -> bool:
    """Return whether a spreadsheet may take a cell for a formula: full-width and small signs count too."""
    return unicodedata.normalize("NFKC", text[:1])[:1] in {"=", "+", "-", "@", "\t", "\r", "\n", "\u2212"}


# In text mode < and > come out as inverted question marks in TeX's old font encoding.
_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%",
    "_": r"\_", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}",
}  # fmt: skip


def escape_latex(text: str) -> str:
    """Return text that LaTeX prints as it stands."""
    return "".join(_LATEX.get(character, character) for character in text)
