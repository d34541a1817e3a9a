"""Texts as files, read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from engine.exchange.gift import read_gift
from engine.exchange.importing import import_file
from engine.exchange.moodle_xml import read_moodle
from engine.exchange.question import Contents
from engine.exchange.reading import decode_source
from engine.exchange.report import ImportReport
from engine.spec import builtin_bank

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


@pytest.fixture
def importing(tmp_path: Path) -> Importing:
    """Import a text or the bytes of a file into ``tmp_path / "out"``."""

    def call(content: str | bytes, name: str = "q.gift", **options: object) -> ImportReport:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return import_file(path, tmp_path / "out", builtin_bank(), **options)  # type: ignore[arg-type]

    return call
