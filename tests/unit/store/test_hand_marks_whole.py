"""Several marks by hand are stored together or not at all, and the newest holds."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from engine.errors import StoreError
from engine.store import HandMark, open_store

MARK = HandMark("ada", "softmax", 7.0, False, "well done", "prof", datetime(2026, 11, 27, tzinfo=UTC))


def test_one_mark_that_cant_be_stored_keeps_the_others_out(tmp_path: Path) -> None:
    with open_store(tmp_path / "store.db") as store:
        with pytest.raises(StoreError):
            store.hand_marks.add_all([MARK, replace(MARK, at=datetime(2026, 11, 27))])
        assert store.hand_marks.history() == []
        store.hand_marks.add_all([])
        store.hand_marks.add_all([MARK, replace(MARK, score=8.0)])
        assert store.hand_marks.current() == {("ada", "softmax"): replace(MARK, score=8.0)}
