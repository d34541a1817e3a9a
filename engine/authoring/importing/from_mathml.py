"""Formulas in MathML as LaTeX, so that a formula which lost its source on the way can be typeset again.

Only presentation markup that our subset of LaTeX has a word for is written; a formula with anything else
gives nothing at all, because half of a formula would be another one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from engine.authoring.importing.text_blocks import normal_formula
from engine.prose.maths.parser import ACCENTS, ENVIRONMENTS, FUNCTIONS, SPACES, STYLES, SYMBOLS, styled

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

# the parser of LaTeX takes no deeper formula either
_DEEPEST = 24
_APPLY = "\u2061"  # "function application" and its kin, which show nothing
_UNSEEN = {_APPLY, "\u2062", "\u2063", "\u2064", "\u200b"}
_ESCAPED = {"{": r"\{", "}": r"\}", "%": r"\%", "#": r"\#", "&": r"\&", "$": r"\$", "_": r"\_"}
# the first name counts where a character has several
_MACROS = {char: f"\\{name}" for name, (char, _) in reversed(SYMBOLS.items()) if char not in "{}%#&$_|[]"}
_PLAIN = {"−": "-", "‖": r"\|", "∗": "*", "\xa0": " ", "〈": r"\langle", "〉": r"\rangle"}
_MARKS = {mark: name for name, (_, mark) in reversed(ACCENTS.items())} | {
    "\u0302": "hat", "\u0304": "bar", "\u203e": "bar", "\u0303": "tilde", "\u02dc": "tilde", "\u2192": "vec",
}  # fmt: skip
_ROWS = {"math", "mrow", "mstyle", "mpadded", "mtd", "msqrt"}
_SCRIPTS = {
    "msub": "_", "msup": "^", "msubsup": "_^", "munder": "_", "mover": "^", "munderover": "_^",
}  # fmt: skip
_FENCES = frozenset("()[]{}|‖⟨⟩⌊⌋⌈⌉")
_WORD = re.compile(r"[A-Za-z0-9]+")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def _alphabets() -> dict[str, tuple[str, str]]:
    """Return style and plain letter of each letter of a mathematical alphabet."""
    letters = [*map(chr, [*range(48, 58), *range(65, 91), *range(97, 123)])]
    letters += map(chr, [*range(0x391, 0x3AA), *range(0x3B1, 0x3CA)])
    return {
        other: (style, letter)
        for style in sorted(STYLES)
        for letter in letters
        if (other := styled(style, letter)) != letter
    }


_ALPHABETS = _alphabets()


class _Unwritten(Exception):  # noqa: N818 - ends the writing of one formula
    """The formula holds something that our LaTeX has no word for."""


def latex_of_mathml(formula: Element) -> str:
    """Return a ``<math>`` element as LaTeX, empty if it can't be written.

    Parameters
    ----------
    formula : Element
        Names with or without namespace.
    """
    try:
        source = _row(list(formula), 0)
    except _Unwritten:
        return ""
    # what our own parser refuses would be shown as typed, which nobody has typed here
    return source if normal_formula(source) is not None else ""


def _name(element: Element) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _row(children: Sequence[Element], depth: int) -> str:
    """Return elements side by side; a blank keeps a macro apart from the letter behind it."""
    fenced = _fenced(children, depth)
    if fenced is not None:
        return fenced
    out = ""
    for child, following in pairwise([*children, None]):
        assert child is not None
        piece = _element(child, depth)
        if following is not None and _text(following) == _APPLY:
            piece = piece.replace(r"\mathrm", r"\operatorname", 1)
        if re.search(r"\\[A-Za-z]+$", out) and piece[:1].isalpha():
            out += " "
        out += piece
    return out


def _fenced(children: Sequence[Element], depth: int) -> str | None:
    """Return a table between brackets as a matrix, and stretched brackets as such; None for other rows."""
    # our own formulas and those of most editors put brackets beside a table, in a row of three
    marks = [_stretched(child) for child in children]
    tables = [child for child in children if _name(child) == "mtable"]
    if len(tables) == 1 and len(children) <= 3:
        at = children.index(tables[0])
        opening, closing = marks[:at], marks[at + 1 :]
        if None not in opening + closing and len(opening) < 2 and len(closing) < 2:
            return _table(tables[0], "".join(map(str, opening)), "".join(map(str, closing)), depth)
    if len(children) < 2 or (marks[0] is None and marks[-1] is None):
        return None
    first, last = marks[0], marks[-1]
    inner = children[first is not None : len(children) - (last is not None)]
    if any(mark is not None for mark in marks[first is not None : len(children) - (last is not None)]):
        return None
    left, right = (r"\left" + _bracket(first)), (r"\right" + _bracket(last))
    return f"{left} {_row(inner, depth + 1)} {right}"


def _stretched(element: Element) -> str | None:
    """Return the bracket of an operator that grows with what it surrounds, None for anything else."""
    text = _text(element)
    if _name(element) == "mo" and text in _FENCES and element.get("stretchy") == "true":
        return text
    return None


def _bracket(mark: str | None) -> str:
    return "." if mark is None else _characters(mark)


def _table(table: Element, opening: str, closing: str, depth: int) -> str:
    if opening == "{" and not closing:
        name = "cases"
    elif not opening and not closing and table.get("columnalign", "").startswith("right"):
        name = "aligned"
    else:
        pairs = {fences: name for name, fences in ENVIRONMENTS.items() if name not in ("cases", "aligned")}
        name = pairs.get((opening, closing), "")
    if not name:
        inner = _table(table, "", "", depth)
        return rf"\left{_bracket(opening or None)} {inner} \right{_bracket(closing or None)}"
    rows = []
    for row in table:
        if _name(row) != "mtr":
            raise _Unwritten
        rows.append(" & ".join(_row(list(cell), depth + 1) for cell in row))
    return rf"\begin{{{name}}} " + r" \\ ".join(rows) + rf" \end{{{name}}}"


def _element(element: Element, depth: int) -> str:
    if depth > _DEEPEST:
        raise _Unwritten
    name, children = _name(element), list(element)
    if name == "msqrt":
        return rf"\sqrt{{{_row(children, depth + 1)}}}"
    if name in _ROWS:
        return _row(children, depth + 1)
    if name == "semantics" and children:
        return _element(children[0], depth + 1)
    if name == "mfrac" and len(children) == 2:
        return r"\frac" + "".join(f"{{{_element(child, depth + 1)}}}" for child in children)
    if name == "mover" and len(children) == 2 and (mark := _MARKS.get(_text(children[1]))) is not None:
        return rf"\{mark}{{{_element(children[0], depth + 1)}}}"
    if name in _SCRIPTS and len(children) == 1 + len(_SCRIPTS[name]):
        base, *scripts = (_element(child, depth + 1) for child in children)
        # {} would hide from a sum that its limits stand above and below it
        is_marked = _name(children[0]) == "mover" and re.match(r"\\(?:hat|bar|tilde|vec|d?dot)\{", base)
        is_one = _name(children[0]) in ("mi", "mn", "mo") or is_marked
        written = base if is_one else f"{{{base}}}"
        return written + "".join(
            f"{sign}{{{script}}}" for sign, script in zip(_SCRIPTS[name], scripts, strict=True)
        )
    if name == "mtable":
        return _table(element, "", "", depth)
    if name == "mspace":
        return _space(element.get("width", ""))
    if name in ("mi", "mn", "mo", "mtext") and not children:
        return _token(element, name)
    raise _Unwritten


def _space(width: str) -> str:
    match = re.fullmatch(r"([0-9]{0,4}(?:\.[0-9]{1,9})?)em", width.strip())
    if match is None or not match[1]:
        return ""
    nearest = min(SPACES, key=lambda name: abs(SPACES[name] - float(match[1])))
    return rf"\{nearest}" + " " * nearest[-1].isalpha()


def _text(element: Element) -> str:
    return (element.text or "").strip(" \n\t\r")


def _token(element: Element, name: str) -> str:
    text = _text(element)
    if name == "mtext":
        # these would be commands within \text
        if re.search(r"[\\{}$]", text):
            raise _Unwritten
        return rf"\text{{{text.replace(chr(0xA0), ' ')}}}"
    if name == "mn" and _NUMBER.fullmatch(text):
        return text
    plain = [_ALPHABETS.get(character, ("", character)) for character in text]
    styles = {style for style, _ in plain}
    letters = "".join(letter for _, letter in plain)
    if len(styles) == 1 and "" not in styles:
        return rf"\{styles.pop()}{{{_characters(letters)}}}"
    if name == "mi" and text in FUNCTIONS:
        return f"\\{text}"
    if _WORD.fullmatch(text) and (len(text) > 1 or element.get("mathvariant") == "normal"):
        return rf"\mathrm{{{text}}}"
    if name == "mo" and text in FUNCTIONS:
        return f"\\{text}"
    return _characters(text)


def _characters(text: str) -> str:
    out = ""
    for character in text:
        if character in _UNSEEN:
            continue
        written = _ESCAPED.get(character) or _PLAIN.get(character) or _MACROS.get(character) or character
        if re.search(r"\\[A-Za-z]+$", out) and written[:1].isalpha():
            out += " "
        out += written
    return out
