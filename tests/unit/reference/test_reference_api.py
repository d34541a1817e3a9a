"""The face of the package: names, laziness, layers, version."""

from __future__ import annotations

import ast
import inspect
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import reference

PUBLIC = [
    "ArgumentError", "AttentionGradients", "AttentionResult", "CircularityError", "DecoderStep",
    "DeviceError", "DtypeError", "Hypothesis", "ShapeError", "TableError", "__version__",
    "additive_scores", "aligned_positions", "alignment_vector", "attention", "beam_search",
    "bilinear_scores", "causal_mask", "chain_prob", "concat_scores", "context", "count_ops",
    "count_params", "decoder_step", "dot_scores", "exhaustive", "grad_attention", "greedy_decode",
    "hard_alignment", "initial_state", "masked_softmax", "multi_head", "rnn_forward", "rnn_step",
    "scaled_dot_scores", "sdpa", "self_attention", "sequence_logprob", "sequence_prob",
    "sequential_depth", "softmax", "softmax_jacobian", "softmax_vjp", "step_function", "table_step",
    "threshold_alignment",
]  # fmt: skip
FOLDER = Path(inspect.getfile(reference)).parent


def test_public_names_are_locked() -> None:
    assert reference.__all__ == PUBLIC


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_is_there_and_documented(name: str) -> None:
    value = getattr(reference, name)
    assert name == "__version__" or inspect.getdoc(value)
    assert name in dir(reference)


@pytest.mark.parametrize("name", [n for n in PUBLIC if n.islower() and not n.startswith("_")])
def test_public_functions_document_parameters_and_returns(name: str) -> None:
    function = getattr(reference, name)
    text = inspect.getdoc(function) or ""
    section = text.partition("Parameters\n")[2].partition("\nReturns\n")[0]
    if "are those of" not in text and name not in ("count_ops", "count_params", "sequential_depth"):
        assert section and "Returns\n" in text
        for parameter in inspect.signature(function).parameters:
            assert parameter in section, parameter


def test_unknown_names_are_attribute_errors() -> None:
    with pytest.raises(AttributeError, match="attension"):
        reference.attension  # type: ignore[attr-defined]


def test_no_module_hides_a_public_name() -> None:
    modules = {module.name for module in pkgutil.iter_modules([str(FOLDER)])}
    assert not modules & set(PUBLIC)


def test_every_name_says_its_home() -> None:
    for name in PUBLIC:
        if name != "__version__":
            assert getattr(reference, name).__module__.startswith("reference.")


def test_importing_costs_nothing_until_a_name_is_used() -> None:
    code = (
        "import sys, reference\n"
        "assert not {'torch', 'numpy'} & set(sys.modules)\n"
        "reference.ShapeError\n"
        "reference.softmax([1.0])\n"
        "assert not {'torch', 'array_api_compat'} & set(sys.modules)\n"
        "assert not [m for m in sys.modules if m.split('.')[0] in ('engine', 'pydantic', 'hypothesis')]\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_version_is_a_plain_literal() -> None:
    tree = ast.parse((FOLDER / "__init__.py").read_text(encoding="utf-8"))
    values = [
        node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and node.targets[0].id == "__version__"
        and isinstance(node.value, ast.Constant)
    ]
    assert values == [reference.__version__]


def test_imports_are_numpy_and_what_gives_torch_its_names() -> None:
    allowed = {"reference", "array_api_compat", "numpy"} | sys.stdlib_module_names
    for path in FOLDER.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert {name.split(".")[0] for name in names} <= allowed, path.name
