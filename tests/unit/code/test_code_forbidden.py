"""Forbidden calls are found under whatever name an honest student gives them."""

from __future__ import annotations

import ast

import pytest

from engine.code.examine import examine_source, first_forbidden

RULES = ("torch.softmax", "torch.nn.functional.*", ".softmax", "sorted")

USES = {
    "import torch\ny = torch.softmax(x, 0)": "Line 2 uses .softmax",
    "import torch as t\ny = t.softmax(x, 0)": "Line 2 uses .softmax",
    "from torch import softmax as s\n": "Line 1 uses torch.softmax",
    "from torch.nn import functional as F\ny = F.silu(x)": "Line 2 uses torch.nn.functional.silu",
    "import torch.nn.functional as F\n\n\ny = F.relu(x)": "Line 4 uses torch.nn.functional.relu",
    "def f(x):\n    return x.softmax(0)": "Line 2 uses .softmax",
    "y = sorted(x)": "Line 1 uses sorted",
}


@pytest.mark.parametrize("source", USES)
def test_a_use_is_found_with_its_line(source: str) -> None:
    found = first_forbidden(ast.parse(source), RULES)
    assert found is not None and found.startswith(USES[source])


@pytest.mark.parametrize(
    "source",
    [
        "def softmax(x):\n    return x",
        "# torch.softmax(x)\ntext = 'torch.softmax'",
        "import numpy as np\ny = np.exp(x)",
        "import torch\ny = torch.exp(x)",
        "def f(sorted_keys):\n    return sorted_keys",
    ],
)
def test_what_only_looks_like_it_is_allowed(source: str) -> None:
    assert first_forbidden(ast.parse(source), RULES) is None


def test_the_first_line_is_told_and_nothing_without_rules() -> None:
    source = "y = 1\nz = sorted(a)\nx = sorted(b)"
    assert first_forbidden(ast.parse(source), ("sorted",)) == (
        "Line 2 uses sorted, which this exercise asks you to do without."
    )
    assert first_forbidden(ast.parse(source), ()) is None


def test_further_modules_count_too() -> None:
    modules = {"helpers": "import torch\n\ndef f(x):\n    return torch.softmax(x, 0)\n"}
    facts = examine_source(
        "from helpers import f\n\ndef g(x):\n    return f(x)\n", "g", "g(x)", forbidden=RULES, modules=modules
    )
    assert facts.library == "torch"
    assert facts.forbidden is not None and "Line 4" in facts.forbidden
