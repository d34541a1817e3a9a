"""What a download holds at one level of its folders, for whoever wants to recognise the system it is from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from engine.course import Roster
from engine.intake.entries import Entries, archive_suffix
from engine.intake.naming import ItemNames

__all__ = ["Listing", "levels", "without_suffix"]

_DEEPEST_LEVEL = 3


@dataclass(frozen=True)
class Listing:
    """A download, seen from below the folders that stand around all of it.

    Parameters
    ----------
    entries : Entries
    depth : int
        How many folders (or archives) stand around everything.
    names : ItemNames
    roster : Roster
    only_item : str or None
        All code is for this item.
    """

    entries: Entries
    depth: int
    names: ItemNames
    roster: Roster
    only_item: str | None = None

    @cached_property
    def files(self) -> list[str]:
        """The names of the files at this level, in order."""
        found = (e.parts[self.depth] for e in self.entries.files if len(e.parts) == self.depth + 1)
        return list(dict.fromkeys(found))

    @cached_property
    def folders(self) -> list[str]:
        """The names of the folders, and of the archives that were opened, at this level, in order."""
        found = [e.parts[self.depth] for e in self.entries.files if len(e.parts) > self.depth + 1]
        found += [parts[self.depth] for parts in sorted(self.entries.folders) if len(parts) > self.depth]
        return list(dict.fromkeys(found))

    @property
    def wrapper(self) -> str | None:
        """The name of the folder or archive that stands around all that is here, if one does."""
        return self.folders[0] if len(self.folders) == 1 and not self.files else None

    def fits(self, read: Callable[[str], object | None], *, forced: bool) -> bool:
        """Return whether more than half of the names here can be read, or `forced` any."""
        names = [*self.files, *self.folders]
        return sum(read(name) is not None for name in names) > (0 if forced else len(names) // 2)

    def is_students(self, name: str) -> bool:
        """Return whether a folder or archive is called after a student: what lies in it is foreign."""
        return bool(self.roster.match(without_suffix(name)))

    def below(self) -> Listing:
        """Return the listing one level further down."""
        return Listing(self.entries, self.depth + 1, self.names, self.roster, self.only_item)


def levels(listing: Listing) -> Iterator[Listing]:
    """Yield a listing and those below it, as long as a single folder, no student's, stands around all."""
    for _ in range(_DEEPEST_LEVEL):
        yield listing
        if listing.wrapper is None or listing.is_students(listing.wrapper):
            return
        listing = listing.below()


def without_suffix(name: str) -> str:
    """Return the name of a folder or of an archive, which is a folder here, without the archive's suffix."""
    suffix = archive_suffix(name)
    return name[: -len(suffix)] if suffix else name
