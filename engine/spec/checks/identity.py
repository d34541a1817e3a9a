"""The item's id is its file's name, and every name is defined once."""

from __future__ import annotations

import keyword
from collections.abc import Iterator

from engine.errors import Diagnostic
from engine.spec.checks.reading import Reading, Where, mapping

__all__ = ["check_identity", "check_names"]

# What templates and expressions already mean by these.
_TAKEN = {"key": "the key", "loop": "the templates' loops", "answer": "the answer"}


def check_identity(reading: Reading) -> Iterator[Diagnostic]:
    """Yield an id that isn't the file's name, or isn't the function's name for code."""
    item = reading.at("id")
    if not isinstance(item, str):
        return
    if reading.path is not None and item != reading.path.stem:
        yield reading.fault(("id",), f"the id must be the file's name, '{reading.path.stem}', not '{item}'")
    function = reading.at("answer", "function")
    if reading.at("answer", "type") == "code" and isinstance(function, str):
        wanted = function.replace("_", "-").lower()
        if item != wanted:
            yield reading.fault(("id",), f"a code exercise's id is its function with hyphens, '{wanted}'")


def check_names(reading: Reading) -> Iterator[Diagnostic]:
    """Yield names that are defined twice, or that the language already uses."""
    defined: dict[str, str] = {}
    for loc, name, what in _definitions(reading):
        key = what != "a step"
        if keyword.iskeyword(name):
            yield reading.fault(
                loc, f"'{name}' is a word of the expression language; choose another name", key=key
            )
        elif name in _TAKEN:
            yield reading.fault(
                loc, f"'{name}' already stands for {_TAKEN[name]}; choose another name", key=key
            )
        elif name in defined:
            yield reading.fault(loc, f"'{name}' is the name of {defined[name]} already", key=key)
        defined.setdefault(name, what)


def _definitions(reading: Reading) -> Iterator[tuple[Where, str, str]]:
    for name in mapping(reading.at("parameters")):
        yield ("parameters", name), name, "a parameter"
    for name in mapping(reading.at("derived")):
        yield ("derived", name), name, "a derived value"
    for loc, name in reading.step_ids():
        yield loc, name, "a step"
