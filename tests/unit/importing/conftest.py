"""Imports of texts that a test writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.authoring.importing.import_file import import_file
from engine.authoring.importing.item_drafts import ImportReport
from engine.items import builtin_bank
from tests.unit.importing.files_read import Importing


@pytest.fixture
def importing(tmp_path: Path) -> Importing:
    """Import a text or the bytes of a file into ``tmp_path / "out"``."""

    def call(content: str | bytes, name: str = "q.gift", **options: object) -> ImportReport:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return import_file(path, tmp_path / "out", builtin_bank(), **options)  # type: ignore[arg-type]

    return call
