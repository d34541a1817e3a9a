"""The whole display of a file with every kind of mistake at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import SpecError
from engine.items import load_spec

HERE = Path(__file__).parent
EXPECTED = HERE / "faulty-item.expected.txt"


def test_every_fault_is_shown_with_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(HERE)
    with pytest.raises(SpecError) as caught:
        load_spec(Path("faulty-item.yaml"))
    assert str(caught.value) + "\n" == EXPECTED.read_text(encoding="utf-8")


def test_every_line_of_the_file_that_is_wrong_has_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(HERE)
    with pytest.raises(SpecError) as caught:
        load_spec(Path("faulty-item.yaml"))
    lines = [fault.line for fault in caught.value.diagnostics]
    assert lines == sorted(lines)
    assert caught.value.exit_code == 2
    for fault in caught.value.diagnostics:
        assert "Input should" not in fault.message
        assert "Traceback" not in fault.message
