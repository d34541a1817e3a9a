"""Suggests key expressions for numbers that an author typed as the key.

A typed key can't be checked and its numbers can't be drawn. So the numbers of the question's text are put
into the expressions that items on attention usually ask for; those that give the typed key are suggested in
a comment of the imported file, such as ``key: "softmax([1, 2, 0.5])"``. Nothing is changed by itself: that
two values agree doesn't prove that the author meant this expression.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice, permutations

from engine.errors import ExpressionError

# Bounds of the search: pairs of values are combined, so the work grows with the square of their number.
_MAX_TEXT = 6000
_MAX_VALUES = 10
_MAX_SIDE = 16
# Possessive throughout: no part gives back what it has read, so that a text is read in linear time.
_NUMBER = r"[-+]?(?:\d{1,12}+(?:\.\d{0,12}+)?+|\.\d{1,12}+)(?:[eE][-+]?\d{1,2}+)?+"
_SINGLE = re.compile(_NUMBER)
_GAP = r"(?:\s*+[,;]\s*+|\s++)"
_ROW = rf"[\[(]\s*+{_NUMBER}(?:{_GAP}{_NUMBER}){{0,{_MAX_SIDE}}}+\s*+[,;]?\s*+[\])]"
_VECTOR = re.compile(rf"[\[(]\s*+({_NUMBER}(?:{_GAP}{_NUMBER}){{1,{_MAX_SIDE}}}+)\s*+[\])]")
_ROWS = re.compile(rf"[\[(]\s*+({_ROW}(?:{_GAP}{_ROW}){{0,{_MAX_SIDE}}}+)\s*+[\])]")
_MATRIX = re.compile(
    r"\\begin\s*\{([bpvBV]?matrix|array)\}(?:\{[lcr| ]*\})?(.{0,1500}?)\\end\s*\{\1\}", re.DOTALL
)
_SERIES = re.compile(
    rf"(?<![\w.^_{{])({_NUMBER}(?:,\s+{_NUMBER}){{1,14}}(?:,?\s+(?:and|und|or|&)\s+{_NUMBER})?)(?![\w^])"
)
_PAIR = re.compile(rf"(?<![\w.^_{{])({_NUMBER}\s+(?:and|und)\s+{_NUMBER})(?![\w^])")
_SCALAR = re.compile(rf"(?<![\w.^_{{])({_NUMBER})(?![\w^]|\.\d)")
_ROUNDING = re.compile(
    r"(?<!\d)\d++\s*+(?:decimal|digit|place|significant|Nachkomma|Dezimal|Stelle|décimale|cifra|decimali)\w*+",
    re.IGNORECASE,
)
_SPACING = re.compile(r"(?<!\\)\\(?:left|right|bigl?|bigr?|displaystyle|quad|qquad|[,;:! ])(?![A-Za-z])|~")


@dataclass(frozen=True, slots=True)
class StemValue:
    """A number, vector or matrix with the digits that the text shows.

    Parameters
    ----------
    rows : tuple of tuple of str
        The entries; one row for a vector, one entry in it for a number.
    kind : str
        ``number``, ``vector`` or ``matrix``.
    """

    kind: str
    rows: tuple[tuple[str, ...], ...]

    @property
    def expression(self) -> str:
        """The value as an expression writes it."""
        if self.kind == "number":
            return self.rows[0][0]
        rows = ["[" + ", ".join(row) + "]" for row in self.rows]
        return rows[0] if self.kind == "vector" else "[" + ", ".join(rows) + "]"

    @property
    def size(self) -> int:
        """Number of entries of a vector, of rows of a matrix."""
        return len(self.rows[0]) if self.kind == "vector" else len(self.rows)


def find_values(text: str) -> list[StemValue]:
    """Return the values of a text, each once; the larger ones first, and their entries aren't found again."""
    text = _ROUNDING.sub(" ", _normal(text))
    values: list[StemValue] = []
    for pattern, read in (
        (_MATRIX, _from_matrix),
        (_ROWS, _from_rows),
        (_VECTOR, _from_series),
        (_SERIES, _from_series),
        (_PAIR, _from_series),
        (_SCALAR, _from_series),
    ):
        values += [value for match in pattern.finditer(text) for value in read(match)]
        # a pair may be two numbers as well
        text = text if pattern is _PAIR else pattern.sub(" ; ", text)
    return list(dict.fromkeys(values))[:_MAX_VALUES]


def read_value(text: str) -> StemValue | None:
    """Return the value that a text is, None if it is anything else."""
    text = _normal(text).strip().strip("$").strip()
    if _SINGLE.fullmatch(text):
        return StemValue("number", ((_digits(text),),))
    for pattern, read in ((_MATRIX, _from_matrix), (_ROWS, _from_rows), (_VECTOR, _from_series)):
        match = pattern.fullmatch(text.removesuffix("^T").removesuffix("^\\top").strip())
        if match is not None:
            return next(iter(read(match)), None)
    return None


def _normal(text: str) -> str:
    text = text[:_MAX_TEXT].replace("\u2212", "-").replace("−", "-")
    return _SPACING.sub(" ", text)


def _digits(number: str) -> str:
    number = number.lstrip("+")
    whole = re.sub(r"^(-?)\.", r"\g<1>0.", number)
    return whole.rstrip(".") if whole.endswith(".") else whole.replace(".e", "e").replace(".E", "E")


def _numbers(text: str) -> tuple[str, ...]:
    return tuple(_digits(match[0]) for match in _SINGLE.finditer(text))


def _from_matrix(match: re.Match[str]) -> Iterator[StemValue]:
    rows = [row for row in match[2].split("\\\\") if row.strip()]
    cells = [[cell.strip() for cell in row.split("&")] for row in rows]
    if all(_SINGLE.fullmatch(cell) for row in cells for cell in row):
        yield from _shaped([tuple(map(_digits, row)) for row in cells])


def _from_rows(match: re.Match[str]) -> Iterator[StemValue]:
    yield from _shaped([_numbers(row) for row in re.findall(_ROW, match[1])])


def _from_series(match: re.Match[str]) -> Iterator[StemValue]:
    yield from _shaped([_numbers(match[1])])


def _shaped(rows: list[tuple[str, ...]]) -> Iterator[StemValue]:
    """Yield the value of some rows: a column is a vector, and so is a single row."""
    if not rows or not rows[0] or len({len(row) for row in rows}) != 1 or len(rows) > _MAX_SIDE:
        return
    if len(rows[0]) > _MAX_SIDE or any(len(entry) > 16 for row in rows for entry in row):
        return
    if len(rows) > 1 and len(rows[0]) == 1:
        rows = [tuple(row[0] for row in rows)]
    if len(rows) > 1:
        yield StemValue("matrix", tuple(rows))
    else:
        yield StemValue("vector" if len(rows[0]) > 1 else "number", tuple(rows))


_OF_VECTOR = (
    "softmax({v})", "mean({v})", "norm({v})", "sum({v})", "prod({v})", "tanh({v})", "sigmoid({v})",
    "max({v})",
)  # fmt: skip
_OF_PAIR = (
    "dot({u}, {v})", "dot({u}, {v}) / sqrt({n})", "tanh(dot({u}, {v}))", "sigmoid(dot({u}, {v}))",
    "dot({u}, {v}) / (norm({u}) * norm({v}))", "{u} + {v}",
)  # fmt: skip
_OF_ORDERED_PAIR = ("dot(softmax({u}), {v})", "{u} - {v}")
_OF_NUMBER = ("tanh({x})", "sigmoid({x})", "exp({x})", "log({x})", "sqrt({x})", "log2({x})")
_OF_NUMBERS = ("{x} * {y}", "{x} + {y}")
_OF_ORDERED_NUMBERS = ("{x} / sqrt({y})", "{x} - {y}", "{x} / {y}")
_BY_ROWS = ("context({v}, {M})", "context(softmax({v}), {M})")
_BY_COLUMNS = (
    "matvec({M}, {v})", "tanh(matvec({M}, {v}))", "scaled_dot_scores({v}, {M})",
    "softmax(dot_scores({v}, {M}))", "softmax(scaled_dot_scores({v}, {M}))",
)  # fmt: skip


def expressions(values: Sequence[StemValue]) -> Iterator[str]:
    """Yield expressions with the values of a text in them, the most telling ones first."""
    numbers = [value for value in values if value.kind == "number"]
    vectors = [value for value in values if value.kind == "vector"]
    matrices = [value for value in values if value.kind == "matrix"]
    yield from _attention(vectors, matrices)
    for u, v in permutations(vectors, 2):
        fitting = _OF_ORDERED_PAIR if vectors.index(u) > vectors.index(v) else _OF_PAIR + _OF_ORDERED_PAIR
        for template in fitting if u.size == v.size else ():
            yield template.format(u=u.expression, v=v.expression, n=u.size)
    for v in vectors:
        for template in _OF_VECTOR:
            yield template.format(v=v.expression)
    for x in numbers:
        for template in _OF_NUMBER:
            yield template.format(x=_operand(x.expression))
    if len(numbers) > 2:
        yield " * ".join(_operand(x.expression) for x in numbers)
        yield " + ".join(_operand(x.expression) for x in numbers)
    for x, y in permutations(numbers, 2):
        backwards = numbers.index(x) > numbers.index(y)
        for template in _OF_ORDERED_NUMBERS if backwards else _OF_NUMBERS + _OF_ORDERED_NUMBERS:
            yield template.format(x=_operand(x.expression), y=_operand(y.expression))


def _attention(vectors: Sequence[StemValue], matrices: Sequence[StemValue]) -> Iterator[str]:
    for matrix in matrices:
        for vector in vectors:
            fitting = _BY_ROWS if vector.size == matrix.size else ()
            for template in (*fitting, *(_BY_COLUMNS if vector.size == len(matrix.rows[0]) else ())):
                yield template.format(v=vector.expression, M=matrix.expression)
        yield f"softmax({matrix.expression})"
    for keys, values in permutations(matrices, 2):
        for query in vectors:
            if query.size == len(keys.rows[0]) and keys.size == values.size:
                yield f"sdpa({query.expression}, {keys.expression}, {values.expression})"


def _operand(number: str) -> str:
    return f"({number})" if number.startswith("-") else number


MOST_TRIED = 300  # evaluations for one question: some 50 ms
MOST_SHOWN = 2  # of more than two that agree, none is telling
TYPED_BY_HAND = "key typed by hand: give a key expression"
_WITH_IT = {
    "single_choice": "  with 'distractors' that are known mistakes, and 'decimals'",
    "number": "  with 'decimals' and without 'tolerance', as rounding is then allowed for",
}
_NOISE = 1e-9  # rounding errors of doubles, relative


@dataclass(frozen=True, slots=True)
class AuthorKey:
    """A right answer as its author typed it, and the answer type that its expression would have."""

    type: str
    text: str


def suggestion_lines(words: str, key: AuthorKey | None) -> list[str]:
    """Return comment lines for a key that could be recomputed.

    Parameters
    ----------
    words : str
        The question's text, formulas as LaTeX.
    key : AuthorKey or None
        The right answer; there are no lines unless it is a number, vector or matrix and the text has numbers.
    """
    value = read_value(key.text) if key is not None else None
    values = find_values(words)
    if key is None or value is None or not values:
        return []
    lines = [f"{TYPED_BY_HAND}, so that it is recomputed and the numbers can be drawn"]
    expressions_found = suggested_expressions(values, value)
    if expressions_found:
        lines.append(
            "These expressions give it from the numbers of the text:"
            if len(expressions_found) > 1
            else "This expression gives it from the numbers of the text:"
        )
        lines += [f'  key: "{expression}"' for expression in expressions_found]
        lines.append(_WITH_IT[key.type])
    return lines


def suggested_expressions(values: Sequence[StemValue], key: StemValue) -> list[str]:
    """Return at most two expressions of the values that give the key, rounded to its digits.

    Where some give it exactly, those that only round to it are left out.
    """
    matches = list(_matching(values, key))
    exact = [text for text, is_exact in matches if is_exact]
    return (exact or [text for text, _ in matches])[:MOST_SHOWN]


def _matching(values: Sequence[StemValue], key: StemValue) -> Iterator[tuple[str, bool]]:
    from engine.expressions.language import evaluate, require_finite
    from engine.expressions.values import array_of

    entries = [Decimal(entry) for row in key.rows for entry in row]
    shape = {"number": (), "vector": (len(entries),), "matrix": (len(key.rows), len(key.rows[0]))}[key.kind]
    # one figure, such as 1, is the rounded value of too many expressions
    rounds_to = _rounds_to if _is_telling(entries) else _equals
    for text in islice(expressions(values), MOST_TRIED):
        try:
            array = array_of(require_finite(evaluate(text, {}), text))
        except (ExpressionError, TypeError, ValueError):
            continue
        if array.shape == shape and all(map(rounds_to, array.data, entries)):
            yield text, all(map(_equals, array.data, entries))
        # a number may be asked for that is one entry of a vector, if only one fits
        elif shape == () and len(array.shape) == 1 and text.endswith(")"):
            places = [i for i, entry in enumerate(array.data) if rounds_to(entry, entries[0])]
            if len(places) == 1:
                yield f"{text}[{places[0]}]", _equals(array.data[places[0]], entries[0])


def _rounds_to(value: float, written: Decimal) -> bool:
    exponent = written.as_tuple().exponent
    half = 0.5 * 10.0**exponent if isinstance(exponent, int) and exponent < 0 else 0.0
    return abs(value - float(written)) <= half + _NOISE * max(1.0, abs(value))


def _equals(value: float, written: Decimal) -> bool:
    return abs(value - float(written)) <= _NOISE * max(1.0, abs(value))


def _is_telling(entries: Sequence[Decimal]) -> bool:
    """Return whether a match is hardly an accident: two figures, or two entries."""
    return len(entries) > 1 or len(entries[0].as_tuple().digits) > 1
