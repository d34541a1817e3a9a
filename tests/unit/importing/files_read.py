"""Texts as files, read: what the tests of imported questions share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from engine.authoring.importing.foreign_question import QuestionFile, decode_source
from engine.authoring.importing.gift import read_gift
from engine.authoring.importing.item_drafts import ImportReport
from engine.authoring.importing.moodle_xml import read_moodle

FILES = Path(__file__).parent / "files"
Importing = Callable[..., ImportReport]


def gift(text: str) -> QuestionFile:
    """Read a GIFT text."""
    return read_gift(decode_source(text.encode(), "q.gift"))


def moodle(text: str) -> QuestionFile:
    """Read the questions of a Moodle XML text; the root is put around them."""
    return read_moodle(decode_source(f"<quiz>\n{text}\n</quiz>".encode(), "q.xml"))


def faults(contents: QuestionFile) -> list[str]:
    """Return every fault as ``line:column: message``."""
    return [f"{fault.line}:{fault.column}: {fault.message}" for fault in contents.faults]
