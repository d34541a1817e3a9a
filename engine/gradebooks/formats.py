"""The formats that there are: one file each, loaded when it is asked for."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches

from engine.errors import UsageError
from engine.foreign import clean_line
from engine.gradebooks.gradebook import Gradebook, Request

__all__ = ["FORMATS", "GradebookFormat", "gradebook_format"]

# Name → module of this package, which has it as FORMAT.
FORMATS = {"canvas": "canvas", "moodle": "moodle", "csv": "plain_csv", "excel": "excel"}


@dataclass(frozen=True, slots=True)
class GradebookFormat:
    """A format.

    Parameters
    ----------
    name : str
    takes : frozenset of str
        The fields of :class:`engine.gradebooks.gradebook.Request` that it understands, beside table, roster,
        titles and columns.
    make : callable
        Makes the file.
    """

    name: str
    takes: frozenset[str]
    make: Callable[[Request], Gradebook]


def gradebook_format(name: str) -> GradebookFormat:
    """Return a format by its name; a :class:`UsageError` if there is none."""
    if name not in FORMATS:
        near = get_close_matches(name, FORMATS, n=1)
        raise UsageError(
            f"there is no gradebook format {clean_line(name, 40)!r}",
            expected=", ".join(FORMATS),
            next_step=f"did you mean {near[0]}?" if near else None,
        )
    found = importlib.import_module(f"engine.gradebooks.{FORMATS[name]}").FORMAT
    assert isinstance(found, GradebookFormat)
    return found
