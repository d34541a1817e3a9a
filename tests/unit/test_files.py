"""A file is replaced in one step or stays as it was."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.files import replace_text, replacing


@pytest.mark.parametrize("durable", [False, True])
def test_the_text_is_replaced_and_nothing_else_is_left(tmp_path: Path, durable: bool) -> None:
    path = tmp_path / "page.html"
    path.write_text("old")
    replace_text(path, "neu: \u00fc \ud800", durable=durable)
    assert path.read_bytes() == "neu: ü ?".encode()
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_replacement_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "page.html"
    path.write_text("old")

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(OSError, match="No space"):
        replace_text(path, "new", durable=True)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_block_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "pages.zip"
    path.write_bytes(b"old")
    with pytest.raises(KeyError), replacing(path) as file:
        file.write(b"half of it")
        raise KeyError
    assert path.read_bytes() == b"old"
    with replacing(path) as file:
        file.write(b"new")
        assert path.read_bytes() == b"old", "it takes the place at the end"
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]
