"""Where the expressions of a problem file stand, and which names each of them may use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from engine.spec.checks.reading import ExpressionSite, Reading, Where, mapping

__all__ = ["expression_sites"]


def expression_sites(reading: Reading) -> Iterator[ExpressionSite]:
    """Yield every expression of the file.

    Sizes see the parameters above them; derived values the parameters and the derived values above;
    constraints and keys all of them; a step also the values of the steps above it, and its invariants
    and misconceptions its own. Only a step whose answer has a value (a number, a word) is a name.
    """
    yield from _sizes(reading)
    yield from _derived(reading)
    values = reading.values()
    for where, _ in reading.entries("constraints"):
        yield from _at(reading, (*where, "expr"), values)
    for where, _ in reading.entries("claims"):
        yield from _at(reading, (*where, "holds"), values | reading.keys())
    yield from _answer(reading, ("answer",), values)
    yield from _at(reading, ("printed", "expr"), values)
    yield from _misconceptions(reading, (), values)
    yield from _steps(reading, values, reading.keys() - {"key"})


def _sizes(reading: Reading) -> Iterator[ExpressionSite]:
    parameters = mapping(reading.at("parameters"))
    names = list(parameters)
    for index, name in enumerate(names):
        above, later = frozenset(names[:index]), frozenset(names[index:])
        yield from _at(reading, ("parameters", name, "size"), above, later)
        for where, _ in reading.entries("parameters", name, "shape"):
            yield from _at(reading, where, above, later)


def _derived(reading: Reading) -> Iterator[ExpressionSite]:
    names = list(mapping(reading.at("derived")))
    parameters = frozenset(mapping(reading.at("parameters")))
    for index, name in enumerate(names):
        yield from _at(reading, ("derived", name), parameters | set(names[:index]), frozenset(names[index:]))


def _steps(reading: Reading, values: frozenset[str], steps: frozenset[str]) -> Iterator[ExpressionSite]:
    above = values
    for where, _ in reading.entries("steps"):
        name = reading.at(*where, "id")
        own = above | ({name} & steps) if isinstance(name, str) else above
        yield from _answer(reading, (*where, "answer"), above, steps)
        for place, _ in reading.entries(*where, "invariants"):
            yield from _at(reading, place, own, steps)
        yield from _misconceptions(reading, where, own, steps)
        above = own


def _answer(
    reading: Reading, answer: Where, names: frozenset[str], later: frozenset[str] = frozenset()
) -> Iterator[ExpressionSite]:
    """Yield the key, and the conditions of options, cards, prompts and targets."""
    yield from _at(reading, (*answer, "key"), names, later)
    for pool in ("options", "cards", "prompts", "targets"):
        for where, _ in reading.entries(*answer, pool):
            yield from _at(reading, (*where, "when"), names, later)


def _misconceptions(
    reading: Reading, holder: Where, names: frozenset[str], later: frozenset[str] = frozenset()
) -> Iterator[ExpressionSite]:
    for where, _ in reading.entries(*holder, "misconceptions"):
        yield from _at(reading, (*where, "expr"), names, later)


def _at(
    reading: Reading, loc: Where, names: frozenset[str], later: frozenset[str] = frozenset()
) -> Iterator[ExpressionSite]:
    value: Any = reading.at(*loc)
    if isinstance(value, str) and value.strip():
        yield ExpressionSite(loc, value, names, later - names)
