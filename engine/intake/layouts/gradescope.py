"""Gradescope's export of an assignment: ``submission_metadata.yml`` beside folders ``submission_123``.

The list says who handed in what, and when; a group's hand-in is everybody's in it.  Under ``history`` stand
the hand-ins before the last one; those that lie in the export as folders are taken in too.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar, Self

import yaml

from engine.errors import InputError, IntakeError
from engine.hand_ins import IntakeProblem
from engine.intake.layouts.layout import (
    DownloadLayout,
    DownloadListing,
    DownloadPerson,
    HandIn,
    PathOwner,
    without_suffix,
)
from engine.text.files import read_text
from engine.text.words import clean_line

# YAML that a Ruby program wrote → texts, lists and mappings; no object is ever made of it.
# Ruby marks symbols by a colon (``:name``) and its own kinds by tags (``!ruby/object:…``).  Colons are taken
# off, tags are not looked at.  Of anchors only texts are remembered, so nothing can grow.

# One list holds the results of all students, with the output of their tests.
_LIMIT = 64 * 2**20
# The list is five levels deep; the reader recurses once a level.
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
        With the line: it can't be read, or isn't a mapping.
    """
    try:
        text = read_text(path, IntakeError, limit=_LIMIT, may_be_empty=False)
        document = _Reading(yaml.parse(text, Loader=yaml.CSafeLoader), leave_out).document()
    except IntakeError as error:  # it names the place where the file lies now
        raise IntakeError(error.what, where=f"{name}:1", got=error.got) from error
    except _TooDeepError as error:
        raise IntakeError("this list is nested too deeply", where=f"{name}:{error.line}") from error
    except yaml.MarkedYAMLError as error:
        line = 1 if error.problem_mark is None else error.problem_mark.line + 1
        raise IntakeError(f"this list can't be read: {error.problem}", where=f"{name}:{line}") from error
    except yaml.YAMLError as error:
        raise IntakeError("this list can't be read", where=f"{name}:1") from error
    if not isinstance(document, dict):
        raise IntakeError("this isn't a list of submissions", where=f"{name}:1")
    return document


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
            return [self._value(first_event, depth + 1) for first_event in self._until(yaml.SequenceEndEvent)]
        mapping: dict[str, object] = {}
        for first_event in self._until(yaml.MappingEndEvent):
            key = self._value(first_event, depth + 1)
            value = self._value(next(self._events), depth + 1)
            name = key.removeprefix(":") if isinstance(key, str) else ""
            if name and name not in self._leave_out:
                mapping[name] = value
        return mapping

    def _until(self, end: type[yaml.Event]) -> Iterator[yaml.Event]:
        for event in self._events:
            if isinstance(event, end):
                return
            yield event


_LIST = "submission_metadata.yml"
_UTC = re.compile(r"(?:(?<!\s)\s++)?(?:UTC|GMT)$")
_BEFORE_ZONE = re.compile(r"(?<!\s)\s++(?=(?:Z|[+-]\d\d:?\d\d)$)")


class GradescopeLayout(DownloadLayout):
    """An export of submissions from Gradescope."""

    name: ClassVar[str] = "gradescope"

    def __init__(self, listing: DownloadListing, path: Path, label: str) -> None:
        super().__init__(listing)
        self._hand_ins: dict[str, HandIn] = {}
        self._label = label
        try:
            content = read_ruby_yaml(path, label, leave_out={"results", "answers", "rubric"})
        except InputError as error:
            step = "download the export again: without it nobody knows whose folders these are"
            self.problems.append(IntakeProblem(error.where or label, error.what, step))
            content = {}
        for folder, submission in content.items():
            self._take(folder, submission)

    @classmethod
    def recognise(cls, listing: DownloadListing, *, forced: bool) -> Self | None:
        """Return the layout where the list of submissions lies beside the folders."""
        for entry in listing.entries.files:
            if entry.parts[listing.depth :] == (_LIST,) and entry.path is not None:
                return cls(listing, entry.path, entry.name)
        return None

    def place(self, top: str, is_file: bool) -> PathOwner | None:
        """Return what the list says of a folder."""
        hand_in = None if is_file else self._hand_ins.get(without_suffix(top))
        return None if hand_in is None else PathOwner(hand_in)

    def is_own(self, inside: tuple[str, ...]) -> bool:
        """Return whether it is the list of submissions."""
        return inside == (_LIST,)

    def _take(self, folder: str, submission: object) -> None:
        if not isinstance(submission, Mapping):
            self._fault(folder, "the list says nothing about it that can be read")
            return
        people = _people(submission)
        if not people:
            self._fault(folder, "the list names nobody who handed it in")
            return
        self._hand_ins[folder] = HandIn(folder, people, self._moment(submission, folder))
        for older in _list(submission.get("history")):
            number = _text(older.get("id"))
            if number and (name := f"submission_{number}") not in self._hand_ins:
                whose = _people(older) or people
                self._hand_ins[name] = HandIn(name, whose, self._moment(older, name))

    def _moment(self, submission: Mapping[str, Any], folder: str) -> datetime | None:
        written = submission.get("created_at")
        if isinstance(written, Mapping):  # Rails writes its own kind of time with its parts
            written = written.get("utc") or written.get("time")
        text = _text(written)
        if not text:
            return None
        try:
            moment = datetime.fromisoformat(_BEFORE_ZONE.sub("", _UTC.sub("Z", text)))
        except ValueError:
            moment = None
        if moment is None or moment.tzinfo is None:
            fault = "can't be read" if moment is None else "names no time zone"
            self._fault(
                folder,
                f"when it was handed in {fault}: {clean_line(text, 40)}",
                "it is graded, without its time",
            )
            return None
        return moment

    def _fault(self, folder: str, message: str, step: str = "") -> None:
        self.problems.append(IntakeProblem(f"{self._label}: {clean_line(folder, 60)}", message, step))


def _people(submission: Mapping[str, Any]) -> tuple[DownloadPerson, ...]:
    people = []
    for submitter in _list(submission.get("submitters")):
        fields = {
            "id": _text(submitter.get("sid")),
            "email": _text(submitter.get("email")),
            "name": _text(submitter.get("name")),
        }
        who = {field: text for field, text in fields.items() if text}
        if who:
            key = who.get("id") or who.get("email") or ""
            people.append(DownloadPerson(next(iter(who.values())), who, key))
    return tuple(people)


def _list(value: object) -> list[Mapping[str, Any]]:
    return [entry for entry in value if isinstance(entry, Mapping)] if isinstance(value, list) else []


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""
