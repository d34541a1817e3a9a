"""A formula as one line of readable text, e.g. ``h⁽¹⁾ = [1, 2]``, ``α̂^(t,1)``, ``Σⱼ₌₁ⁿ αⱼ hⱼ``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from engine.variants.maths.parser import (
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
from engine.variants.maths.symbols import ACCENTS, ENVIRONMENTS, SUBSCRIPT, SUPERSCRIPT, styled

__all__ = ["plain_maths"]

_OPERANDS = ("operand", "function", "close")


@lru_cache(maxsize=4096)
def plain_maths(source: str) -> str:
    """Return a formula as readable text; the minus sign of numbers is the one on the keyboard.

    Raises
    ------
    MathsError
        The formula isn't in our subset.
    """
    return _text(parse_maths(source))


def _text(node: Node) -> str:
    match node:
        case Atom(text, kind):
            return {"∑": "Σ", "∏": "Π"}.get(text, text) if kind != "space" else " "
        case Row(children):
            return _row(children)
        case Script():
            return _script(node)
        case Fraction(top, bottom):
            return _fraction(top, bottom)
        case Root(body):
            inner = _text(body)
            return f"√{inner}" if len(inner) == 1 or inner.isdigit() or _is_scripted(body) else f"√({inner})"
        case Accent(base, mark):
            inner = _text(base)
            return inner + ACCENTS[mark][0] if len(inner) == 1 else f"{mark}({inner})"
        case Styled(body, style):
            inner = _joined(body)
            return "".join(styled(style, c) for c in inner) if style == "mathbb" else inner
        case Fenced(opening, body, closing):
            return f"{opening}{_text(body)}{closing}"
        case Table():
            return _table(node)


def _joined(body: Node) -> str:
    """Return letters of one alphabet as one word: mathrm{softmax}."""
    children = body.children if isinstance(body, Row) else (body,)
    if all(isinstance(c, Atom) and c.kind in ("identifier", "number") for c in children):
        return "".join(_text(c) for c in children)
    return _text(body)


def _kind(node: Node) -> str:
    """Return how a node stands in its row: as operand, function, operator, bracket …"""
    if isinstance(node, Atom):
        if node.kind in ("identifier", "number", "text"):
            return "operand"
        return "function" if node.kind == "big" else node.kind
    if isinstance(node, Script) and isinstance(node.base, Atom) and node.base.kind in ("big", "function"):
        return "function"
    if isinstance(node, Styled) and len(_text(node)) > 1:
        return "function"
    return "operand"


def _row(children: tuple[Node, ...]) -> str:
    written = ""
    before: Node | None = None
    signed = False  # the node before is a sign, not an operator between two operands
    for child in _with_bars(children):
        if before is not None and not signed and _gap(before, child):
            written += " "
        written += _text(child)
        signed = _kind(child) == "binary" and (before is None or _kind(before) not in _OPERANDS)
        before = child
    return " ".join(written.split())


def _with_bars(children: tuple[Node, ...]) -> list[Node]:
    """Return the row with its bars told apart: in pairs they open and close, alone they divide (P(w | x))."""
    told = list(children)
    groups: list[list[int]] = [[]]
    for i, child in enumerate(children):
        if not isinstance(child, Atom):
            continue
        if child.kind == "open":
            groups.append([])
        elif child.kind == "fence":
            groups[-1].append(i)
        elif child.kind == "close" and len(groups) > 1:
            _tell_bars(told, groups.pop())
    for group in groups:
        _tell_bars(told, group)
    return told


def _tell_bars(told: list[Node], places: list[int]) -> None:
    for count, i in enumerate(places):
        bar = told[i]
        if isinstance(bar, Atom):
            kind = "relation" if len(places) % 2 else "close" if count % 2 else "open"
            told[i] = Atom(bar.text, kind, bar.spaced)


def _gap(before: Node, after: Node) -> bool:
    """Tell whether a blank belongs between two neighbours, the first of which is no sign."""
    left, right = _kind(before), _kind(after)
    if right in ("punctuation", "close", "space") or left in ("open", "space"):
        return False
    if "relation" in (left, right) or "binary" in (left, right) or left == "punctuation":
        return True
    if isinstance(after, Fenced) and left == "function":
        return False
    if right == "open":
        return after.spaced and left in ("operand", "close")
    return left == "function" or after.spaced or right == "function" or isinstance(before, Script)


def _raised(text: str, alphabet: Mapping[str, str], mark: str) -> str:
    squeezed = text.replace(" ", "")
    if all(c in alphabet for c in squeezed):
        return "".join(alphabet[c] for c in squeezed)
    if len(squeezed) == 1 or (squeezed.startswith("(") and squeezed.endswith(")")):
        return mark + squeezed
    return f"{mark}({squeezed})"


def _script(node: Script) -> str:
    base = _text(node.base)
    if isinstance(node.base, Row | Fraction) and len(base) > 1:
        base = f"({base})"
    sub = "" if node.sub is None else _raised(_text(node.sub), SUBSCRIPT, "_")
    sup = "" if node.sup is None else _raised(_text(node.sup), SUPERSCRIPT, "^")
    return base + sub + sup


def _is_scripted(node: Node) -> bool:
    return isinstance(node, Script) or (
        isinstance(node, Row) and len(node.children) == 1 and _is_scripted(node.children[0])
    )


def _has_operator(node: Node) -> bool:
    return isinstance(node, Row) and any(_kind(c) in ("binary", "relation") for c in node.children[1:])


def _fraction(top: Node, bottom: Node) -> str:
    above, below = _text(top), _text(bottom)
    if _has_operator(top):
        above = f"({above})"
    if _has_operator(bottom) or (isinstance(bottom, Row) and len(bottom.children) > 1 and " " in below):
        below = f"({below})"
    is_short = len(above + below) <= 6 and " " not in above + below
    return f"{above}/{below}" if is_short else f"{above} / {below}"


def _table(node: Table) -> str:
    rows = [[_text(cell) for cell in row] for row in node.rows]
    if node.environment == "cases":
        return "{ " + "; ".join(_case(row) for row in rows) + " }"
    if node.environment == "aligned":
        return "; ".join(" ".join(filter(None, row)) for row in rows)
    if all(len(row) == 1 for row in rows):
        body = "[" + ", ".join(row[0] for row in rows) + "]"
        return body + "ᵀ" if len(rows) > 1 else body
    body = "[" + ", ".join("[" + ", ".join(row) + "]" for row in rows) + "]"
    opening, _ = ENVIRONMENTS[node.environment]
    return f"{opening}{body}{opening}" if opening in ("|", "‖") else body


def _case(row: list[str]) -> str:
    value, *condition = row
    if not condition:
        return value
    joiner = " " if condition[0].startswith(("if ", "for ", "else", "otherwise")) else " if "
    return value + joiner + " ".join(condition)
