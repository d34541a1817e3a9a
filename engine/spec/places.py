"""Where every value of a YAML file stands, so that a fault can be shown with a caret."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from engine.errors import Diagnostic
from engine.spec.numbers import NULLS
from engine.spec.text_file import shown, source_line

__all__ = ["Document", "Loc", "Place", "Scalar"]

Loc = Sequence[int | str]
"""A path into the data, as pydantic gives it: keys and list positions from 0."""


@dataclass(frozen=True, slots=True)
class Scalar:
    """What a single value looks like in the file: its text and how it is quoted.

    ``style`` is ``""`` for a plain value, a quote character, ``"|"`` or ``">"``.
    """

    text: str
    style: str


@dataclass(frozen=True, slots=True)
class Place:
    """The place of one value; line and column from 0, ``start`` and ``end`` as offsets into the text."""

    line: int
    column: int
    start: int
    end: int
    scalar: Scalar | None = None
    keys: Mapping[str, Place] = field(default_factory=dict)
    children: Mapping[str | int, Place] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Document:
    """A YAML file that has been read.

    Parameters
    ----------
    file : str
        Its name, as messages show it.
    text : str
        Its whole text.
    data : object
        Nested dict (keys are always text), list, str, int, float, bool and None.
        A float is a :class:`~engine.spec.numbers.WrittenFloat`: its ``str`` is what the file says.
    root : Place
        The places of all values.
    faults : tuple of Diagnostic
        Faults that don't keep the rest from being read (duplicate keys, for instance).
    """

    file: str
    text: str
    data: Any
    root: Place
    faults: tuple[Diagnostic, ...] = ()

    def locate(self, loc: Loc, *, key: bool = False) -> tuple[int, int]:
        """Return line and column, from 1, of the value at ``loc``, or of its key.

        Elements of ``loc`` that are no key or position here (the tags that pydantic puts in)
        are passed over; where the path leaves the file, the deepest value reached counts.
        """
        place = self._place(loc, key=key)
        return place.line + 1, place.column + 1

    def locate_inside(self, loc: Loc, offset: int) -> tuple[int, int]:
        """Return line and column, from 1, of character ``offset`` of the text at ``loc``.

        Where quoting or folding hides how characters map, the start of the value.
        """
        place = self._place(loc)
        inner = _inside(self.text, place, offset)
        return self.locate(loc) if inner is None else inner

    def value(self, loc: Loc) -> Any:
        """Return the value at ``loc``, or None where there is none."""
        value = self.data
        for part in loc:
            inside = part in value if isinstance(value, dict) else isinstance(part, int) and part < len(value)
            if not inside:
                return None
            value = value[part]
        return value

    def written(self, loc: Loc = ()) -> str:
        """Return a value as it was typed: a single value unquoted, a list or mapping as its source text."""
        place = self._place(loc)
        return place.scalar.text if place.scalar is not None else self.text[place.start : place.end].strip()

    def is_null(self, loc: Loc) -> bool:
        """Tell whether there is nothing at ``loc`` but YAML's word for it, however values were read."""
        scalar = self._place(loc).scalar
        return scalar is not None and not scalar.style and scalar.text in NULLS

    def diagnostic(
        self, loc: Loc, message: str, *, key: bool = False, offset: int | None = None
    ) -> Diagnostic:
        """Return the fault at the value ``loc``, at its key, or at a character of its text."""
        if offset is None:
            line, column = self.locate(loc, key=key)
        else:
            line, column = self.locate_inside(loc, offset)
        return Diagnostic(self.file, line, column, shown(message, 1000), source_line(self.text, line))

    def _place(self, loc: Loc, *, key: bool = False) -> Place:
        place, own_key = self.root, None
        for part in loc:
            child = place.children.get(part)
            if child is None:
                continue
            own_key = place.keys.get(part) if isinstance(part, str) else None
            place = child
        return own_key if key and own_key is not None else place


_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|$)")


def _inside(text: str, place: Place, offset: int) -> tuple[int, int] | None:
    """Return the place, from 1, of a character of a scalar, None where it can't be told."""
    if place.scalar is None or not 0 <= offset <= len(place.scalar.text):
        return None
    if place.scalar.style in ("|", ">"):
        return _inside_block(text, place, place.scalar.text, offset)
    quote = len(place.scalar.style)
    if text[place.start + quote : place.end - quote] != place.scalar.text:
        return None
    before = place.scalar.text[:offset]
    return None if "\n" in before else (place.line + 1, place.column + 1 + quote + offset)


def _inside_block(text: str, place: Place, value: str, offset: int) -> tuple[int, int] | None:
    """Place a character of a block text whose lines stand in the file as they are."""
    wanted, column = value.count("\n", 0, offset), offset - (value.rfind("\n", 0, offset) + 1)
    lines = _LINE.findall(text[place.start : place.end])[1:]
    if wanted >= len(lines):
        return None
    written, line = lines[wanted].rstrip("\r\n"), value.split("\n")[wanted]
    if not line or not written.endswith(line):  # folded lines don't match
        return None
    return place.line + 2 + wanted, len(written) - len(line) + column + 1
