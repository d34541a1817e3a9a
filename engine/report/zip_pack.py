"""Feedback pages in one archive, as a learning system takes them back; the same pages give the same bytes."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from engine.course import StudentResults
from engine.files import replacing
from engine.report.zip_pack_names import archive_name

__all__ = ["LeftOut", "Pack", "write_zip"]

_NO_TIME = (1980, 1, 1, 0, 0, 0)
_A_FILE = 0o100644 << 16
_UNIX = 3
_GIVEN = {
    "canvas": "as Canvas gives it: NAME_NUMBER_NUMBER_FILE",
    "moodle": "as Moodle gives it: NAME_NUMBER_assignsubmission_file_",
}


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A student whose page isn't in the archive, and why."""

    student: str
    reason: str


@dataclass(slots=True)
class Pack:
    """Collects under which names pages go into an archive.

    Parameters
    ----------
    layout : str
        One of :data:`engine.report.zip_pack_names.LAYOUTS`.
    assignment : str, optional
        As in :func:`engine.report.zip_pack_names.archive_name`.
    """

    layout: str
    assignment: str | None = None
    _claims: dict[str, list[tuple[str, Path]]] = field(default_factory=dict)
    _nameless: list[LeftOut] = field(default_factory=list)

    def add(self, results: StudentResults, page: Path) -> None:
        """Take in one student's page."""
        name = archive_name(self.layout, results, self.assignment)
        if name is not None:
            self._claims.setdefault(name, []).append((results.student, page))
            return
        has_work = any(self.assignment in (None, item.column.assignment) for item in results.items)
        why = (
            f"no hand-in in the store has a name {_GIVEN[self.layout]}"
            if has_work
            else "nothing was handed in"
        )
        self._nameless.append(LeftOut(results.student, why))

    @property
    def members(self) -> list[tuple[str, Path]]:
        """The names in the archive with their files, in order."""
        return [(name, claims[0][1]) for name, claims in sorted(self._claims.items()) if len(claims) == 1]

    @property
    def left_out(self) -> list[LeftOut]:
        """Who isn't in it, by id: also those whose hand-ins carry one and the same number."""
        shared = [
            LeftOut(student, f"another student's hand-in has the same name: {name.split('/')[0]}")
            for name, claims in self._claims.items()
            if len(claims) > 1
            for student, _ in claims
        ]
        return sorted([*self._nameless, *shared], key=lambda one: one.student)


def write_zip(path: Path, members: Iterable[tuple[str, Path]]) -> int:
    """Write an archive in one step and return its size in bytes.

    Times and rights of the files aren't kept, so that the same pages give the same archive.
    """
    with replacing(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, page in members:
            entry = zipfile.ZipInfo(name, _NO_TIME)
            entry.compress_type, entry.external_attr, entry.create_system = (
                zipfile.ZIP_DEFLATED,
                _A_FILE,
                _UNIX,
            )
            with page.open("rb") as source, archive.open(entry, "w") as target:
                shutil.copyfileobj(source, target)
    return path.stat().st_size
