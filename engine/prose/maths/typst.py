r"""A formula as Typst source, for printed exams.

Typst's maths mode gives many signs a meaning of their own: ``/`` makes a fraction, brackets stretch, a run of
letters is a variable's name, ``#`` begins code. So nothing of a formula is written as it stands: letters are
kept apart, every sign is escaped, and all structure is written as a call, ``attach(x, b: i)`` and never
``x_i``.
"""

from __future__ import annotations

from functools import lru_cache

from engine.prose.maths.parser import (
    ENVIRONMENTS,
    SPACES,
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
)
from engine.prose.maths.plain import plain_maths
from engine.text.words import typst_string

# Below and above these in a displayed formula, beside them in a line: Typst knows it of ∑ and its like.
_WITH_LIMITS = frozenset({"det", "gcd", "inf", "lim", "max", "min", "sup", "Pr"})
# Typst's class of a sign by our kind; a sign of any other kind has the class that Unicode gives it.
_CLASSES = {
    "relation": "relation",
    "binary": "vary",  # a sign such as − is unary at the beginning and after another operator
    "punctuation": "punctuation",
    "open": "opening",
    "close": "closing",
}
# Signs that the maths font draws or spaces better by another code point.
_SIGNS = {"-": "−", "·": "⋅", "*": "∗", "∣": "|", "∥": "‖"}
_STYLES = {
    "mathbf": "upright(bold({}))",
    "boldsymbol": "bold({})",
    "mathrm": "upright({})",
    "mathit": "italic({})",
    "mathbb": "bb({})",
    "mathcal": "cal({})",
    "mathsf": "upright(sans({}))",
    "mathtt": "mono({})",
}
_ACCENTS = {
    "hat": "hat({}, size: #0%)",
    "widehat": "hat({})",
    "bar": "macron({}, size: #0%)",
    "overline": "overline({})",
    "tilde": "tilde({}, size: #0%)",
    "widetilde": "tilde({})",
    "vec": "arrow({}, size: #0%)",
    "dot": "dot({})",
    "ddot": "dot.double({})",
}


@lru_cache(maxsize=4096)
def typst_maths(source: str, display: bool = False) -> str:
    r"""Return a formula as content of Typst's markup, with its readable text as the alternative.

    Parameters
    ----------
    source : str
        LaTeX without dollar signs.
    display : bool
        On a line of its own. What ``\quad`` sets apart there goes on in the next line where it is too wide.

    Raises
    ------
    MathsError
        The formula isn't in our subset.
    """
    tree = parse_maths(source)
    alternative = typst_string(plain_maths(source) or " ")
    if not display:
        return f"#math.equation(alt: {alternative}, ${_written(tree)}$.body)"
    groups = _groups(tree)
    if len(groups) == 1:
        return f"#displayed({alternative}, ${_written(groups[0])}$.body)"
    # One alternative text for all: a reader hears the formula once, and not in pieces.
    pieces = ", ".join(f"${_written(group)}$.body" for group in groups)
    return f"#displayed({alternative}, {pieces})"


def _groups(tree: RowNode) -> list[RowNode]:
    groups: list[list[Node]] = [[]]
    for child in tree.children:
        if isinstance(child, AtomNode) and child.kind == "space" and SPACES[child.text] >= 1:
            groups.append([])
        else:
            groups[-1].append(child)
    return [RowNode(tuple(group)) for group in groups if group] or [tree]


def _written(node: Node) -> str:
    """Return a node as it stands in a row, or as an argument of a call."""
    match node:
        case AtomNode():
            return _atom(node)
        case RowNode(children):
            return _row(children)
        case ScriptNode():
            return _script(node)
        case FractionNode(top, bottom):
            return f"frac({_written(top)}, {_written(bottom)})"
        case RootNode(body):
            return f"sqrt({_written(body)})"
        case AccentNode(base, mark):
            return _ACCENTS[mark].format(_written(base))
        case StyledNode(body, style):
            return _STYLES[style].format(_joined(body))
        case FencedNode(opening, body, closing):
            return f"lr({_sign(opening)}{_written(body)}{_sign(closing)})"
        case TableNode():
            return _table(node)


def _row(children: tuple[Node, ...]) -> str:
    written = ""
    for child in children:
        text = _written(child)
        if written[-1:].isalnum() and text[0].isalnum():
            # Typst shows a blank before and after a word, where TeX has none.
            written += "#none;" if isinstance(child, StyledNode) else " "
        written += text
    return written or '""'  # an empty argument would be none at all


def _atom(atom: AtomNode) -> str:
    text = atom.text
    match atom.kind:
        case "number":
            return text
        case "function":
            limits = ", limits: #true" if text in _WITH_LIMITS else ""
            return f"op({typst_string(text)}{limits})"
        case "text":
            return typst_string(text)
        case "space":
            return f"#h({SPACES[text]}em)"
        case "identifier" if len(text) > 1:  # several primes
            return "".join(_sign(prime) for prime in text)
        case kind:
            sign = _sign(text)
            # In TeX a lone bar is an ordinary sign, as in P(w|x), and \mid one with space around it.
            name = "normal" if kind == "fence" else _CLASSES.get(kind)
            return sign if name is None or kind == "binary" else f'class("{name}", {sign})'


def _sign(text: str) -> str:
    sign = _SIGNS.get(text, text)
    # ⌊ and ⟨ too are brackets that Typst would search a partner for.
    return sign if sign.isalnum() or not sign else f"\\{sign}"


def _joined(body: Node) -> str:
    # \mathrm{softmax} is one word, although TeX reads seven letters
    children = body.children if isinstance(body, RowNode) else (body,)
    if len(children) > 1 and all(
        isinstance(c, AtomNode) and c.kind in ("identifier", "number") for c in children
    ):
        return typst_string("".join(c.text for c in children if isinstance(c, AtomNode)))
    return _written(body)


def _script(node: ScriptNode) -> str:
    sub = "" if node.sub is None else f", b: {_written(node.sub)}"
    sup = "" if node.sup is None else f", t: {_written(node.sup)}"
    return f"attach({_written(node.base)}{sub}{sup})"


def _table(node: TableNode) -> str:
    # Typst sets the cells of a matrix in a line of text as small as a fraction's, TeX doesn't: so all are
    # displayed. In an index or exponent, which is small itself, no lecture has a matrix.
    if node.environment == "cases":
        rows = ", ".join(" & ".join(_written(cell) for cell in row) for row in node.rows)
        return f"display(cases({rows}))"
    if node.environment == "aligned":
        lines = "; ".join(" & ".join(f"display({_written(cell)})" for cell in row) for row in node.rows)
        return f"mat(delim: #none, row-gap: #0.6em, {lines})"
    opening, closing = (typst_string(fence) for fence in ENVIRONMENTS[node.environment])
    rows = "; ".join(", ".join(_written(cell) for cell in row) for row in node.rows)
    return f"display(mat(delim: #({opening}, {closing}), {rows}))".replace('#("", "")', "#none")
