"""The record of a print: what is written is what is read, and damage is refused."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from engine.errors import PaperError
from engine.paper.print_record import (
    RECORD_FILE,
    ExamCopy,
    ExamVersion,
    PrintedPart,
    PrintedQuestion,
    PrintRecord,
    find_print,
    print_ids,
    read_record,
    write_record,
)


def _record() -> PrintRecord:
    part = PrintedPart("answer", "1", "single_choice", ("a", "b", "c"))
    steps = (PrintedPart("w", "2.1", "vector"), PrintedPart("why", "2.2", "free_text", on_sheet=False))
    questions = (
        PrintedQuestion(2, "1", "greedy-vs-beam", "f00", 1.0, (part,)),
        PrintedQuestion(1, "2", "softmax-steps", "f01", 3.0, steps),
    )
    return PrintRecord(
        "K7QF2MXA",
        "l16",
        'Attention & "more" 😀',
        "Course",
        "a4",
        False,
        (ExamVersion("A", questions),),
        ({"version": 1},),
        (
            ExamCopy(1, "s001", "q1", 0, 0, "001-s001.pdf", 4, 3),
            ExamCopy(2, None, "q2", 0, 0, "002-spare.pdf"),
        ),
    )


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    record = _record()
    write_record(tmp_path, record)
    assert read_record(tmp_path) == record
    assert stat.S_IMODE((tmp_path / RECORD_FILE).stat().st_mode) == 0o600


def test_a_record_leads_from_a_copy_to_its_version_and_layout() -> None:
    record = _record()
    second = record.copy(2)
    assert second is not None and second.is_spare and not record.is_complete
    assert record.version(second).label == "A" and record.layout(second) == {"version": 1}
    assert record.copy(0) is None and record.copy(3) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        "{}",
        "[" * 100_000,
        '{"id": 3}',
        "\x00\xff",
    ],
)
def test_what_is_no_record_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / RECORD_FILE).write_text(text, encoding="latin-1")
    with pytest.raises(PaperError, match="isn't the record of a print"):
        read_record(tmp_path)


@pytest.mark.parametrize(("field", "value"), [("version", 1), ("layout", -1), ("number", 5)])
def test_a_number_that_leads_nowhere_is_refused(tmp_path: Path, field: str, value: int) -> None:
    write_record(tmp_path, _record())
    data = json.loads((tmp_path / RECORD_FILE).read_text())
    data["copies"][1][field] = value
    (tmp_path / RECORD_FILE).write_text(json.dumps(data))
    with pytest.raises(PaperError, match="isn't the record of a print"):
        read_record(tmp_path)


def test_a_missing_record_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(PaperError, match="can't be read"):
        read_record(tmp_path / "nowhere")


def test_prints_are_found_by_their_id(tmp_path: Path) -> None:
    assert print_ids(tmp_path) == []
    folder = tmp_path / "prints" / "K7QF2MXA"
    folder.mkdir(parents=True)
    write_record(folder, _record())
    assert print_ids(tmp_path) == ["K7QF2MXA"]
    assert find_print(tmp_path, "K7QF2MXA") == folder
    with pytest.raises(PaperError, match="did you mean K7QF2MXA"):
        find_print(tmp_path, "K7QF2MX0")
