"""The numbers of a formula taken out, so that a formula is parsed once for all variants.

Two variants of ``[0.3, -1.2]`` differ in their digits only.  Numbers that stand free (in no braces,
no script, after no macro that takes an argument) become holes; the formula with holes is rendered once
and kept, and the numbers are put in as they come.
"""

from __future__ import annotations

import re
from functools import lru_cache

from engine.variants.maths.mathml import displayed, mathml
from engine.variants.maths.parser import HOLE, parse_maths
from engine.variants.maths.plain import plain_maths
from engine.variants.maths.symbols import FUNCTIONS, SPACES, SYMBOLS

__all__ = ["maths_forms", "split_numbers"]

_TOKEN = re.compile(
    r"(?P<space>\s+)|(?P<edge>\\(?:begin|end)\{[a-zA-Z]*\})|(?P<macro>\\[A-Za-z]+|\\.)"
    r"|(?P<number>\d+(?:\.\d+)?)|(?P<other>.)",
    re.DOTALL,
)
# after these a minus sign belongs to the number behind it
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
                at = max(i for i, part in enumerate(parts) if part == "-")
                del parts[at]
                token = "-" + token
            numbers.append(token)
            parts.append(HOLE)
        else:
            parts.append(token)
        depth += (token == "{") - (token == "}")
        before, before_that = "edge" if kind == "edge" else token, before
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
    if HOLE in source:
        parse_maths(source.replace(HOLE, "\0"))  # raises: nobody may type a hole
    skeleton, numbers = split_numbers(source)
    plain, elements = _skeleton_forms(skeleton, display)
    return _filled(plain, numbers), _filled(elements, [_element(number) for number in numbers])


@lru_cache(maxsize=4096)
def _skeleton_forms(skeleton: str, display: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    elements = displayed(skeleton) if display else mathml(skeleton)
    return tuple(plain_maths(skeleton).split(HOLE)), tuple(elements.split(HOLE))


def _element(number: str) -> str:
    if number.startswith("-"):
        return f"<mrow><mo>−</mo><mn>{number[1:]}</mn></mrow>"
    return f"<mn>{number}</mn>"


def _filled(pieces: tuple[str, ...], numbers: list[str]) -> str:
    if not numbers:
        return pieces[0]
    return pieces[0] + "".join(f"{number}{piece}" for number, piece in zip(numbers, pieces[1:], strict=True))
