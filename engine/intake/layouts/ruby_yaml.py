"""YAML that a Ruby program wrote → texts, lists and mappings; no object is ever made of it.

Ruby marks symbols by a colon (``:name``) and its own kinds by tags (``!ruby/object:…``).  Colons are taken
off, tags are not looked at.  Of anchors only texts are remembered, so nothing can grow.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import yaml

from engine.errors import IntakeError
from engine.intake.decoding import read_text_file

__all__ = ["read_ruby_yaml"]

_LIMIT = 64 * 2**20
_DEEPEST = 32


def read_ruby_yaml(path: Path, name: str, *, leave_out: Collection[str] = ()) -> dict[str, Any]:
    """Return the mapping that a file holds; every plain value is a text.

    Parameters
    ----------
    path : Path
    name : str
        What messages call the file.
    leave_out : collection of str
        Keys whose values aren't kept, at any depth.

    Raises
    ------
    IntakeError
        With the line: it can't be read, or is no mapping.
    """
    try:
        text = read_text_file(path, _LIMIT, IntakeError)
        found = _Reading(yaml.parse(text, Loader=yaml.CSafeLoader), leave_out).document()
    except IntakeError as error:  # it names the place where the file lies now
        raise IntakeError(error.what, where=f"{name}:1", got=error.got) from error
    except _TooDeepError as error:
        raise IntakeError("this list is nested too deeply", where=f"{name}:{error.line}") from error
    except yaml.MarkedYAMLError as error:
        line = 1 if error.problem_mark is None else error.problem_mark.line + 1
        raise IntakeError(f"this list can't be read: {error.problem}", where=f"{name}:{line}") from error
    except yaml.YAMLError as error:
        raise IntakeError("this list can't be read", where=f"{name}:1") from error
    if not isinstance(found, dict):
        raise IntakeError("this is no list of submissions", where=f"{name}:1")
    return found


class _TooDeepError(Exception):
    def __init__(self, line: int) -> None:
        super().__init__(line)
        self.line = line


class _Reading:
    def __init__(self, events: Iterator[yaml.Event], leave_out: Collection[str]) -> None:
        self._events = events
        self._leave_out = leave_out
        self._texts: dict[str, str] = {}

    def document(self) -> object:
        for event in self._events:
            if not isinstance(event, yaml.StreamStartEvent | yaml.DocumentStartEvent):
                return None if isinstance(event, yaml.StreamEndEvent) else self._value(event, 1)
        return None

    def _value(self, event: yaml.Event, depth: int) -> object:
        if isinstance(event, yaml.ScalarEvent):
            if event.anchor is not None:
                self._texts[event.anchor] = event.value
            return event.value
        if isinstance(event, yaml.AliasEvent):
            return self._texts.get(event.anchor or "")
        if depth > _DEEPEST:
            raise _TooDeepError(0 if event.start_mark is None else event.start_mark.line + 1)
        if isinstance(event, yaml.SequenceStartEvent):
            return [self._value(one, depth + 1) for one in self._until(yaml.SequenceEndEvent)]
        found: dict[str, object] = {}
        for one in self._until(yaml.MappingEndEvent):
            key = self._value(one, depth + 1)
            value = self._value(next(self._events), depth + 1)
            name = key.removeprefix(":") if isinstance(key, str) else ""
            if name and name not in self._leave_out:
                found[name] = value
        return found

    def _until(self, end: type[yaml.Event]) -> Iterator[yaml.Event]:
        for event in self._events:
            if isinstance(event, end):
                return
            yield event
