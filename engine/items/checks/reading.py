"""One problem file as the checks see it: the data as read, whatever else is wrong with it.

The checks look at the data and not at the model, so that a file with a wrong type in one place still
shows what is wrong elsewhere. Every accessor therefore takes what it finds and skips the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from engine.errors import Diagnostic
from engine.expressions.functions import FUNCTIONS
from engine.text.yaml_errors import YamlDocument

__all__ = [
    "AnswerSite",
    "CheckContext",
    "ExpressionSite",
    "LanguageVocabulary",
    "ProseSite",
    "builtin_vocabulary",
    "mapping",
]

Where = tuple[int | str, ...]


@dataclass(frozen=True, slots=True)
class LanguageVocabulary:
    """The functions that expressions may call, the further ones of texts, and the filters of texts."""

    functions: frozenset[str]
    text_functions: frozenset[str] = frozenset()
    text_filters: frozenset[str] = frozenset()


@lru_cache(maxsize=1)
def builtin_vocabulary() -> LanguageVocabulary:
    """Return all function names that a problem file may use."""
    from engine.prose.stems import TEXT_FILTERS, TEXT_FUNCTIONS  # brings jinja2

    return LanguageVocabulary(
        frozenset(FUNCTIONS), frozenset(TEXT_FUNCTIONS), frozenset((*TEXT_FUNCTIONS, *TEXT_FILTERS))
    )


_WITH_VALUE = ("number", "vector", "matrix", "single_choice", "token")
_WITHOUT_VALUE = ("multiple_choice", "ordering", "matching", "code")


@dataclass(frozen=True, slots=True)
class AnswerSite:
    """An answer field of the file: the item's or a step's, with the misconceptions beside it."""

    loc: Where
    data: Mapping[str, Any]
    type: str
    misconceptions: Where


@dataclass(frozen=True, slots=True)
class ExpressionSite:
    """An expression, the names it may use, and those that are defined only further down."""

    loc: Where
    text: str
    names: frozenset[str]
    later: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ProseSite:
    """A text that students see, and the names that its template may use."""

    loc: Where
    text: str
    names: frozenset[str]


@dataclass(frozen=True)
class CheckContext:
    """What a check gets.

    Parameters
    ----------
    document : YamlDocument
    path : Path or None
        The file, for its name and its neighbours.
    registry : mapping of str to str, or None
        Known mistakes and their sentences; None leaves ids unchecked.
    vocabulary : LanguageVocabulary
        The functions that expressions and texts may call.
    """

    document: YamlDocument
    path: Path | None = None
    registry: Mapping[str, str] | None = None
    vocabulary: LanguageVocabulary = field(default_factory=builtin_vocabulary)
    data: Mapping[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "data", mapping(self.document.data))

    def fault(self, loc: Where, message: str, *, key: bool = False, offset: int | None = None) -> Diagnostic:
        """Return the fault at a value, its key, or a character of its text."""
        return self.document.diagnostic(loc, message, key=key, offset=offset)

    def at(self, *loc: int | str) -> Any:
        """Return the value at a path, None if there is none."""
        value: Any = self.data
        for part in loc:
            if isinstance(value, dict) and isinstance(part, str):
                value = value.get(part)
            elif isinstance(value, list) and isinstance(part, int) and part < len(value):
                value = value[part]
            else:
                return None
        return value

    def entries(self, *loc: int | str) -> Iterator[tuple[Where, Any]]:
        """Yield the path and value of every entry of the list at a path."""
        value = self.at(*loc)
        for index, entry in enumerate(value if isinstance(value, list) else []):
            yield (*loc, index), entry

    def texts(self, *loc: int | str) -> Iterator[tuple[Where, str]]:
        """Yield the path and text of every entry of the list at a path that is a text."""
        for where, entry in self.entries(*loc):
            if isinstance(entry, str):
                yield where, entry

    def answers(self) -> Iterator[AnswerSite]:
        """Yield the item's answer field, or those of its steps."""
        holders: list[Where] = [()]
        holders += [where for where, _ in self.entries("steps")]
        for holder in holders:
            data = mapping(self.at(*holder, "answer"))
            if isinstance(data.get("type"), str):
                yield AnswerSite((*holder, "answer"), data, data["type"], (*holder, "misconceptions"))

    def step_ids(self) -> list[tuple[Where, str]]:
        """Return the path and text of every step's id."""
        found = [((*where, "id"), self.at(*where, "id")) for where, _ in self.entries("steps")]
        return [(where, name) for where, name in found if isinstance(name, str)]

    def keys(self) -> frozenset[str]:
        """Return what names the keys: ``key`` for the item's answer, the ids of its steps."""
        named = {(): "key"} | {where[:-1]: name for where, name in self.step_ids()}
        return frozenset(name for holder, name in named.items() if self._may_have_value(holder))

    def _may_have_value(self, holder: Where) -> bool:
        """Tell whether an answer has a value, or a key and a type that isn't known: that is one fault."""
        data = mapping(self.at(*holder, "answer"))
        kind = data.get("type")
        return kind in _WITH_VALUE or (kind not in _WITHOUT_VALUE and "key" in data)

    def values(self) -> frozenset[str]:
        """Return the names of parameters and derived values."""
        return frozenset(mapping(self.at("parameters"))) | frozenset(mapping(self.at("derived")))

    def misconception_ids(self, loc: Where) -> dict[str, Where]:
        """Return the misconception ids declared at a path, with their places."""
        found: dict[str, Where] = {}
        for where, _ in self.entries(*loc):
            name = self.at(*where, "id")
            if isinstance(name, str):
                found.setdefault(name, (*where, "id"))
        return found


def mapping(value: Any) -> dict[str, Any]:
    """Return a mapping as it is, anything else as an empty one."""
    return value if isinstance(value, dict) else {}
