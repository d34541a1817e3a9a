"""QTI 2.1, converted from our QTI 3.0: many platforms read nothing newer."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from engine.export.exported_item import ExportedQuiz
from engine.export.formats import QuizFormat
from engine.export.qti.package_files import family_losses, package_files
from engine.export.qti.packing import packed

__all__ = ["FORMAT"]


def _write(quiz: ExportedQuiz, step: Callable[[], None]) -> bytes:
    return packed(qti21_files(package_files(quiz, step)))


def qti21_files(files: Mapping[str, str | bytes]) -> dict[str, str | bytes]:
    """Return the files of a QTI 3 package as those of a QTI 2.1 package, in the same order.

    Parameters
    ----------
    files : mapping of str to str or bytes
        As :func:`engine.export.qti.package_files.package_files` returns them.
    """
    from engine.export.qti.older_qti import downgraded  # lxml comes with the converter

    return downgraded(files)


FORMAT = QuizFormat("qti21", "QTI 2.1", ".zip", family_losses, _write)
