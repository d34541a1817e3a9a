"""A formula as MathML Core, which browsers show without a script; well-formed XML.

The numbers of a formula are taken out first, so that it is parsed once for all variants: two variants of
``[0.3, -1.2]`` differ in their digits only. Numbers that are free (in no braces, no script, after no macro
that takes an argument) become holes; the formula with holes is rendered once, and the numbers are put in.
"""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape

from engine.prose.maths.parser import (
    ACCENTS,
    ENVIRONMENTS,
    FUNCTIONS,
    HOLE,
    SPACES,
    SYMBOLS,
    AccentNode,
    AtomNode,
    FencedNode,
    FractionNode,
    Node,
    RootNode,
    RowNode,
    ScriptNode,
    StyledNode,
    TableNode,
    parse_maths,
    styled,
)
from engine.prose.maths.plain import plain_maths

_WITH_LIMITS = ("∑", "∏", "max", "min", "lim", "sup", "inf")
_NAMESPACE = "http://www.w3.org/1998/Math/MathML"
# "function application", which a screen reader speaks as "of"
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
    for child in node.children if isinstance(node, RowNode) else (node,):
        if isinstance(child, AtomNode) and child.kind == "space" and SPACES[child.text] >= 1:
            groups.append([])
        else:
            groups[-1].append(child)
    groups = [group for group in groups if group]
    if len(groups) < 2:
        return mathml(source, True)
    pieces = "".join(_math(RowNode(tuple(group)), "block") for group in groups)
    return f'<span class="formulas">{pieces}</span>'


def _math(node: Node, kind: str) -> str:
    return f'<math xmlns="{_NAMESPACE}" display="{kind}">{_element(node)}</math>'


def _element(node: Node, style: str = "") -> str:
    """Return exactly one element."""
    match node:
        case AtomNode():
            return _atom(node, style)
        case RowNode(children) if len(children) == 1:
            return _element(children[0], style)
        case RowNode(children):
            return f"<mrow>{_run(children, style)}</mrow>"
        case ScriptNode():
            return _script(node, style)
        case FractionNode(top, bottom):
            return f"<mfrac>{_element(top, style)}{_element(bottom, style)}</mfrac>"
        case RootNode(body):
            return f"<msqrt>{_element(body, style)}</msqrt>"
        case AccentNode(base, mark):
            return f'<mover accent="true">{_element(base, style)}<mo>{ACCENTS[mark][1]}</mo></mover>'
        case StyledNode(body, inner):
            return _styled(body, inner)
        case FencedNode(opening, body, closing):
            return f"<mrow>{_fence(opening)}{_element(body, style)}{_fence(closing)}</mrow>"
        case TableNode():
            return _table(node, style)


def _run(children: tuple[Node, ...], style: str) -> str:
    parts = []
    for i, child in enumerate(children):
        parts.append(_element(child, style))
        base = child.base if isinstance(child, ScriptNode) else child
        if isinstance(base, AtomNode) and base.kind == "function" and i + 1 < len(children):
            parts.append(_APPLY)
    return "".join(parts)


def _atom(atom: AtomNode, style: str) -> str:
    text = escape(atom.text)
    match atom.kind:
        case "number" if atom.text == HOLE:
            return HOLE
        case "number":
            return f"<mn>{''.join(styled(style, c) for c in text)}</mn>"
        case "identifier":
            letter = styled(style, atom.text)
            # MathML sets a single letter in italics unless told not to, and a longer name upright
            upright = ' mathvariant="normal"' if style == "mathrm" and len(letter) == 1 else ""
            return f"<mi{upright}>{escape(letter)}</mi>"
        case "function":
            return f"<mi>{text}</mi>"
        case "text":
            # browsers drop plain blanks at the ends of an element
            return f"<mtext>{text.replace(' ', chr(0xA0))}</mtext>"
        case "space":
            return f'<mspace width="{SPACES[atom.text]}em"/>'
        case "open" | "close" | "fence":
            return f'<mo stretchy="false">{text}</mo>'
        case _:
            return f"<mo>{escape(atom.text.replace('-', '−'))}</mo>"


def _styled(body: Node, style: str) -> str:
    children = body.children if isinstance(body, RowNode) else (body,)
    if len(children) > 1 and all(
        isinstance(c, AtomNode) and c.kind in ("identifier", "number") for c in children
    ):
        word = "".join(
            styled(style, letter) for c in children if isinstance(c, AtomNode) for letter in c.text
        )
        return f"<mi>{escape(word)}</mi>"
    return _element(body, style)


def _script(node: ScriptNode, style: str) -> str:
    base = _element(node.base, style)
    sub = "" if node.sub is None else _element(node.sub, style)
    sup = "" if node.sup is None else _element(node.sup, style)
    # on a line of its own the limits of a sum stand above and below it
    has_limits = isinstance(node.base, AtomNode) and node.base.text in _WITH_LIMITS
    names = ("munder", "mover", "munderover") if has_limits else ("msub", "msup", "msubsup")
    name = names[0] if not sup else names[1] if not sub else names[2]
    return f"<{name}>{base}{sub}{sup}</{name}>"


def _fence(bracket: str) -> str:
    return f'<mo stretchy="true">{escape(bracket)}</mo>' if bracket else ""


def _table(node: TableNode, style: str) -> str:
    opening, closing = ENVIRONMENTS[node.environment]
    attributes = ' columnalign="left"' if node.environment == "cases" else ""
    if node.environment == "aligned":
        attributes = ' columnalign="right left" displaystyle="true"'
    rows = "".join(
        "<mtr>" + "".join(f"<mtd>{_element(cell, style)}</mtd>" for cell in row) + "</mtr>"
        for row in node.rows
    )
    return f"<mrow>{_fence(opening)}<mtable{attributes}>{rows}</mtable>{_fence(closing)}</mrow>"


# What is in braces holds no holes, and letters in a row decide nothing: each is passed over at once.
_TOKEN = re.compile(
    r"(?P<space>\s+)|(?P<edge>\\(?:begin|end)\{[a-zA-Z]*\})|(?P<macro>\\[A-Za-z]+|\\.)"
    r"|(?P<number>\d+(?:\.\d+)?)|(?P<group>\{(?:[^{}\\]|\\.|\{(?:[^{}\\]|\\.)*+\})*+\})|(?P<other>[A-Za-z]+|.)",
    re.DOTALL,
)
# after these a minus sign belongs to the number after it
_BEFORE_SIGN = frozenset({"", "[", "(", ",", "&", "=", "\\\\", "edge"})
_TAKES_NO_ARGUMENT = frozenset({*SYMBOLS, *FUNCTIONS, *SPACES, "\\"})


def split_numbers(source: str) -> tuple[str, list[str]]:
    """Return a formula with holes, and the numbers that belong there, with their signs."""
    parts: list[str] = []
    numbers: list[str] = []
    depth = 0
    before, before_that = "", ""
    for match in _TOKEN.finditer(source):
        kind, token = match.lastgroup, match[0]
        if kind == "space":
            parts.append(token)
            continue
        if kind == "number" and depth == 0 and _is_free(before):
            if before == "-" and before_that in _BEFORE_SIGN:
                del parts[max(i for i, part in enumerate(parts) if part == "-")]
                token = "-" + token
            numbers.append(token)
            parts.append(HOLE)
        else:
            parts.append(token)
        if kind == "other":
            depth += (token == "{") - (token == "}")
        before, before_that = "edge" if kind == "edge" else "}" if kind == "group" else token, before
    return "".join(parts), numbers


def _is_free(before: str) -> bool:
    if before.startswith("\\"):
        return before[1:] in _TAKES_NO_ARGUMENT
    return before not in ("^", "_")


def maths_forms(source: str, display: bool = False) -> tuple[str, str]:
    """Return a formula as readable text and as MathML.

    Raises
    ------
    MathsError
        The formula isn't in our subset.
    """
    plain, elements, numbers = holed_forms(source, display)
    return _filled(plain, numbers), _filled(elements, [number_element(number) for number in numbers])


def holed_forms(source: str, display: bool) -> tuple[tuple[str, ...], tuple[str, ...], list[str]]:
    """Return the pieces of a formula's text and of its MathML, and the numbers that come between them.

    Raises
    ------
    MathsError
        The formula isn't in our subset.
    """
    if HOLE in source:
        parse_maths(source.replace(HOLE, "\0"))  # raises: nobody may type a hole
    skeleton, numbers = split_numbers(source)
    return *_skeleton_forms(skeleton, display), numbers


@lru_cache(maxsize=4096)
def _skeleton_forms(skeleton: str, display: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    elements = displayed(skeleton) if display else mathml(skeleton)
    return tuple(plain_maths(skeleton).split(HOLE)), tuple(elements.split(HOLE))


def number_element(number: str) -> str:
    """Return a free number, with its sign, as MathML."""
    if number.startswith("-"):
        return f"<mrow><mo>−</mo><mn>{number[1:]}</mn></mrow>"
    return f"<mn>{number}</mn>"


def _filled(pieces: tuple[str, ...], numbers: list[str]) -> str:
    if not numbers:
        return pieces[0]
    return pieces[0] + "".join(f"{number}{piece}" for number, piece in zip(numbers, pieces[1:], strict=True))
