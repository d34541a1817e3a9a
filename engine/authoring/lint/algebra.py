"""Tells whether two formulas mean the same: both are evaluated with the same random numbers.

Letters of a formula without matrices stand for numbers. Where capital or bold letters or a transpose show
that there are matrices, capitals stand for small random matrices and small letters, but the usual counts, for
vectors: ``q^T W k`` and ``q^T W^T k`` differ. Where the shapes don't fit, all of them stand for square
matrices. A formula outside this little language has no value.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from engine.prose.maths.parser import (
    AccentNode,
    AtomNode,
    FencedNode,
    FractionNode,
    MathsError,
    Node,
    RootNode,
    RowNode,
    ScriptNode,
    StyledNode,
    parse_maths,
)

_ROUNDS = ("one", "two")  # sets of numbers: with a single one, formulas could agree by chance
_SIZE = 2  # of the matrices: the smallest whose products don't commute
_TERMS = 3  # of every sum and product over an index
_COUNTS = frozenset("nmdlijtpTNL")  # letters that stand for numbers even beside matrices
_GREEK = frozenset("αβγδϵελμπρτ")
_MATRICES = re.compile(r"\\top|\\math(?:bf|sf)|\\boldsymbol|\^\{?T\b|[A-KM-SU-Z]")
_WORDS = re.compile(r"\\(?:text|operatorname|mathrm)\{[^{}]*\}|\\[A-Za-z]+")
_FORMULA = re.compile(r"\$\$?([^$]+)\$\$?")
# a formula typed without dollars: single letters, numbers and signs
_WITHOUT_DOLLARS = re.compile(r"(?:[A-Za-zα-ω](?:_\w)?(?![A-Za-z])|\d++(?:\.\d++)?|[-+−–*·×/^()=²³ ])+")
_LONGEST = 200  # characters: nothing longer is an option
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_OPERATION = re.compile(r"[A-Za-zα-ω0-9)] *[-+−–*·×/^=²³]")
_IN_WORDS = ((" times ", r" \cdot "), (" plus ", " + "), (" minus ", " - "), (" over ", " / "))
_SIGNS = str.maketrans({"−": "-", "–": "-", "*": "·", "²": "^{2}", "³": "^{3}"})
_FUNCTIONS: Mapping[str, Callable[[npt.NDArray[np.float64]], npt.NDArray[np.float64]]] = {
    "exp": np.exp,
    "ln": lambda x: np.log(np.abs(x)),
    "log": lambda x: np.log(np.abs(x)),
    "tanh": np.tanh,
    "sin": np.sin,
    "cos": np.cos,
    "σ": lambda x: 1 / (1 + np.exp(-x)),
}
_FUNCTION_LETTERS = frozenset("σφψϕfg")  # letters that are functions where a parenthesis follows
_SIDES = {"<": "<", "≤": "≤", ">": "<", "≥": "≤", "=": "=", "≈": "≈"}

Value = npt.NDArray[np.float64]
Meaning = tuple[object, ...]


class _UnknownError(Exception):
    """The formula is outside the language."""


def is_same_formula(first: str, second: str, *, shapes: bool = False) -> bool:
    """Return whether two texts are formulas that have the same value whatever their symbols stand for.

    Parameters
    ----------
    first, second : str
        ``$…$``, or a formula typed without dollars such as ``n·d`` or ``n times d``, or a number.
    shapes : bool
        Whether ``n × d`` is the shape of a matrix and not a product.
    """
    sources = [_source_of(text) for text in (first, second)]
    if sources[0] is None or sources[1] is None:
        return False
    models = (
        ("vectors", "squares") if any(_has_matrices(source or "") for source in sources) else ("numbers",)
    )
    for model in models:
        values = [_value(source or "", model, shapes) for source in sources]
        if None not in values:
            return values[0] == values[1]
    return False


@lru_cache(maxsize=4096)
def _value(source: str, model: str, shapes: bool) -> Meaning | None:
    try:
        tree = parse_maths(source)
        with np.errstate(all="ignore"):
            return tuple(_Evaluation(name, model, shapes).sides(tree.children) for name in _ROUNDS)
    except (MathsError, _UnknownError, np.linalg.LinAlgError, ValueError, OverflowError):
        return None


def _source_of(text: str) -> str | None:
    if len(text) > _LONGEST:
        return None
    stripped = text.strip().rstrip(".").strip()
    if (whole := _FORMULA.fullmatch(stripped)) is not None:
        return whole[1].replace("\\displaystyle", "")
    in_signs = stripped
    for word, sign in _IN_WORDS:
        in_signs = in_signs.replace(word, sign)
    formula = in_signs.replace(r"\cdot", "·")
    # a lone letter is a word, not a formula that could be written in two ways
    if _NUMBER.fullmatch(formula) or (_WITHOUT_DOLLARS.fullmatch(formula) and _OPERATION.search(formula)):
        return formula.translate(_SIGNS).replace("·", r"\cdot ")
    return None


def _has_matrices(source: str) -> bool:
    return (
        _MATRICES.search(_WORDS.sub(lambda match: match[0] if match[0] == r"\top" else " ", source))
        is not None
    )


@dataclass
class _Evaluation:
    """Evaluates a tree with the numbers of one round.

    Parameters
    ----------
    round : str
        Its name, from which all numbers follow.
    model : str
        How letters are read: ``numbers``; ``vectors``, with capitals as matrices; or ``squares``, where
        all but counts are square matrices.
    shapes : bool
        Whether a cross stands between the sizes of a matrix.
    bound : dict
        Values of the indices that a sum runs over.
    """

    round: str
    model: str
    shapes: bool = False
    bound: dict[str, int] = field(default_factory=dict)

    def sides(self, nodes: Sequence[Node]) -> Meaning:
        parts: list[list[Node]] = [[]]
        marks: list[str] = []
        for node, depth in _nested(nodes):
            is_cross = self.shapes and isinstance(node, AtomNode) and node.text == "×"
            if not depth and isinstance(node, AtomNode) and (is_cross or _separates(node)):
                marks.append(node.text)
                parts.append([])
            else:
                parts[-1].append(node)
        values = [_digits(self.sum_of(part)) for part in parts]
        if len(values) == 2 and marks[0] in _SIDES:
            if marks[0] in (">", "≥"):
                values.reverse()
            if marks[0] in ("=", "≈"):
                values.sort()
            marks = [_SIDES[marks[0]]]  # a < b and b > a are the same
        return (tuple(marks), tuple(values))

    def sum_of(self, nodes: Sequence[Node]) -> Value:
        total: Value | None = None
        sign, term = 1.0, list[Node]()
        for node, depth in _nested((*nodes, AtomNode("+", "binary"))):
            if not depth and isinstance(node, AtomNode) and node.text in ("+", "-", "−"):
                if term:
                    value = sign * self.product_of(term)
                    total = value if total is None else _added(total, value)
                    sign, term = 1.0, []
                if node.text != "+":
                    sign = -sign
            else:
                term.append(node)
        if total is None:
            raise _UnknownError
        return total

    def product_of(self, nodes: Sequence[Node]) -> Value:
        factors = list(nodes)
        value: Value | None = None
        divide = False
        while factors:
            node = factors.pop(0)
            if isinstance(node, AtomNode) and node.kind == "space":
                continue
            if isinstance(node, AtomNode) and (node.kind == "binary" or node.text in ("·", "×")):
                if node.text not in "·×*/":
                    raise _UnknownError
                divide = node.text == "/"
                continue
            if (big := _big(node)) is not None:
                factor = self.over(node, factors, big)
                factors = []
            elif (name := _function_name(node, factors)) is not None:
                factor = self.applied(name, node, factors)
            else:
                factor = self.factor(node, factors)
            factor = _inverse(factor) if divide else factor
            divide = False
            value = factor if value is None else _times(value, factor)
        if value is None or divide:
            raise _UnknownError
        return value

    def over(self, node: Node, body: Sequence[Node], big: str) -> Value:
        sub = node.sub if isinstance(node, ScriptNode) else None
        letters = [word for word in map(_word, _flat(sub)) if word[:1].isalpha()]
        if not letters or not body:
            raise _UnknownError
        index, outer = letters[0], dict(self.bound)
        values = []
        for number in range(1, _TERMS + 1):
            self.bound = {**outer, index: number}
            values.append(self.product_of(body))
        self.bound = outer
        total = values[0]
        for value in values[1:]:
            total = _added(total, value) if big == "∑" else _times(total, value)
        return total

    def applied(self, name: str, node: Node, factors: list[Node]) -> Value:
        """Return the value of a function of the parenthesis, or the one factor, behind it."""
        if not factors:
            raise _UnknownError
        label = self.label(node.sub) + self.label(node.sup) if isinstance(node, ScriptNode) else ""
        argument = self.factor(factors.pop(0), factors)
        function = _FUNCTIONS.get(name)
        if function is not None and not label:
            return np.asarray(function(argument))
        # an unknown function is some smooth one, the same wherever its name stands
        shift = _random(self.round, f"function {name}{label}", (2,))
        return np.asarray(np.sin(shift[0] * argument + shift[1]))

    def factor(self, node: Node, rest: list[Node]) -> Value:
        if isinstance(node, FencedNode) and node.opening == "(":
            return self.sum_of(_children(node.body))
        if isinstance(node, AtomNode) and node.text == "(":
            inside, closing = _until_closed(rest)
            value = self.sum_of(inside)
            if isinstance(closing, ScriptNode):
                return self.powered(value, closing)
            return value
        if isinstance(node, FractionNode):
            return _times(self.sum_of(_children(node.top)), _inverse(self.sum_of(_children(node.bottom))))
        if isinstance(node, RootNode):
            return _power(self.sum_of(_children(node.body)), 0.5)
        if isinstance(node, RowNode):
            return self.sum_of(node.children)
        if isinstance(node, ScriptNode):
            return self.scripted(node)
        if isinstance(node, AtomNode) and node.kind == "number":
            return np.array([[float(node.text)]])
        return self.symbol(node, "")

    def scripted(self, node: ScriptNode) -> Value:
        if (
            isinstance(node.base, AtomNode)
            and node.base.text == "e"
            and node.sub is None
            and node.sup is not None
            and not _is_label(node.sup)
        ):
            return np.asarray(np.exp(self.sum_of(_children(node.sup))))
        if isinstance(node.base, FencedNode | FractionNode | RootNode) or _is_number(node.base):
            return self.powered(self.factor(node.base, []), node)
        label = self.label(node.sub)
        if node.sup is not None and _is_label(node.sup):
            return self.symbol(node.base, f"{label}^{self.label(node.sup)}")
        return self.powered(self.symbol(node.base, label), node)

    def powered(self, value: Value, node: ScriptNode) -> Value:
        if node.sup is None:
            return value
        if _is_transpose(node.sup):
            return value.T
        return _power(value, float(self.sum_of(_children(node.sup))[0, 0]))

    def symbol(self, node: Node, label: str) -> Value:
        name = _name(node)
        if not name or len(name) > 12:
            raise _UnknownError
        if name in self.bound and not label:
            return np.array([[float(self.bound[name])]])
        is_count = name in _COUNTS and "^" not in label and not isinstance(node, StyledNode)
        is_number = self.model == "numbers" or is_count or (self.model == "vectors" and name in _GREEK)
        columns = 1 if self.model == "vectors" and name[-1:].islower() else _SIZE
        return _random(self.round, f"{name}_{label}", (1, 1) if is_number else (_SIZE, columns))

    def label(self, node: Node | None) -> str:
        """Return an index as text, with the values of what a sum runs over."""
        words = []
        for child in _flat(node):
            word = _word(child)
            if isinstance(child, FencedNode):
                word = f"({self.label(child.body)})"
            words.append(str(self.bound.get(word, word)))
        return "".join(words)


def _children(node: Node) -> tuple[Node, ...]:
    return node.children if isinstance(node, RowNode) else (node,)


def _flat(node: Node | None) -> Iterator[Node]:
    if node is None:
        return
    for child in _children(node):
        if isinstance(child, RowNode | StyledNode):
            yield from _flat(child if isinstance(child, RowNode) else child.body)
        else:
            yield child


def _word(node: Node) -> str:
    """Return an index as text: a letter with its prime, a number or a sign."""
    if isinstance(node, AtomNode):
        return "" if node.kind == "space" else node.text
    if isinstance(node, ScriptNode):
        return _word(node.base) + "".join(_word(child) for child in _flat(node.sup))
    if isinstance(node, FencedNode):
        return ""
    raise _UnknownError


def _big(node: Node) -> str | None:
    base = node.base if isinstance(node, ScriptNode) else node
    return base.text if isinstance(base, AtomNode) and base.kind == "big" and base.text in "∑∏" else None


def _function_name(node: Node, rest: Sequence[Node]) -> str | None:
    base = node.base if isinstance(node, ScriptNode) else node
    if isinstance(base, AtomNode) and base.kind == "function":
        return base.text
    follows = rest[0] if rest else None
    opens = isinstance(follows, FencedNode) or (isinstance(follows, AtomNode) and follows.text == "(")
    if isinstance(base, AtomNode) and opens and (base.text in _FUNCTION_LETTERS or base.kind == "text"):
        return base.text.strip()
    if isinstance(base, StyledNode) and opens and base.style == "mathrm" and len(_name(base)) > 1:
        return _name(base)
    return None


def _nested(nodes: Sequence[Node]) -> Iterator[tuple[Node, int]]:
    """Yield each node with the number of parentheses that are open around it."""
    depth = 0
    for node in nodes:
        base = node.base if isinstance(node, ScriptNode) else node
        text = base.text if isinstance(base, AtomNode) else ""
        depth -= text == ")"
        yield node, depth
        depth += text == "("


def _separates(atom: AtomNode) -> bool:
    return atom.kind == "punctuation" or (atom.kind == "relation" and atom.text not in "·×−")


def _until_closed(rest: list[Node]) -> tuple[list[Node], Node]:
    """Take the inside of a parenthesis that is open from the nodes behind it."""
    inside: list[Node] = []
    depth = 1
    while rest:
        node = rest.pop(0)
        base = node.base if isinstance(node, ScriptNode) else node
        if isinstance(base, AtomNode) and base.text == "(":
            depth += 1
        elif isinstance(base, AtomNode) and base.text == ")":
            depth -= 1
            if not depth:
                return inside, node
        inside.append(node)
    raise _UnknownError


def _name(node: Node) -> str:
    if isinstance(node, AtomNode) and node.kind in ("identifier", "text"):
        return node.text
    if isinstance(node, AccentNode):
        return f"{node.mark} {_name(node.base)}"
    if isinstance(node, StyledNode):
        return "".join(_name(child) for child in _children(node.body))
    if isinstance(node, RowNode) and len(node.children) == 1:
        return _name(node.children[0])
    raise _UnknownError


def _is_number(node: Node) -> bool:
    return isinstance(node, AtomNode) and node.kind == "number"


def _is_transpose(node: Node) -> bool:
    atoms = list(_flat(node))
    return len(atoms) == 1 and isinstance(atoms[0], AtomNode) and atoms[0].text in ("⊤", "T")


def _is_label(node: Node) -> bool:
    """Return whether a superscript is an index in parentheses, a prime or a star, and no power."""
    first = next(_flat(node), None)
    return isinstance(first, FencedNode) or (isinstance(first, AtomNode) and first.text[:1] in "(′*∗")


def _random(name: str, symbol: str, shape: tuple[int, ...]) -> Value:
    # from the name alone: the same letter has the same value in both formulas, and in every run
    seed = int.from_bytes(hashlib.sha256(f"{name}|{symbol}".encode()).digest()[:8], "big")
    return np.random.Generator(np.random.PCG64(seed)).uniform(
        0.5, 2.0, shape
    )  # away from 0, so that quotients and logarithms are tame


def _is_scalar(value: Value) -> bool:
    return value.shape == (1, 1)


def _times(a: Value, b: Value) -> Value:
    return a * b if _is_scalar(a) or _is_scalar(b) else a @ b


def _added(a: Value, b: Value) -> Value:
    if a.shape != b.shape:
        raise _UnknownError
    return a + b


def _inverse(value: Value) -> Value:
    return np.asarray(1 / value if _is_scalar(value) else np.linalg.inv(value), dtype=np.float64)


def _power(value: Value, exponent: float) -> Value:
    if _is_scalar(value):
        # a root of a negative number would be NaN on both sides and prove nothing
        return np.abs(value) ** exponent if exponent % 1 else value**exponent
    if exponent % 1 or abs(exponent) > 6:
        raise _UnknownError
    return np.asarray(np.linalg.matrix_power(value, int(exponent)), dtype=np.float64)


def _digits(value: Value) -> tuple[str, ...]:
    if not np.isfinite(value).all():
        raise _UnknownError
    return tuple(f"{entry:.8g}" for entry in value.flatten())  # half of a double's digits survive inversions
