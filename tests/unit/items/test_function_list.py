"""The vocabulary of the spec is what the expression evaluator and the templates really offer."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from docs.generators.problem_spec import function_rows
from engine.expressions.functions import FUNCTIONS
from engine.prose.stems import TEXT_FILTERS, TEXT_FUNCTIONS, fill_template


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_of_the_evaluator_is_described(name: str) -> None:
    ((call, meaning),) = function_rows({name: FUNCTIONS[name].call})
    assert call.startswith(f"{name}(")
    assert "*args" not in call
    assert meaning.endswith(".")
    assert "Return" not in meaning


def test_naming_the_functions_loads_no_torch() -> None:
    code = (
        "import sys; from engine.items import builtin_bank; builtin_bank().load('softmax-weights'); "
        "print('torch' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"


ONE, ROW, SQUARE = "1", "[1, 2]", "[[1, 2], [3, 4]]"
SAMPLES = {
    "num": ONE, "dec": ONE, "mat": SQUARE, "table": SQUARE, "heatmap": SQUARE,
    "alignment_grid": "[[0.1, 0.9]]", "beam_tree": "[[0.4, 0.6], [0.3, 0.7], [0.2, 0.8]]",
}  # fmt: skip
MORE = {"beam_tree": "2"}


@pytest.mark.parametrize("name", TEXT_FUNCTIONS)
def test_texts_know_their_functions(name: str) -> None:
    sample = _tensor(SAMPLES.get(name, ONE if name == "par" else ROW))
    call = f"{name}(A, {MORE[name]})" if name in MORE else f"{name}(A)"
    assert fill_template("{{ " + call + " }}", {"A": sample})


@pytest.mark.parametrize("name", [*TEXT_FILTERS, *TEXT_FUNCTIONS])
def test_texts_know_their_filters(name: str) -> None:
    sample = _tensor(SAMPLES.get(name, ONE if name == "par" else ROW))
    call = f"{name}({MORE[name]})" if name in MORE else name
    assert fill_template("{{ A | " + call + " }}", {"A": sample})


def _tensor(text: str) -> Any:
    return np.array(json.loads(text), dtype=np.float64)
