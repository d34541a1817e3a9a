"""The pages of students as files: their names, and writing them one by one."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from engine.course import StudentResults
from engine.errors import StoreError
from engine.files import replace_text
from engine.report.feedback import feedback_page

__all__ = ["page_name", "told_faults", "write_page"]

# Devices of Windows, whatever their suffix.
_RESERVED = re.compile(r"con|prn|aux|nul|(com|lpt)\d")


def page_name(student: str) -> str:
    """Return a file name for a student's page: safe on every system, different for different ids."""
    plain = re.sub(r"[^a-z0-9-]+", "-", student.casefold()).strip("-")[:60]
    if plain and plain == student and not _RESERVED.fullmatch(plain):
        return f"{plain}.html"
    digest = hashlib.sha256(student.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{plain or 'student'}_{digest}.html"


def write_page(folder: Path, results: StudentResults, *, title: str, solutions: bool = False) -> Path:
    """Write one student's feedback page into a folder, in one step, and return where it is."""
    path = folder / page_name(results.student)
    replace_text(path, feedback_page(results, title=title, solutions=solutions))
    return path


@contextmanager
def told_faults(out: Path) -> Iterator[None]:
    """Raise a :class:`StoreError` that says what to do, where a file of a report can't be written."""
    try:
        yield
    except OSError as error:
        raise StoreError(
            "the report can't be written",
            where=str(error.filename or out),
            got=error.strerror or str(error),
            next_step="make room or choose another folder; the grades are in the store",
        ) from error
