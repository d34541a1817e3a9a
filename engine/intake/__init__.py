"""Files, notebooks, folders and archives as submissions, with a list of what can't be taken in.

``collect`` takes in what a whole class handed in; ``read_submission`` and ``read_code_file`` read what one
student hands in. Downloads of learning systems differ in their layout (:mod:`engine.intake.layouts`),
answers of a class come as tables or YAML (:mod:`engine.intake.answer_rows`).
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from engine.errors import IntakeError
from engine.intake.code_files import read_code_file, read_submission
from engine.text.words import clean_line

if TYPE_CHECKING:
    from engine.course import Roster
    from engine.hand_ins import IntakeResult
    from engine.intake.unpack import ArchiveLimits

__all__ = ["collect", "read_code_file", "read_submission"]


def collect(
    path: Path,
    workdir: Path,
    *,
    items: Collection[str],
    roster: Roster | None = None,
    only_item: str | None = None,
    refuse_unlisted: bool = False,
    layout: str | None = None,
    limits: ArchiveLimits | None = None,
) -> IntakeResult:
    """Take in what a class handed in.

    Parameters
    ----------
    path : Path
        A folder or an archive as a learning system gives it, or with one folder or one file per student;
        a single folder around all of it is looked through. Or a single file: a quiz, or a table of a
        class's answers.
    workdir : Path
        Existing folder for what is unpacked; nothing is written anywhere else.
    items : collection of str
        Ids of the code exercises, for the files' names.
    roster : Roster, optional
        With it, folder names are matched to ids, names and addresses.
    only_item : str, optional
        All code is for this item: files may then be called after their students.
    refuse_unlisted : bool
        Whether people who aren't in the roster are refused.
    layout : str, optional
        A name of :data:`engine.intake.layouts.LAYOUTS`; found out by default.
    limits : ArchiveLimits, optional

    Returns
    -------
    IntakeResult
        Every entry is a file to grade (or imported by one), a problem, or an ignored leftover.

    Raises
    ------
    IntakeError
        `path` can't be read at all, or nothing in it fits the layout that was asked for.
    """
    from engine.course import Roster
    from engine.intake.download_entries import ItemNames
    from engine.intake.download_sorter import DownloadSorter
    from engine.intake.layouts import DownloadListing, choose
    from engine.intake.unpack import read_source

    where = clean_line(str(path))
    entries = read_source(path, workdir, limits)
    listing = DownloadListing(entries, 0, ItemNames(items), roster or Roster(), only_item)
    intake = DownloadSorter(choose(listing, layout, where), refuse_unlisted).run()
    if not intake.students and not intake.problems and not intake.tables:
        raise IntakeError(
            "nothing was handed in here", where=where, expected="one folder or one file per student"
        )
    return intake
