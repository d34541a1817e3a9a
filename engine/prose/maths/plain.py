"""A formula as one line of readable text, e.g. ``h⁽¹⁾ = [1, 2]``, ``α̂^(t,1)``, ``Σⱼ₌₁ⁿ αⱼ hⱼ``.

It is what the terminal shows. So brackets and blanks are put where the line would otherwise mean another
formula: ``(a + b) / 2`` and not ``a + b / 2``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from itertools import accumulate

from engine.prose.maths.parser import (
    ACCENTS,
    ENVIRONMENTS,
    SUBSCRIPT,
    SUPERSCRIPT,
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

_OPERANDS = ("operand", "function", "close")
# a blank of a subscript or exponent between two words, as in `k visible`: without it they'd read as one
_BETWEEN_WORDS = re.compile(r"(?<=\w) +(?=\w)")


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
        case AtomNode(text, kind):
            if kind == "space":
                return "" if text == "!" else " "  # \\! moves its neighbours together
            # the letters are in every font of a terminal, the operators aren't
            return {"∑": "Σ", "∏": "Π"}.get(text, text)
        case RowNode(children):
            return _row(children)
        case ScriptNode():
            return _script(node)
        case FractionNode(top, bottom):
            return _fraction(top, bottom)
        case RootNode(body):
            inner = _text(body)
            is_clear = len(inner) == 1 or inner.isdigit() or _is_scripted(body) or _is_enclosed(body)
            return f"√{inner}" if is_clear else f"√({inner})"
        case AccentNode(base, mark):
            inner = _text(base)
            # a combining mark belongs to one letter only: over a product it would sit on the last factor
            return inner + ACCENTS[mark][0] if len(inner) == 1 else f"{mark}({inner})"
        case StyledNode(body, style):
            inner = _joined(body)
            # ℝ is read everywhere; bold or calligraphic letters are plain ones to a terminal
            return "".join(styled(style, c) for c in inner) if style == "mathbb" else inner
        case FencedNode(opening, body, closing):
            return f"{opening}{_text(body)}{closing}"
        case TableNode():
            return _table(node)


def _joined(body: Node) -> str:
    # mathrm{softmax} is one word, although TeX reads seven letters
    children = body.children if isinstance(body, RowNode) else (body,)
    if all(isinstance(c, AtomNode) and c.kind in ("identifier", "number") for c in children):
        return "".join(_text(c) for c in children)
    return _text(body)


def _kind(node: Node) -> str:
    """Return how a node works in its row: as operand, function, operator, bracket …"""
    if isinstance(node, AtomNode):
        if node.kind in ("identifier", "number", "text"):
            return "operand"
        return "function" if node.kind == "big" else node.kind
    if (
        isinstance(node, ScriptNode)
        and isinstance(node.base, AtomNode)
        and node.base.kind in ("big", "function")
    ):
        return "function"
    # a word such as mathrm{softmax} is set apart like log, and not multiplied
    if isinstance(node, StyledNode) and len(_text(node)) > 1:
        return "function"
    return "operand"


def _row(children: tuple[Node, ...]) -> str:
    written = ""
    before: Node | None = None
    signed = False  # the node before is a sign, not an operator between two operands
    nodes = [node for node in _with_bars(children) if not _is_negative_space(node)]
    for index, child in enumerate(nodes):
        if before is not None and not signed and _gap(before, child):
            written += " "
        ends = index + 1 == len(nodes) or _is_end(nodes[index + 1])
        written += (
            _fraction(child.top, child.bottom, ends) if isinstance(child, FractionNode) else _text(child)
        )
        signed = _kind(child) == "binary" and (before is None or _kind(before) not in _OPERANDS)
        before = child
    return " ".join(written.split())


def _is_negative_space(node: Node) -> bool:
    return isinstance(node, AtomNode) and node.kind == "space" and node.text == "!"


def _with_bars(children: tuple[Node, ...]) -> list[Node]:
    """Return the row with kinds for its bars: in pairs they open and close, alone they divide (P(w | x))."""
    nodes = list(children)
    groups: list[list[int]] = [[]]
    for i, child in enumerate(children):
        if not isinstance(child, AtomNode):
            continue
        if child.kind == "open":
            groups.append([])  # bars inside and outside of a bracket never belong together
        elif child.kind == "fence":
            groups[-1].append(i)
        elif child.kind == "close" and len(groups) > 1:
            _set_kinds(nodes, groups.pop())
    for group in groups:
        _set_kinds(nodes, group)
    return nodes


def _set_kinds(nodes: list[Node], bars: list[int]) -> None:
    # within one pair of brackets; an odd number of bars can't be pairs
    for count, i in enumerate(bars):
        bar = nodes[i]
        if isinstance(bar, AtomNode):
            kind = "relation" if len(bars) % 2 else "close" if count % 2 else "open"
            nodes[i] = AtomNode(bar.text, kind, bar.spaced)


def _gap(before: Node, after: Node) -> bool:
    """Return whether a blank belongs between two neighbours, the first of which isn't a sign."""
    left, right = _kind(before), _kind(after)
    # ∂L / ∂w: the sign and its variable are one
    if isinstance(before, AtomNode) and before.text == "∂":
        return False
    if right in ("punctuation", "close", "space") or left in ("open", "space"):
        return False
    if "relation" in (left, right) or "binary" in (left, right) or left == "punctuation":
        return True
    if isinstance(after, FencedNode) and left == "function":
        return False
    # f(x) is a call, and a (b + c) a product, as it was typed
    if right == "open":
        return after.spaced and left in ("operand", "close")
    return left == "function" or after.spaced or right == "function" or isinstance(before, ScriptNode)


def _raised(text: str, alphabet: Mapping[str, str], mark: str) -> str:
    # blanks inside are dropped (t - 1 becomes ₜ₋₁), except for those between words
    words = _BETWEEN_WORDS.sub("\0", text)
    squeezed = words.replace(" ", "").replace("\0", "" if _is_product(text) else " ")
    if all(c in alphabet for c in squeezed):
        return "".join(alphabet[c] for c in squeezed)
    # s_new can only be read in one way; e^ab couldn't, as the product of eᵃ and b comes to mind
    if mark == "_" and squeezed.isalpha() and squeezed.isascii():
        return mark + squeezed
    if len(squeezed) == 1 or (squeezed.startswith("(") and squeezed.endswith(")")):
        return mark + squeezed
    return f"{mark}({squeezed})"


def _is_product(text: str) -> bool:
    """Return whether blanks part nothing but single letters and numbers, as in the index `i j`."""
    return all(len(word) == 1 or word.isdigit() for word in text.split())


def _script(node: ScriptNode) -> str:
    base = _text(node.base)
    if isinstance(node.base, RowNode | FractionNode) and len(base) > 1:
        base = f"({base})"
    sub = "" if node.sub is None else _raised(_text(node.sub), SUBSCRIPT, "_")
    sup = "" if node.sup is None else _raised(_text(node.sup), SUPERSCRIPT, "^")
    return base + sub + sup


def _is_scripted(node: Node) -> bool:
    return isinstance(node, ScriptNode) or (
        isinstance(node, RowNode) and len(node.children) == 1 and _is_scripted(node.children[0])
    )


def _is_enclosed(node: Node) -> bool:
    # |x| and (a + b) are enclosed, (a + b)(c + d) isn't: its first bracket closes before the end
    if not isinstance(node, RowNode):
        return isinstance(node, FencedNode) and node.opening != "." and node.closing != "."
    if len(node.children) == 1:
        return _is_enclosed(node.children[0])
    marks = _with_bars(node.children)
    depths = list(accumulate((_kind(c) == "open") - (_kind(c) == "close") for c in marks))
    return bool(marks) and _kind(marks[0]) == "open" and depths[-1] == 0 and all(depths[:-1])


def _has_operator(node: Node) -> bool:
    # outside of all brackets; a sign in front isn't an operator
    if not isinstance(node, RowNode):
        return False
    depth = 0
    for index, child in enumerate(node.children):
        kind = _kind(child)
        depth += (kind == "open") - (kind == "close")
        if index and depth == 0 and kind in ("binary", "relation"):
            return True
    return False


def _is_sum(node: Node) -> bool:
    """Return whether a node is a sum or product over an index: it takes in all that follows it."""
    first = node.children[0] if isinstance(node, RowNode) and node.children else node
    base = first.base if isinstance(first, ScriptNode) else first
    return isinstance(base, AtomNode) and base.kind == "big"


def _is_end(node: Node) -> bool:
    """Return whether what stands here can't be read as part of a sum before it: `a / Σ b = c`."""
    if isinstance(node, AtomNode) and (node.kind == "text" or node.text in ".!?"):
        return True
    return _kind(node) in ("relation", "punctuation", "close", "space")


def _fraction(top: Node, bottom: Node, ends: bool = False) -> str:
    """Return a fraction on one line; `ends` if nothing follows that could be read as part of it."""
    above, below = _text(top), _text(bottom)
    if _has_operator(top) or (_is_sum(top) and " " in above):
        above = f"({above})"
    several = isinstance(bottom, RowNode) and len(bottom.children) > 1 and " " in below
    if _has_operator(bottom) or (several and not (ends and _is_sum(bottom))):
        below = f"({below})"
    # 1/2 and dₖ/2 read best without blanks, longer ones don't
    is_short = len(above + below) <= 6 and " " not in above + below
    return f"{above}/{below}" if is_short else f"{above} / {below}"


def _table(node: TableNode) -> str:
    rows = [[_text(cell) for cell in row] for row in node.rows]
    if node.environment == "cases":
        return "{ " + "; ".join(_case(row) for row in rows) + " }"
    if node.environment == "aligned":
        return "; ".join(" ".join(filter(None, row)) for row in rows)
    if all(len(row) == 1 for row in rows):
        # a column, written on one line
        body = "[" + ", ".join(row[0] for row in rows) + "]"
        return body + "ᵀ" if len(rows) > 1 else body
    body = "[" + ", ".join("[" + ", ".join(row) + "]" for row in rows) + "]"
    # a determinant keeps its bars; all other brackets of a matrix are read as [[…], […]]
    opening, _ = ENVIRONMENTS[node.environment]
    return f"{opening}{body}{opening}" if opening in ("|", "‖") else body


def _case(row: list[str]) -> str:
    value, *condition = row
    if not condition:
        return value
    joiner = " " if condition[0].startswith(("if ", "for ", "else", "otherwise")) else " if "
    return value + joiner + " ".join(condition)
