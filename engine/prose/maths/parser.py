"""LaTeX maths into a tree; everything that isn't understood is an error with its place."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache

from engine.variants.maths.symbols import ACCENTS, ENVIRONMENTS, FUNCTIONS, SPACES, STYLES, SYMBOLS

__all__ = [
    "HOLE",
    "Accent",
    "Atom",
    "Fenced",
    "Fraction",
    "MathsError",
    "Node",
    "Root",
    "Row",
    "Script",
    "Styled",
    "Table",
    "parse_maths",
]

MAX_LENGTH = 4000
# stands for a number that is put in later, see engine.variants.maths.numbers
HOLE = "\uf8ff"
MAX_DEPTH = 24


class MathsError(ValueError):
    """LaTeX maths outside our subset; the text names the fault and where it stands."""


@dataclass(frozen=True, slots=True)
class Atom:
    """One symbol, number, function name, space or text.

    ``kind`` is identifier, number, function, text, binary, relation, punctuation, open, close,
    fence, big or space.
    """

    text: str
    kind: str
    spaced: bool = False  # white space stood before it in the source


@dataclass(frozen=True, slots=True)
class Row:
    """Nodes side by side."""

    children: tuple[Node, ...]
    spaced: bool = False


@dataclass(frozen=True, slots=True)
class Script:
    """A base with a subscript, a superscript or both."""

    base: Node
    sub: Node | None
    sup: Node | None
    spaced: bool = False


@dataclass(frozen=True, slots=True)
class Fraction:
    """A fraction."""

    top: Node
    bottom: Node
    spaced: bool = False


@dataclass(frozen=True, slots=True)
class Root:
    """A square root."""

    body: Node
    spaced: bool = False


@dataclass(frozen=True, slots=True)
class Accent:
    """A base under a mark; ``mark`` is the macro's name."""

    base: Node
    mark: str
    spaced: bool = False


@dataclass(frozen=True, slots=True)
class Styled:
    """A body in an alphabet; ``style`` is the macro's name."""

    body: Node
    style: str
    spaced: bool = False


@dataclass(frozen=True, slots=True)
class Fenced:
    """A body between stretching fences."""

    opening: str
    body: Node
    closing: str
    spaced: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A matrix, cases or aligned lines."""

    environment: str
    rows: tuple[tuple[Node, ...], ...]
    spaced: bool = False


Node = Atom | Row | Script | Fraction | Root | Accent | Styled | Fenced | Table

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
def parse_maths(source: str) -> Row:
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
    at: int = 0
    depth: int = 0

    def __post_init__(self) -> None:
        self.tokens = _TOKEN.findall(self.source)

    # --- tokens

    @property
    def here(self) -> str | None:
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def take(self) -> str:
        token = self.here
        if token is None:
            raise self.fault("the formula ends too early")
        self.at += 1
        return token

    def skip_space(self) -> bool:
        start = self.at
        while (token := self.here) is not None and token.isspace():
            self.at += 1
        return self.at > start

    def fault(self, what: str) -> MathsError:
        place = len("".join(self.tokens[: self.at]))
        around = self.source[max(0, place - 15) : place + 15].strip()
        return MathsError(f"{what} (near {around!r})")

    # --- grammar

    def row(self, ends: frozenset[str]) -> Row:
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
        return Row(tuple(children))

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
            marks = Atom("′" * primes, "identifier")
            sup = marks if sup is None else Row((marks, sup))
        return base if sub is None and sup is None else Script(base, sub, sup, spaced)

    def argument(self, where: str, script: bool = False) -> Node:
        self.skip_space()
        token = self.here
        if token is None or token in ("}", "&", "\\\\", "^", "_"):
            raise self.fault(f"something is missing {where}")
        if token == "{":
            return self.group()
        if script and (token in "+-" or (token[0].isdigit() and len(token) > 1)):
            raise self.fault(f"put braces around {token!r}… {where}")
        if not script and token[0].isdigit() and len(token) > 1:
            raise self.fault(f"put braces around {token!r} {where}")
        return self.atom(False)

    def group(self) -> Row:
        self.take()
        row = self.row(frozenset())
        if self.here != "}":
            raise self.fault("a brace isn't closed")
        self.take()
        return row

    def atom(self, spaced: bool) -> Node:
        token = self.here or ""
        if token == "{":
            return Row(self.group().children, spaced)
        if token in ("_", "^", "'"):
            return Row((), spaced)  # a script on nothing, e.g. {}^\top
        self.take()
        if token.startswith("\\"):
            return self.macro(token[1:], spaced)
        if token[0].isdigit() or token == HOLE:
            return Atom(token, "number", spaced)
        if token in _KINDS:
            return Atom(token, _KINDS[token], spaced)
        if token.isalpha() or token in "…′·×≤≥≠≈→∈−":
            return Atom(token, "identifier" if token.isalpha() or token in "…′" else "relation", spaced)
        self.at -= 1
        raise self.fault(f"{token!r} isn't allowed in a formula")

    def macro(self, name: str, spaced: bool) -> Node:
        if name in SYMBOLS:
            return Atom(*SYMBOLS[name], spaced)
        if name in FUNCTIONS:
            return Atom(name, "function", spaced)
        if name in SPACES:
            return Atom(name, "space", spaced)
        if name in STYLES:
            return Styled(self.argument(f"after \\{name}"), name, spaced)
        if name in ACCENTS:
            return Accent(self.argument(f"after \\{name}"), name, spaced)
        if name == "frac":
            return Fraction(self.argument("in \\frac"), self.argument("in \\frac"), spaced)
        if name == "sqrt":
            return Root(self.argument("after \\sqrt"), spaced)
        if name in ("text", "textbf", "operatorname"):
            return Atom(self.raw(name), "function" if name == "operatorname" else "text", spaced)
        if name == "left":
            return self.fenced(spaced)
        if name == "begin":
            return self.table(spaced)
        self.at -= 1
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
        raise self.fault(f"{token} is no bracket for \\left or \\right")

    def fenced(self, spaced: bool) -> Node:
        opening = self.fence()
        body = self.row(frozenset())
        if self.here != "\\right":
            raise self.fault("\\left has no \\right")
        self.take()
        return Fenced(opening, body, self.fence(), spaced)

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
        if rows and rows[-1] == (Row(()),):
            rows.pop()  # a trailing \\
        if not rows or (name not in ("cases", "aligned") and len({len(row) for row in rows}) != 1):
            raise self.fault(f"the rows of {name} differ in length")
        return Table(name, tuple(rows), spaced)
