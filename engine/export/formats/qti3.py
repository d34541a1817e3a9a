"""QTI 3.0: a package of items with their response processing, and a test that draws among variants."""

from __future__ import annotations

from collections.abc import Callable

from engine.export.exported_item import ExportedQuiz
from engine.export.formats import QuizFormat
from engine.export.qti.package_files import family_losses, package_files
from engine.text.files import zip_bytes

__all__ = ["FORMAT"]


def _write(quiz: ExportedQuiz, step: Callable[[], None]) -> bytes:
    return zip_bytes(package_files(quiz, step))


FORMAT = QuizFormat("qti3", "QTI 3.0", ".zip", family_losses, _write)
