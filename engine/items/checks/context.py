"""One problem file as the checks see it: the data as read, whatever else is wrong with it.

The checks look at the data and not at the model, so that a file with a wrong type in one place still
shows what is wrong elsewhere. Every accessor therefore yields what has the right type and skips the rest,
about which the model complains.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, get_args

from engine.errors import Diagnostic
from engine.expressions.functions import FUNCTIONS
from engine.items.answer_specs import AnyAnswer
from engine.items.field_types import StrictModel
from engine.text.words import did_you_mean, one_line
from engine.text.yaml_errors import YamlDocument

Where = tuple[int | str, ...]
"""A path into the data, such as ``("steps", 0, "answer", "key")``."""


@dataclass(frozen=True, slots=True)
class AnswerSite:
    """An answer field of the file: the item's or a step's, with the misconceptions beside it."""

    loc: Where
    data: Mapping[str, Any]
    type: str
    misconceptions: Where


@dataclass(frozen=True, slots=True)
class TextSite:
    """An expression or a text for students, the names it may use, and those defined only further down."""

    loc: Where
    text: str
    names: frozenset[str]
    later: frozenset[str] = frozenset()


@dataclass(frozen=True)
class CheckContext:
    """What a check looks at, and how it says what is wrong.

    Parameters
    ----------
    document : YamlDocument
    path : Path or None
        The file, for its name and its neighbours.
    registry : mapping of str to str, or None
        Known mistakes and their sentences; None leaves ids unchecked.
    functions : frozenset of str
        The functions that expressions may call; texts have some more.
    """

    document: YamlDocument
    path: Path | None = None
    registry: Mapping[str, str] | None = None
    functions: frozenset[str] = frozenset(FUNCTIONS)
    data: Mapping[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "data", mapping(self.document.data))

    def fault(self, loc: Where, message: str, *, key: bool = False, offset: int | None = None) -> Diagnostic:
        """Return the fault at a value, its key, or a character of its text."""
        return self.document.diagnostic(loc, message, key=key, offset=offset)

    def value(self, *loc: int | str) -> Any:
        """Return the value at a path, None if there is none."""
        value: Any = self.data
        for part in loc:
            if isinstance(value, dict) and isinstance(part, str):
                value = value.get(part)
            elif isinstance(value, list) and isinstance(part, int) and part < len(value):
                value = value[part]
            else:
                return None  # of another type than the model wants: its fault, not ours
        return value

    def entries(self, *loc: int | str) -> list[Where]:
        """Return the path of every entry of the list at a path."""
        value = self.value(*loc)
        return [(*loc, index) for index in range(len(value) if isinstance(value, list) else 0)]

    def places(self, pattern: Where) -> list[Where]:
        """Return the paths that a pattern stands for; ``*`` in it is every entry of a list."""
        places: list[Where] = [()]
        for part in pattern:
            if part == "*":
                places = [entry for place in places for entry in self.entries(*place)]
            else:
                places = [(*place, part) for place in places]
        return places

    def texts(self, *loc: int | str, field: str | None = None) -> Iterator[tuple[Where, str]]:
        """Yield the path and text of every entry of a list that is a text, or whose `field` is one."""
        for entry in self.entries(*loc):
            where = entry if field is None else (*entry, field)
            if isinstance(text := self.value(*where), str):
                yield where, text

    def holders(self) -> list[Where]:
        """Return the paths that may hold an answer and its misconceptions: the item and its steps."""
        return [(), *self.entries("steps")]

    def answers(self) -> Iterator[AnswerSite]:
        """Yield the item's answer field, or those of its steps."""
        for holder in self.holders():
            data = mapping(self.value(*holder, "answer"))
            if isinstance(data.get("type"), str):
                yield AnswerSite((*holder, "answer"), data, data["type"], (*holder, "misconceptions"))

    def keys(self) -> frozenset[str]:
        """Return what names the keys: ``key`` for the item's answer, the ids of its steps."""
        names: dict[Where, str] = {(): "key"}
        names |= {where[:-1]: name for where, name in self.texts("steps", field="id")}
        return frozenset(name for holder, name in names.items() if self._may_have_value(holder))

    def _may_have_value(self, holder: Where) -> bool:
        # a misspelt type is one fault, and not also that the key's name isn't defined in the solution
        data = mapping(self.value(*holder, "answer"))
        kind = data.get("type")
        has_value = _types_with_value().get(kind) if isinstance(kind, str) else None
        return "key" in data if has_value is None else has_value

    def values(self) -> frozenset[str]:
        """Return the names of parameters and derived values."""
        return frozenset(mapping(self.value("parameters"))) | frozenset(mapping(self.value("derived")))

    def ids_in(self, loc: Where) -> dict[str, Where]:
        """Return the ids of the entries of a list, each with the place where it first appears."""
        places: dict[str, Where] = {}
        for where, name in self.texts(*loc, field="id"):
            places.setdefault(name, where)
        return places


def repeats(texts: Iterable[tuple[Where, str]]) -> Iterator[tuple[Where, str]]:
    """Yield those of some texts that already appear further up, whatever their white space."""
    above: set[str] = set()
    for where, text in texts:
        plain = " ".join(text.split())
        if plain in above:
            yield where, plain
        above.add(plain)


def undefined_name(name: str, site: TextSite) -> str:
    """Return that a name isn't defined, with the one that is nearest or all that are."""
    names = ", ".join(sorted(site.names)[:12])
    otherwise = f"; the names here are {names}" if names else "; no names are defined here"
    return f"'{one_line(name)}' isn't defined" + did_you_mean(name, sorted(site.names), otherwise)


def unknown_function(name: str, functions: frozenset[str]) -> str:
    """Return that there is no such function, with the one that is nearest."""
    return f"there is no function '{one_line(name)}'" + did_you_mean(name, sorted(functions))


@cache
def _types_with_value() -> dict[str, bool]:
    """Return for each answer type of the engine whether its key is an expression, so that it has a value."""
    models: tuple[type[StrictModel], ...] = get_args(AnyAnswer)
    return {
        get_args(model.model_fields["type"].annotation)[0]: "key" in model.model_fields for model in models
    }


def mapping(value: Any) -> dict[str, Any]:
    """Return a mapping as it is, anything else as an empty one."""
    return value if isinstance(value, dict) else {}
