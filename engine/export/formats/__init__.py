"""The formats of exported quizzes: each file writes one, and says what it can't carry.

A file holds ``FORMAT``, a :class:`QuizFormat`. The names are listed here without importing anything, so that
a command's ``--help`` can show them.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.errors import UsageError
from engine.text.words import clean_line, suggestion

if TYPE_CHECKING:
    from engine.export.exported_item import ExportedFamily, ExportedQuiz, ExportLoss

FORMATS: Mapping[str, str] = {
    "canvas": "canvas",
    "gift": "gift",
    "moodle": "moodle_xml",
    "olx": "olx",
    "qti21": "qti21",
    "qti3": "qti3",
}
"""Name on the command line → module of this package."""


@dataclass(frozen=True, slots=True)
class QuizFormat:
    """One format.

    Parameters
    ----------
    name : str
        As on the command line.
    title : str
        What people call it: ``Moodle XML``.
    suffix : str
        Of the file: ``.xml``, ``.zip``.
    losses : callable
        Returns what the format can't carry of a family, before anything is written. Looks at every variant,
        and says the same thing once.
    write : callable
        Returns the bytes of the file from a quiz whose families are all carried; calls its second argument
        once for each variant. The same quiz gives the same bytes.
    """

    name: str
    title: str
    suffix: str
    losses: Callable[[ExportedFamily], Sequence[ExportLoss]]
    write: Callable[[ExportedQuiz, Callable[[], None]], bytes]


def quiz_format(name: str) -> QuizFormat:
    """Return a format by its name; a :class:`~engine.errors.UsageError` if there is none."""
    if name not in FORMATS:
        raise UsageError(
            f"there is no quiz format {clean_line(name, 40)!r}",
            expected=", ".join(FORMATS),
            next_step=suggestion(name, FORMATS),
        )
    chosen = importlib.import_module(f"{__name__}.{FORMATS[name]}").FORMAT
    assert isinstance(chosen, QuizFormat)
    return chosen
