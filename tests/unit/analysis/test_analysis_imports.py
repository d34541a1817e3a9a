"""The statistics are light until they are asked for, and say what is missing."""

from __future__ import annotations

import subprocess
import sys

import pytest

from engine.analysis.statistics import ScoreMatrix, reliability, wilson
from engine.errors import UsageError


def test_importing_the_statistics_brings_neither_scipy_nor_torch() -> None:
    script = (
        "import sys, engine.analysis.statistics.irt; "
        "print(sorted({'scipy', 'torch', 'sqlalchemy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_without_scipy_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy", None)
    monkeypatch.setitem(sys.modules, "scipy.special", None)
    with pytest.raises(UsageError, match="needs scipy") as caught:
        reliability(ScoreMatrix(["a", "b"], [[1, 1], [0, 0], [1, 0]]))
    assert "softmark[stats]" in str(caught.value)
    assert wilson(1, 2)[0] > 0
