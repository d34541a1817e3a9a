"""Texts as files, read: what the tests of imported questions share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from engine.exchange.gift import read_gift
from engine.exchange.moodle_xml import read_moodle
from engine.exchange.question import Contents
from engine.exchange.reading import decode_source
from engine.exchange.report import ImportReport

FILES = Path(__file__).parent / "files"
Importing = Callable[..., ImportReport]


def gift(text: str) -> Contents:
    """Read a GIFT text."""
    return read_gift(decode_source(text.encode(), "q.gift"))


def moodle(text: str) -> Contents:
    """Read the questions of a Moodle XML text; the root is put around them."""
    return read_moodle(decode_source(f"<quiz>\n{text}\n</quiz>".encode(), "q.xml"))


def faults(contents: Contents) -> list[str]:
    """Return every fault as ``line:column: message``."""
    return [f"{fault.line}:{fault.column}: {fault.message}" for fault in contents.faults]
