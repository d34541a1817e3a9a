"""LaTeX maths into a tree; everything that isn't understood is an error with its place.

A renderer that passes over unknown LaTeX shows students a wrong formula in the middle of a quiz. So the
subset is small, and everything else is refused when an item is checked.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache

# What the macros stand for: characters, their kinds, and alphabets.
_GREEK = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ϵ", "varepsilon": "ε", "zeta": "ζ",
    "eta": "η", "theta": "θ", "vartheta": "ϑ", "iota": "ι", "kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν",
    "xi": "ξ", "pi": "π", "rho": "ρ", "sigma": "σ", "tau": "τ", "upsilon": "υ", "phi": "ϕ", "varphi": "φ",
    "chi": "χ", "psi": "ψ", "omega": "ω", "Gamma": "Γ", "Delta": "Δ", "Theta": "Θ", "Lambda": "Λ", "Xi": "Ξ",
    "Pi": "Π", "Sigma": "Σ", "Upsilon": "Υ", "Phi": "Φ", "Psi": "Ψ", "Omega": "Ω",
}  # fmt: skip
_IDENTIFIERS = {
    "infty": "∞", "partial": "∂", "nabla": "∇", "ell": "ℓ", "emptyset": "∅", "top": "⊤", "bot": "⊥",
    "ldots": "…", "dots": "…", "cdots": "⋯", "vdots": "⋮", "ddots": "⋱", "prime": "′",
}  # fmt: skip
_BINARY = {
    "cdot": "·", "times": "×", "div": "÷", "pm": "±", "mp": "∓", "ast": "∗", "star": "⋆", "circ": "∘",
    "odot": "⊙", "oplus": "⊕", "otimes": "⊗", "cup": "∪", "cap": "∩",
    "setminus": "∖", "land": "∧", "lor": "∨",
}  # fmt: skip
_RELATIONS = {
    "le": "≤", "leq": "≤", "ge": "≥", "geq": "≥", "ne": "≠", "neq": "≠", "approx": "≈", "equiv": "≡",
    "sim": "∼", "simeq": "≃", "propto": "∝", "in": "∈", "notin": "∉", "subset": "⊂", "subseteq": "⊆",
    "to": "→", "rightarrow": "→", "leftarrow": "←", "gets": "←", "mapsto": "↦", "Rightarrow": "⇒",
    "Leftrightarrow": "⇔", "iff": "⇔", "implies": "⇒", "ll": "≪", "gg": "≫", "mid": "∣", "parallel": "∥",
    "perp": "⊥", "coloneqq": "≔", "forall": "∀", "exists": "∃",
}  # fmt: skip
_BIG = {"sum": "∑", "prod": "∏", "int": "∫", "bigcup": "⋃", "bigcap": "⋂"}
_OPENING = {
    "lbrace": "{", "lbrack": "[", "langle": "⟨", "lfloor": "⌊", "lceil": "⌈", "lvert": "|", "lVert": "‖",
}  # fmt: skip
_CLOSING = {
    "rbrace": "}", "rbrack": "]", "rangle": "⟩", "rfloor": "⌋", "rceil": "⌉", "rvert": "|", "rVert": "‖",
}  # fmt: skip

SYMBOLS: dict[str, tuple[str, str]] = {
    **{name: (char, "identifier") for name, char in {**_GREEK, **_IDENTIFIERS}.items()},
    **{name: (char, "binary") for name, char in _BINARY.items()},
    **{name: (char, "relation") for name, char in _RELATIONS.items()},
    **{name: (char, "big") for name, char in _BIG.items()},
    **{name: (char, "open") for name, char in _OPENING.items()},
    **{name: (char, "close") for name, char in _CLOSING.items()},
    "Vert": ("‖", "fence"),
    "vert": ("|", "fence"),
    "{": ("{", "open"),
    "}": ("}", "close"),
    "|": ("‖", "fence"),
    **{char: (char, "identifier") for char in "%#&$_"},
}

FUNCTIONS = frozenset({
    "arg", "cos", "cosh", "det", "dim", "exp", "gcd", "inf", "ker", "lim", "ln", "log", "max", "min", "sin",
    "sinh", "sup", "tan", "tanh", "Pr",
})  # fmt: skip

# in em, as LaTeX has them; the negative one of \! is left out
SPACES = {",": 0.17, ":": 0.22, ";": 0.28, " ": 0.33, "!": 0.0, "quad": 1.0, "qquad": 2.0, "enspace": 0.5}

# a combining character for plain text, and the character that MathML puts over the base
ACCENTS = {
    "hat": ("\u0302", "^"), "widehat": ("\u0302", "^"), "bar": ("\u0304", "¯"), "overline": ("\u0304", "¯"),
    "tilde": ("\u0303", "~"), "widetilde": ("\u0303", "~"), "vec": ("\u20d7", "→"), "dot": ("\u0307", "˙"),
    "ddot": ("\u0308", "¨"),
}  # fmt: skip

# opening fence, closing fence
ENVIRONMENTS = {
    "matrix": ("", ""), "bmatrix": ("[", "]"), "pmatrix": ("(", ")"), "Bmatrix": ("{", "}"),
    "vmatrix": ("|", "|"), "Vmatrix": ("‖", "‖"), "cases": ("{", ""), "aligned": ("", ""),
}  # fmt: skip

STYLES = frozenset({"mathbf", "boldsymbol", "mathrm", "mathit", "mathbb", "mathcal", "mathsf", "mathtt"})

# Letters that Unicode had before the alphabets, which therefore have holes there.
_EXCEPTIONS = {
    "mathbb": {"C": "ℂ", "H": "ℍ", "N": "ℕ", "P": "ℙ", "Q": "ℚ", "R": "ℝ", "Z": "ℤ"},
    "mathcal": {"B": "ℬ", "E": "ℰ", "F": "ℱ", "H": "ℋ", "I": "ℐ", "L": "ℒ", "M": "ℳ",
                "R": "ℛ", "e": "ℯ", "g": "ℊ", "o": "ℴ"},
}  # fmt: skip
# first code points of capitals, small letters, digits, Greek capitals, Greek small letters
_ALPHABETS = {
    "mathbf": (0x1D400, 0x1D41A, 0x1D7CE, 0x1D6A8, 0x1D6C2),
    "boldsymbol": (0x1D468, 0x1D482, 0x1D7CE, 0x1D71C, 0x1D736),
    "mathbb": (0x1D538, 0x1D552, 0x1D7D8, 0, 0),
    "mathcal": (0x1D49C, 0x1D4B6, 0, 0, 0),
    "mathsf": (0x1D5A0, 0x1D5BA, 0x1D7E2, 0, 0),
    "mathtt": (0x1D670, 0x1D68A, 0x1D7F6, 0, 0),
}


def styled(style: str, character: str) -> str:
    """Return a character in a mathematical alphabet, or itself where the alphabet lacks it."""
    if character in _EXCEPTIONS.get(style, {}):
        return _EXCEPTIONS[style][character]
    starts = _ALPHABETS.get(style)
    if starts is None:
        return character
    ranges = (("A", "Z"), ("a", "z"), ("0", "9"), ("Α", "Ω"), ("α", "ω"))
    for start, (low, high) in zip(starts, ranges, strict=True):
        if start and low <= character <= high:
            return chr(start + ord(character) - ord(low))
    return character


# What Unicode has: no raised q, and only some lowered letters.
SUPERSCRIPT = dict(
    zip(
        "0123456789+-=()abcdefghijklmnoprstuvwxyzABDEGHIJKLMNOPRTUVW⊤′",
        "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻᴬᴮᴰᴱᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᴿᵀᵁⱽᵂᵀ′",
        strict=True,
    )
)
SUBSCRIPT = dict(
    zip("0123456789+-=()aehijklmnoprstuvxβγρφχ", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓᵦᵧᵨᵩᵪ", strict=True)
)

# A matrix of 12 by 12 numbers with its macros is half as long.
MAX_LENGTH = 4000
# The parser and both writers recurse some times for each level; a formula of a lecture has about five.
MAX_DEPTH = 24
# Stands for a number that is put in later, see engine.prose.maths.mathml.
HOLE = "\uf8ff"


class MathsError(ValueError):
    """LaTeX maths outside our subset; the text names the fault and its place."""


@dataclass(frozen=True, slots=True)
class AtomNode:
    """One symbol, number, function name, space or text.

    ``kind`` is identifier, number, function, text, binary, relation, punctuation, open, close,
    fence, big or space. In every node ``spaced`` says that white space stood before it in the source: TeX
    ignores it, but in plain text it tells ``f (x)`` from ``f(x)``.
    """

    text: str
    kind: str
    spaced: bool = False


@dataclass(frozen=True, slots=True)
class RowNode:
    """Nodes side by side."""

    children: tuple[Node, ...]
    spaced: bool = False


@dataclass(frozen=True, slots=True)
class ScriptNode:
    """A base with a subscript, a superscript or both."""

    base: Node
    sub: Node | None
    sup: Node | None
    spaced: bool = False


@dataclass(frozen=True, slots=True)
class FractionNode:
    """A fraction."""

    top: Node
    bottom: Node
    spaced: bool = False


@dataclass(frozen=True, slots=True)
class RootNode:
    """A square root."""

    body: Node
    spaced: bool = False


@dataclass(frozen=True, slots=True)
class AccentNode:
    """A base under a mark; ``mark`` is the macro's name."""

    base: Node
    mark: str
    spaced: bool = False


@dataclass(frozen=True, slots=True)
class StyledNode:
    """A body in an alphabet; ``style`` is the macro's name."""

    body: Node
    style: str
    spaced: bool = False


@dataclass(frozen=True, slots=True)
class FencedNode:
    """A body between stretching fences."""

    opening: str
    body: Node
    closing: str
    spaced: bool = False


@dataclass(frozen=True, slots=True)
class TableNode:
    """A matrix, cases or aligned lines."""

    environment: str
    rows: tuple[tuple[Node, ...], ...]
    spaced: bool = False


Node = (
    AtomNode | RowNode | ScriptNode | FractionNode | RootNode
    | AccentNode | StyledNode | FencedNode | TableNode
)  # fmt: skip

_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\d+(?:\.\d+)?|\s+|.", re.DOTALL)
_KINDS = {
    **dict.fromkeys("+-*/", "binary"),
    **dict.fromkeys("=<>:", "relation"),
    **dict.fromkeys(",;", "punctuation"),
    **dict.fromkeys("([", "open"),
    **dict.fromkeys(")]", "close"),
    "|": "fence",
    **dict.fromkeys(".!?", "identifier"),
}


@lru_cache(maxsize=4096)
def parse_maths(source: str) -> RowNode:
    """Return the tree of a formula.

    Raises
    ------
    MathsError
        Unbalanced braces, unknown macros, stray characters, or a formula that is too long or too deep.
    """
    if len(source) > MAX_LENGTH:
        raise MathsError(f"the formula is longer than {MAX_LENGTH} characters")
    reader = _Reader(source)
    row = reader.row(frozenset())
    if reader.here is not None:
        raise reader.fault(f"{reader.here} has no partner")
    return row


@dataclass
class _Reader:
    source: str
    tokens: list[str] = field(default_factory=list)
    position: int = 0
    depth: int = 0

    def __post_init__(self) -> None:
        self.tokens = _TOKEN.findall(self.source)

    @property
    def here(self) -> str | None:
        return self.tokens[self.position] if self.position < len(self.tokens) else None

    def take(self) -> str:
        token = self.here
        if token is None:
            raise self.fault("the formula ends too early")
        self.position += 1
        return token

    def skip_space(self) -> bool:
        start = self.position
        while (token := self.here) is not None and token.isspace():
            self.position += 1
        return self.position > start

    def fault(self, message: str) -> MathsError:
        place = len("".join(self.tokens[: self.position]))
        around = self.source[max(0, place - 15) : place + 15].strip()
        return MathsError(f"{message} (near {around!r})")

    def row(self, ends: frozenset[str]) -> RowNode:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.fault(f"the formula is nested deeper than {MAX_DEPTH}")
        children: list[Node] = []
        while True:
            spaced = self.skip_space()
            token = self.here
            if token is None or token in ends or token in ("}", "&", "\\\\", "\\right", "\\end"):
                break
            children.append(self.scripted(spaced))
        self.depth -= 1
        return RowNode(tuple(children))

    def scripted(self, spaced: bool) -> Node:
        base = self.atom(spaced)
        sub: Node | None = None
        sup: Node | None = None
        primes = 0
        while True:
            if self.here == "'":
                self.take()
                primes += 1
            elif self.here in ("_", "^"):
                mark = self.take()
                if (sub if mark == "_" else sup) is not None:
                    raise self.fault(f"two {mark} on one base")
                script = self.argument(f"after {mark}", script=True)
                sub, sup = (script, sup) if mark == "_" else (sub, script)
            else:
                break
        if primes:
            marks = AtomNode("′" * primes, "identifier")
            sup = marks if sup is None else RowNode((marks, sup))
        return base if sub is None and sup is None else ScriptNode(base, sub, sup, spaced)

    def argument(self, where: str, script: bool = False) -> Node:
        self.skip_space()
        token = self.here
        if token is None or token in ("}", "&", "\\\\", "^", "_"):
            raise self.fault(f"something is missing {where}")
        if token == "{":
            return self.group()
        # TeX takes one character: x^10 shows a raised 1 and a 0 after it, which nobody means
        if script and (token in "+-" or (token[0].isdigit() and len(token) > 1)):
            raise self.fault(f"put braces around {token!r}… {where}")
        if not script and token[0].isdigit() and len(token) > 1:
            raise self.fault(f"put braces around {token!r} {where}")
        return self.atom(False)

    def group(self) -> RowNode:
        self.take()
        row = self.row(frozenset())
        if self.here != "}":
            raise self.fault("a brace isn't closed")
        self.take()
        return row

    def atom(self, spaced: bool) -> Node:
        token = self.here or ""
        if token == "{":
            return RowNode(self.group().children, spaced)
        if token in ("_", "^", "'"):
            return RowNode((), spaced)  # a script on nothing, e.g. {}^\top
        self.take()
        if token.startswith("\\"):
            return self.macro(token[1:], spaced)
        if token[0].isdigit() or token == HOLE:
            return AtomNode(token, "number", spaced)
        if token in _KINDS:
            return AtomNode(token, _KINDS[token], spaced)
        if token.isalpha() or token in "…′·×≤≥≠≈→∈−":
            return AtomNode(token, "identifier" if token.isalpha() or token in "…′" else "relation", spaced)
        self.position -= 1
        raise self.fault(f"{token!r} isn't allowed in a formula")

    def macro(self, name: str, spaced: bool) -> Node:
        if name in SYMBOLS:
            return AtomNode(*SYMBOLS[name], spaced)
        if name in FUNCTIONS:
            return AtomNode(name, "function", spaced)
        if name in SPACES:
            return AtomNode(name, "space", spaced)
        if name in STYLES:
            return StyledNode(self.argument(f"after \\{name}"), name, spaced)
        if name in ACCENTS:
            return AccentNode(self.argument(f"after \\{name}"), name, spaced)
        if name == "frac":
            return FractionNode(self.argument("in \\frac"), self.argument("in \\frac"), spaced)
        if name == "sqrt":
            return RootNode(self.argument("after \\sqrt"), spaced)
        if name in ("text", "textbf", "operatorname"):
            return AtomNode(self.raw(name), "function" if name == "operatorname" else "text", spaced)
        if name == "left":
            return self.fenced(spaced)
        if name == "begin":
            return self.table(spaced)
        self.position -= 1
        raise self.fault(f"unknown macro \\{name}")

    def raw(self, name: str) -> str:
        if self.take() != "{":
            raise self.fault(f"\\{name} needs braces")
        words: list[str] = []
        while (token := self.take()) != "}":
            if token == "{" or (token.startswith("\\") and token[1:] not in ("%", "#", "&", "$", "_")):
                raise self.fault(f"\\{name} holds words only")
            words.append(token.lstrip("\\"))
        return "".join(words)

    def fence(self) -> str:
        self.skip_space()
        token = self.take()
        if token in ("(", ")", "[", "]", "|", "."):
            return "" if token == "." else token
        if token[0] == "\\" and SYMBOLS.get(token[1:], ("", ""))[1] in ("open", "close", "fence"):
            return SYMBOLS[token[1:]][0]
        raise self.fault(f"{token} isn't a bracket for \\left or \\right")

    def fenced(self, spaced: bool) -> Node:
        opening = self.fence()
        body = self.row(frozenset())
        if self.here != "\\right":
            raise self.fault("\\left has no \\right")
        self.take()
        return FencedNode(opening, body, self.fence(), spaced)

    def table(self, spaced: bool) -> Node:
        name = self.raw("begin")
        if name not in ENVIRONMENTS:
            raise self.fault(f"unknown environment {name}")
        rows: list[tuple[Node, ...]] = []
        cells: list[Node] = []
        while True:
            cells.append(self.row(frozenset()))
            token = self.take()
            if token == "&":
                continue
            rows.append(tuple(cells))
            cells = []
            if token == "\\\\":
                continue
            if token != "\\end" or self.raw("end") != name:
                raise self.fault(f"\\begin{{{name}}} isn't ended")
            break
        if rows and rows[-1] == (RowNode(()),):
            rows.pop()  # a trailing \\
        if not rows or (name not in ("cases", "aligned") and len({len(row) for row in rows}) != 1):
            raise self.fault(f"the rows of {name} differ in length")
        return TableNode(name, tuple(rows), spaced)
