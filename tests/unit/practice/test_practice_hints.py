"""The record of hints that were seen."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.practice.starter import HintRecord


def test_counts_are_kept_per_item(tmp_path: Path) -> None:
    record = HintRecord(tmp_path / "hints.json")
    assert record.seen("softmax") == 0
    record.remember("softmax", 2)
    record.remember("sdpa", 1)
    again = HintRecord(tmp_path / "hints.json")
    assert (again.seen("softmax"), again.seen("sdpa"), again.seen("other")) == (2, 1, 0)
    again.remember("softmax", 0)
    assert json.loads(record.path.read_text()) == {"seen": {"sdpa": 1}}


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[1]", b'{"seen": [1]}', b"\xff\xfe", b'{"seen": {"softmax": "2"}}', b"[" * 100_000],
    ids=["empty", "cut", "list", "list inside", "no UTF-8", "text", "deep"],
)
def test_a_damaged_record_counts_as_empty_and_is_mended(tmp_path: Path, content: bytes) -> None:
    record = HintRecord(tmp_path / "hints.json")
    record.path.write_bytes(content)
    assert record.seen("softmax") == 0
    record.remember("softmax", 1)
    assert record.seen("softmax") == 1


@pytest.mark.parametrize("count", [True, -3, 1.5, None])
def test_what_is_no_count_is_left_out(tmp_path: Path, count: object) -> None:
    record = HintRecord(tmp_path / "hints.json")
    record.path.write_text(json.dumps({"seen": {"softmax": count, "sdpa": 2}}))
    assert (record.seen("softmax"), record.seen("sdpa")) == (0, 2)
