"""The command line as a person calls it, in a folder of its own."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from engine.commands import run


@dataclass(frozen=True)
class Said:
    """Exit code and what was printed."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        return json.loads(self.out)


Grade = Callable[..., Said]


@pytest.fixture
def grade(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Grade:
    """Call ``grade`` in an empty folder with a practice home of its own."""
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    monkeypatch.setenv("SOFTMARK_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("SOFTMARK_DEBUG", raising=False)

    def call(*arguments: object) -> Said:
        capsys.readouterr()
        code = run([str(a) for a in arguments])
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err
        return Said(code, out, err)

    return call
