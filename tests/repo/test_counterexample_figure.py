"""What the figure of the counterexamples counts."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def script() -> ModuleType:
    path = Path(__file__).parents[2] / "benchmarks" / "counterexamples.py"
    spec = importlib.util.spec_from_file_location("counterexamples_script", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("code", "entries"),
    [
        ("x = np.array([1.0, -2.0])\nsoftmax(x)", 2),
        ("x = np.array([[1.0], [0.0]])\nm = np.array([True, False])\nf(x, m, 3)", 4),
        ("p = {\n    'W': np.array([[1.0]]),\n}\nf(p)", 1),
        ("softmax(np.array([]))", 0),
    ],
)
def test_numbers_in_lists_are_counted_once(script: ModuleType, code: str, entries: int) -> None:
    assert script.count_entries(code) == entries
