"""A formula as MathML Core, well-formed XML."""

from __future__ import annotations

from functools import lru_cache
from html import escape

from engine.variants.maths.parser import (
    HOLE,
    Accent,
    Atom,
    Fenced,
    Fraction,
    Node,
    Root,
    Row,
    Script,
    Styled,
    Table,
    parse_maths,
)
from engine.variants.maths.symbols import ACCENTS, ENVIRONMENTS, SPACES, styled

__all__ = ["displayed", "mathml"]

_NAMESPACE = "http://www.w3.org/1998/Math/MathML"
_APPLY = "<mo>\u2061</mo>"


@lru_cache(maxsize=4096)
def mathml(source: str, display: bool = False) -> str:
    """Return the MathML element of a formula.

    Parameters
    ----------
    source : str
        LaTeX without dollar signs.
    display : bool
        On a line of its own.

    Raises
    ------
    MathsError
        The formula isn't in our subset.
    """
    return _math(parse_maths(source), "block" if display else "inline")


@lru_cache(maxsize=4096)
def displayed(source: str) -> str:
    r"""Return a formula on lines of its own, which goes on in the next line where it is too wide.

    Browsers don't break MathML, so what ``\quad`` or ``\qquad`` sets apart becomes elements side by side;
    a printed page would lose what doesn't fit on it.

    Raises
    ------
    MathsError
        The formula isn't in our subset.
    """
    node = parse_maths(source)
    groups: list[list[Node]] = [[]]
    for child in node.children if isinstance(node, Row) else (node,):
        if isinstance(child, Atom) and child.kind == "space" and SPACES[child.text] >= 1:
            groups.append([])
        else:
            groups[-1].append(child)
    groups = [group for group in groups if group]
    if len(groups) < 2:
        return mathml(source, True)
    pieces = "".join(_math(Row(tuple(group)), "block") for group in groups)
    return f'<span class="formulas">{pieces}</span>'


def _math(node: Node, kind: str) -> str:
    return f'<math xmlns="{_NAMESPACE}" display="{kind}">{_element(node)}</math>'


def _element(node: Node, style: str = "") -> str:
    """Return exactly one element."""
    match node:
        case Atom():
            return _atom(node, style)
        case Row(children) if len(children) == 1:
            return _element(children[0], style)
        case Row(children):
            return f"<mrow>{_run(children, style)}</mrow>"
        case Script():
            return _script(node, style)
        case Fraction(top, bottom):
            return f"<mfrac>{_element(top, style)}{_element(bottom, style)}</mfrac>"
        case Root(body):
            return f"<msqrt>{_element(body, style)}</msqrt>"
        case Accent(base, mark):
            return f'<mover accent="true">{_element(base, style)}<mo>{ACCENTS[mark][1]}</mo></mover>'
        case Styled(body, inner):
            return _styled(body, inner)
        case Fenced(opening, body, closing):
            return f"<mrow>{_fence(opening)}{_element(body, style)}{_fence(closing)}</mrow>"
        case Table():
            return _table(node, style)


def _run(children: tuple[Node, ...], style: str) -> str:
    parts = []
    for i, child in enumerate(children):
        parts.append(_element(child, style))
        base = child.base if isinstance(child, Script) else child
        if isinstance(base, Atom) and base.kind == "function" and i + 1 < len(children):
            parts.append(_APPLY)
    return "".join(parts)


def _atom(atom: Atom, style: str) -> str:
    text = escape(atom.text)
    match atom.kind:
        case "number" if atom.text == HOLE:
            return HOLE
        case "number":
            return f"<mn>{''.join(styled(style, c) for c in text)}</mn>"
        case "identifier":
            letter = styled(style, atom.text)
            upright = ' mathvariant="normal"' if style == "mathrm" and len(letter) == 1 else ""
            return f"<mi{upright}>{escape(letter)}</mi>"
        case "function":
            return f"<mi>{text}</mi>"
        case "text":
            return f"<mtext>{text.replace(' ', chr(0xA0))}</mtext>"
        case "space":
            return f'<mspace width="{SPACES[atom.text]}em"/>'
        case "open" | "close" | "fence":
            return f'<mo stretchy="false">{text}</mo>'
        case _:
            return f"<mo>{escape(atom.text.replace('-', '−'))}</mo>"


def _styled(body: Node, style: str) -> str:
    children = body.children if isinstance(body, Row) else (body,)
    if len(children) > 1 and all(
        isinstance(c, Atom) and c.kind in ("identifier", "number") for c in children
    ):
        word = "".join(styled(style, letter) for c in children if isinstance(c, Atom) for letter in c.text)
        return f"<mi>{escape(word)}</mi>"
    return _element(body, style)


def _script(node: Script, style: str) -> str:
    base = _element(node.base, style)
    sub = "" if node.sub is None else _element(node.sub, style)
    sup = "" if node.sup is None else _element(node.sup, style)
    above = isinstance(node.base, Atom) and node.base.text in ("∑", "∏", "max", "min", "lim", "sup", "inf")
    names = ("munder", "mover", "munderover") if above else ("msub", "msup", "msubsup")
    name = names[0] if not sup else names[1] if not sub else names[2]
    return f"<{name}>{base}{sub}{sup}</{name}>"


def _fence(bracket: str) -> str:
    return f'<mo stretchy="true">{escape(bracket)}</mo>' if bracket else ""


def _table(node: Table, style: str) -> str:
    opening, closing = ENVIRONMENTS[node.environment]
    left = ' columnalign="left"' if node.environment == "cases" else ""
    if node.environment == "aligned":
        left = ' columnalign="right left" displaystyle="true"'
    rows = "".join(
        "<mtr>" + "".join(f"<mtd>{_element(cell, style)}</mtd>" for cell in row) + "</mtr>"
        for row in node.rows
    )
    return f"<mrow>{_fence(opening)}<mtable{left}>{rows}</mtable>{_fence(closing)}</mrow>"
