"""The values that a download's layout gives: whose a file is, when it came, which hand-in it belongs to."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import ClassVar, Self

from engine.course import Roster
from engine.hand_ins import IntakeProblem
from engine.intake.download_entries import FoundEntries, ItemNames, archive_suffix

# What a download holds at one level of its folders, for whoever wants to recognise the system it is from.

# Packers put at most a folder of the archive's name and one of the course around everything.
_DEEPEST_LEVEL = 3


@dataclass(frozen=True)
class DownloadListing:
    """A download, seen from below the folders that surround all of it.

    Parameters
    ----------
    entries : FoundEntries
    depth : int
        How many folders (or archives) surround everything.
    names : ItemNames
    roster : Roster
    only_item : str or None
        All code is for this item.
    """

    entries: FoundEntries
    depth: int
    names: ItemNames
    roster: Roster
    only_item: str | None = None

    @cached_property
    def files(self) -> list[str]:
        """The names of the files at this level, in order."""
        names = (e.parts[self.depth] for e in self.entries.files if len(e.parts) == self.depth + 1)
        return list(dict.fromkeys(names))

    @cached_property
    def folders(self) -> list[str]:
        """The names of the folders, and of the archives that were opened, at this level, in order."""
        names = [e.parts[self.depth] for e in self.entries.files if len(e.parts) > self.depth + 1]
        names += [parts[self.depth] for parts in sorted(self.entries.folders) if len(parts) > self.depth]
        return list(dict.fromkeys(names))

    @property
    def wrapper(self) -> str | None:
        """The name of the folder or archive that surrounds all that is here, if one does."""
        return self.folders[0] if len(self.folders) == 1 and not self.files else None

    def fits(self, read: Callable[[str], object | None], *, forced: bool) -> bool:
        """Return whether more than half of the names here can be read, or `forced` any."""
        names = [*self.files, *self.folders]
        return sum(read(name) is not None for name in names) > (0 if forced else len(names) // 2)

    def is_students(self, name: str) -> bool:
        """Return whether a folder or archive is called after a student: what lies in it is foreign."""
        return bool(self.roster.match(without_suffix(name)))

    def below(self) -> DownloadListing:
        """Return the listing one level further down."""
        return DownloadListing(self.entries, self.depth + 1, self.names, self.roster, self.only_item)


def levels(listing: DownloadListing) -> Iterator[DownloadListing]:
    """Yield a listing and those below it, as long as a single folder, no student's, surrounds all of it."""
    for _ in range(_DEEPEST_LEVEL):
        yield listing
        if listing.wrapper is None or listing.is_students(listing.wrapper):
            return
        listing = listing.below()


def without_suffix(name: str) -> str:
    """Return the name of a folder or of an archive, which is a folder here, without the archive's suffix."""
    suffix = archive_suffix(name)
    return name[: -len(suffix)] if suffix else name


@dataclass(frozen=True, slots=True)
class DownloadPerson:
    """Somebody as a download calls them: foreign text.

    Parameters
    ----------
    label : str
        Stands for the person where no roster tells the id; different for different people.
    who : mapping of str to str
        What a roster may know: ``id``, ``login``, ``lms_id``, ``email`` and ``name``.
    key : str
        What distinguishes two people of one name in the download; blank where nothing does.
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
    people : tuple of DownloadPerson
        Whose it is: several for a group's.
    handed : datetime or None
        With time zone.
    marked_late : bool
    """

    key: str
    people: tuple[DownloadPerson, ...]
    handed: datetime | None = None
    marked_late: bool = False


@dataclass(frozen=True, slots=True)
class PathOwner:
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


class DownloadLayout(ABC):
    """A kind of download, recognised in a listing.

    ``problems`` are faults of the download itself.
    """

    name: ClassVar[str]
    marks_late: ClassVar[bool] = False
    """Whether the system marks every late file as such: a file without the mark then came in time."""

    def __init__(self, listing: DownloadListing) -> None:
        self.listing = listing
        self.problems: list[IntakeProblem] = []

    @classmethod
    @abstractmethod
    def recognise(cls, listing: DownloadListing, *, forced: bool) -> Self | None:
        """Return the layout if the listing is such a download; `forced`: if anything in it fits at all."""

    @abstractmethod
    def place(self, top: str, is_file: bool) -> PathOwner | None:
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
