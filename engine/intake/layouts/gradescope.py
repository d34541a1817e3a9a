"""Gradescope's export of an assignment: ``submission_metadata.yml`` beside folders ``submission_123``.

The list says who handed in what, and when; a group's hand-in is everybody's in it.  Under ``history`` stand
the hand-ins before the last one; those that lie in the export as folders are taken in too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar, Self

from engine.course import IntakeProblem
from engine.errors import InputError
from engine.foreign import clean_line
from engine.intake.layouts.layout import HandIn, Layout, Person, Place
from engine.intake.layouts.listing import Listing, without_suffix
from engine.intake.layouts.ruby_yaml import read_ruby_yaml

__all__ = ["Gradescope"]

_LIST = "submission_metadata.yml"
_UTC = re.compile(r"(?:(?<!\s)\s++)?(?:UTC|GMT)$")
_BEFORE_ZONE = re.compile(r"(?<!\s)\s++(?=(?:Z|[+-]\d\d:?\d\d)$)")


class Gradescope(Layout):
    """An export of submissions from Gradescope."""

    name: ClassVar[str] = "gradescope"

    def __init__(self, listing: Listing, path: Path, shown: str) -> None:
        super().__init__(listing)
        self._hand_ins: dict[str, HandIn] = {}
        self._shown = shown
        try:
            content = read_ruby_yaml(path, shown, leave_out={"results", "answers", "rubric"})
        except InputError as error:
            step = "download the export again: without it nobody knows whose folders these are"
            self.problems.append(IntakeProblem(error.where or shown, error.what, step))
            content = {}
        for folder, told in content.items():
            self._take(folder, told)

    @classmethod
    def found(cls, listing: Listing, *, forced: bool) -> Self | None:
        """Return the layout where the list of submissions lies beside the folders."""
        for entry in listing.entries.files:
            if entry.parts[listing.depth :] == (_LIST,) and entry.path is not None:
                return cls(listing, entry.path, entry.name)
        return None

    def place(self, top: str, is_file: bool) -> Place | None:
        """Return what the list says of a folder."""
        hand_in = None if is_file else self._hand_ins.get(without_suffix(top))
        return None if hand_in is None else Place(hand_in)

    def is_own(self, inside: tuple[str, ...]) -> bool:
        """Return whether it is the list of submissions."""
        return inside == (_LIST,)

    def _take(self, folder: str, told: object) -> None:
        if not isinstance(told, Mapping):
            self._fault(folder, "the list says nothing of it that can be read")
            return
        people = _people(told)
        if not people:
            self._fault(folder, "the list names nobody who handed it in")
            return
        self._hand_ins[folder] = HandIn(folder, people, self._moment(told, folder))
        for older in _list(told.get("history")):
            number = _text(older.get("id"))
            if number and (name := f"submission_{number}") not in self._hand_ins:
                whose = _people(older) or people
                self._hand_ins[name] = HandIn(name, whose, self._moment(older, name))

    def _moment(self, told: Mapping[str, Any], folder: str) -> datetime | None:
        written = told.get("created_at")
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
        self.problems.append(IntakeProblem(f"{self._shown}: {clean_line(folder, 60)}", message, step))


def _people(told: Mapping[str, Any]) -> tuple[Person, ...]:
    found = []
    for one in _list(told.get("submitters")):
        fields = {
            "id": _text(one.get("sid")),
            "email": _text(one.get("email")),
            "name": _text(one.get("name")),
        }
        who = {field: text for field, text in fields.items() if text}
        if who:
            key = who.get("id") or who.get("email") or ""
            found.append(Person(next(iter(who.values())), who, key))
    return tuple(found)


def _list(value: object) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""
