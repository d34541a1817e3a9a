"""Where the texts of a problem file stand, and which names each template may use."""

from __future__ import annotations

from collections.abc import Iterator

from engine.spec.checks.reading import ProseSite, Reading, Where

__all__ = ["prose_sites"]

_OF_ANSWERS = (
    ("options", ("text", "feedback")),
    ("cards", ("text",)),
    ("prompts", ("text", "feedback")),
    ("targets", ("text",)),
)


def prose_sites(reading: Reading) -> Iterator[ProseSite]:
    """Yield every text that students see.

    All may show parameters and derived values; feedback and the solution also the keys: ``key``, or
    the steps' ids.
    """
    values = reading.values()
    keys = reading.keys()
    yield from _at(reading, ("stem",), values)
    yield from _at(reading, ("printed", "stem"), values)
    yield from _at(reading, ("solution",), values | keys)
    for where, _ in reading.texts("hints"):
        yield from _at(reading, where, values)
    for where, _ in reading.entries("errata"):
        yield from _at(reading, (*where, "note"), values)
    holders: list[Where] = [(), *(where for where, _ in reading.entries("steps"))]
    for holder in holders:
        yield from _at(reading, (*holder, "prompt"), values)
        for where, _ in reading.entries(*holder, "misconceptions"):
            yield from _at(reading, (*where, "feedback"), values | keys)
    yield from _of_answers(reading, values, keys)


def _of_answers(reading: Reading, values: frozenset[str], keys: frozenset[str]) -> Iterator[ProseSite]:
    for site in reading.answers():
        yield from _at(reading, (*site.loc, "feedback"), values | keys)
        for name, fields in _OF_ANSWERS:
            for where, _ in reading.entries(*site.loc, name):
                for field in fields:
                    names = values | keys if field == "feedback" else values
                    yield from _at(reading, (*where, field), names)


def _at(reading: Reading, loc: Where, names: frozenset[str]) -> Iterator[ProseSite]:
    value = reading.at(*loc)
    if isinstance(value, str):
        yield ProseSite(loc, value, names)
