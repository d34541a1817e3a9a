"""Expressions that items of this kind ask for, filled with the numbers of a text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations

from engine.exchange.keys.stem_numbers import Value

__all__ = ["expressions"]

_OF_VECTOR = (
    "softmax({v})",
    "mean({v})",
    "norm({v})",
    "sum({v})",
    "prod({v})",
    "tanh({v})",
    "sigmoid({v})",
    "max({v})",
)
_OF_PAIR = (
    "dot({u}, {v})",
    "dot({u}, {v}) / sqrt({n})",
    "tanh(dot({u}, {v}))",
    "sigmoid(dot({u}, {v}))",
    "dot({u}, {v}) / (norm({u}) * norm({v}))",
    "{u} + {v}",
)
_OF_ORDERED_PAIR = ("dot(softmax({u}), {v})", "{u} - {v}")
_OF_NUMBER = ("tanh({x})", "sigmoid({x})", "exp({x})", "log({x})", "sqrt({x})", "log2({x})")
_OF_NUMBERS = ("{x} * {y}", "{x} + {y}")
_OF_ORDERED_NUMBERS = ("{x} / sqrt({y})", "{x} - {y}", "{x} / {y}")
_BY_ROWS = ("context({v}, {M})", "context(softmax({v}), {M})")
_BY_COLUMNS = (
    "matvec({M}, {v})",
    "tanh(matvec({M}, {v}))",
    "scaled_dot_scores({v}, {M})",
    "softmax(dot_scores({v}, {M}))",
    "softmax(scaled_dot_scores({v}, {M}))",
)


def expressions(values: Sequence[Value]) -> Iterator[str]:
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


def _attention(vectors: Sequence[Value], matrices: Sequence[Value]) -> Iterator[str]:
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
