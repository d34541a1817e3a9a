"""What a kind of download tells of a file: whose it is, when it came, which hand-in it belongs to."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Self

from engine.course import IntakeProblem
from engine.intake.layouts.listing import Listing

__all__ = ["HandIn", "Layout", "Person", "Place"]


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody as a download calls them: foreign text.

    Parameters
    ----------
    label : str
        Stands for the person where no roster tells the id; different for different people.
    who : mapping of str to str
        What a roster may know: ``id``, ``login``, ``lms_id``, ``email`` and ``name``.
    key : str
        What tells two people of one name apart in the download; blank where nothing does.
    """

    label: str
    who: Mapping[str, str]
    key: str = ""


@dataclass(frozen=True, slots=True)
class HandIn:
    """Files that were handed in together.

    Parameters
    ----------
    key : str
        Differs from that of every other hand-in of the download.
    people : tuple of Person
        Whose it is: several for a group's.
    handed : datetime or None
        With time zone.
    marked_late : bool
    """

    key: str
    people: tuple[Person, ...]
    handed: datetime | None = None
    marked_late: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """What the name at the top of a file's path says.

    Parameters
    ----------
    hand_in : HandIn or None
        None where only the file itself can say whose it is.
    name : str
        The file's own name, where the top is a file.
    item : str or None
        The item, where the name says it beside the student.
    stands_alone : bool
        Whether the files beside it are other people's.
    order : int
        Later files of a student have larger numbers, as far as the name tells.
    """

    hand_in: HandIn | None
    name: str = ""
    item: str | None = None
    stands_alone: bool = False
    order: int = 0


class Layout(ABC):
    """A kind of download, recognised in a listing.

    ``problems`` are faults of the download itself.
    """

    name: ClassVar[str]

    def __init__(self, listing: Listing) -> None:
        self.listing = listing
        self.problems: list[IntakeProblem] = []

    @classmethod
    @abstractmethod
    def found(cls, listing: Listing, *, forced: bool) -> Self | None:
        """Return the layout if the listing is such a download; `forced`: if anything in it fits at all."""

    @abstractmethod
    def place(self, top: str, is_file: bool) -> Place | None:
        """Return what a name at the listing's level says, None if it doesn't fit the layout."""

    def is_own(self, inside: tuple[str, ...]) -> bool:
        """Return whether a file is the system's own, so that it isn't looked at."""
        return False

    def is_leftover(self, inside: tuple[str, ...]) -> bool:
        """Return whether a file that isn't graded was put there for everybody, by no student.

        Parameters
        ----------
        inside : tuple of str
            Its path at the listing's level.
        """
        return False
