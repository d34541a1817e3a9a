"""Faults of a source are declared where they are, and refer to what is printed."""

from __future__ import annotations

from collections.abc import Iterator

from engine.errors import Diagnostic
from engine.spec.checks.reading import Reading, Where, mapping
from engine.spec.wording import listed

__all__ = ["check_errata", "check_source"]


def check_errata(reading: Reading) -> Iterator[Diagnostic]:
    """Yield a status that the errata don't bear out, and letters that aren't printed.

    An item that shows the printed exercise and lists errata has the status ``erratum`` (or
    ``disputed``); an item of our own may note a fault of its source and be sound.
    """
    status, errata = reading.at("status"), list(reading.entries("errata"))
    if status == "erratum" and not errata:
        yield reading.fault(("status",), "the status is 'erratum', but 'errata' doesn't say which")
    if status in (None, "ok") and errata and reading.at("printed") is not None:
        yield reading.fault(("errata",), "a printed exercise with errata needs 'status: erratum'", key=True)
    letters = mapping(reading.at("printed", "options"))
    yield from _printed_key(reading, letters)
    seen: set[str] = set()
    for where, _ in errata:
        yield from _erratum(reading, where, letters)
        name = reading.at(*where, "id")
        if isinstance(name, str) and name in seen:
            yield reading.fault((*where, "id"), f"the erratum '{name}' stands above already")
        elif isinstance(name, str):
            seen.add(name)


def _printed_key(reading: Reading, letters: dict[str, object]) -> Iterator[Diagnostic]:
    key = reading.at("printed", "key")
    for where, letter in [(("printed", "key"), key), *reading.entries("printed", "key")]:
        if isinstance(letter, str) and letters and letter not in letters:
            yield reading.fault(where, f"'{letter}' isn't a printed letter; printed are {listed(letters)}")
    for where, _ in reading.entries("errata"):
        if reading.at(*where, "kind") == "no_correct_option" and isinstance(key, str | list):
            message = "an exercise without a correct option has 'key: null'"
            yield reading.fault(("printed", "key"), message, key=True)


def _erratum(reading: Reading, where: Where, letters: dict[str, object]) -> Iterator[Diagnostic]:
    intended = reading.at(*where, "intended_option")
    if isinstance(intended, str) and intended not in letters:
        otherwise = f"; printed are {listed(letters)}" if letters else "; there is no 'printed' exercise here"
        yield reading.fault((*where, "intended_option"), f"'{intended}' isn't a printed letter{otherwise}")
    if reading.at(*where, "accept_intended") is True and intended is None:
        yield reading.fault((*where, "accept_intended"), "say which letter: 'intended_option'", key=True)


def check_source(reading: Reading) -> Iterator[Diagnostic]:
    """Yield background knowledge that is attributed to a place in a lecture."""
    sources: list[Where] = [("source",), *(where for where, _ in reading.entries("source"))]
    for where in sources:
        if reading.at(*where, "document") != "background":
            continue
        for name in ("file", "section", "item", "equations"):
            if reading.at(*where, name):
                message = f"background knowledge has no '{name}'; name the lecture, or leave this out"
                yield reading.fault((*where, name), message, key=True)
