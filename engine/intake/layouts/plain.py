"""Folders and files called after the students: ``ada/softmax.py``, ``ada_softmax.py``, ``ada.zip``."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import ClassVar, Self

from engine.intake.answer_rows import TABLES
from engine.intake.layouts.layout import (
    DownloadLayout,
    DownloadListing,
    DownloadPerson,
    HandIn,
    PathOwner,
    without_suffix,
)

_OF_CLASS = {".yaml", ".yml", *TABLES}


class PlainLayout(DownloadLayout):
    """One folder, one archive or one file per student."""

    name: ClassVar[str] = "plain"

    @classmethod
    def recognise(cls, listing: DownloadListing, *, forced: bool = False) -> Self:
        """Return the layout for any listing; a single folder around all hand-ins is looked through."""
        while (wrapper := listing.wrapper) is not None and _is_wrapper(wrapper, listing):
            listing = listing.below()
            if wrapper == without_suffix(wrapper):  # an archive may surround the folder
                break
        return cls(listing)

    def place(self, top: str, is_file: bool) -> PathOwner:
        """Return whom the name means; a file says its item, or who made it, itself."""
        if not is_file:
            return PathOwner(_of(self._label(top)))
        names, path = self.listing.names, PurePosixPath(top)
        if path.suffix.lower() not in {".py", ".ipynb"}:
            return PathOwner(None, top, stands_alone=True)
        split = names.split(top)
        label, item = split if split is not None else (path.stem, self.listing.only_item)
        return PathOwner(_of(label) if item is not None else None, top, item, stands_alone=True)

    def _label(self, top: str) -> str:
        label = without_suffix(top)
        if label == top or self.listing.roster.match(label):
            return label
        split = self.listing.names.split(label)
        return split[0] if split is not None else label


def _of(label: str) -> HandIn:
    return HandIn(label, (DownloadPerson(label, {"label": label}),))


def _is_wrapper(wrapper: str, listing: DownloadListing) -> bool:
    if listing.is_students(wrapper):
        return False
    # A folder that holds hand-ins directly is a student's, unless each of them names a student.
    return all(
        listing.names.split(name) or PurePosixPath(name).suffix.lower() in _OF_CLASS
        for name in listing.below().files
    )
