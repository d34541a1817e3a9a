"""The wrong submissions are what their index says, and the script that measures diagnosis counts rightly."""

from __future__ import annotations

import ast
import importlib.util
import json
import re
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from engine.items import builtin_bank

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "benchmarks/wrong"
ITEMS = {
    "softmax",
    "masked-softmax",
    "context",
    "bilinear-scores",
    "additive-scores",
    "concat-scores",
    "sdpa",
    "decoder-step",
    "greedy-decode",
    "beam-search",
    "causal-mask",
    "self-attention",
    "multi-head",
    "softmax-vjp",
    "sdpa-grad",
    "rnn-forward",
    "hard-alignment",
    "grouped-query-attention",
    "online-softmax",
    "attention-entropy",
    "cross-entropy",
    "sample-tokens",
    "transformer-block",
    "alignment-error-rate",
    "layer-norm",
    "layer-norm-grad",
    "sinusoidal-positions",
    "rotary-positions",
    "cross-attention",
    "kv-cache",
}
INDEX = json.loads((FOLDER / "index.json").read_text(encoding="utf-8"))
ARGMAX = """\
import numpy as np
print("loaded")
def softmax(x, axis=-1):
    best = np.argmax(x, axis=axis, keepdims=True)
    result = np.zeros_like(x)
    np.put_along_axis(result, best, 1, axis=axis)
    return result
"""
RIGHT = "import torch\ndef softmax(x, axis=-1):\n    return torch.softmax(x, dim=axis)\n"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    """The script as a module."""
    spec = importlib.util.spec_from_file_location("diagnosis_script", ROOT / "benchmarks/diagnosis.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look it up
    spec.loader.exec_module(module)
    return module


def _entry(file: str, *labels: str, **more: Any) -> dict[str, Any]:
    return {"file": file, "function": "softmax", "item": "softmax", "labels": list(labels), **more}


def _write(folder: Path, entries: list[dict[str, Any]]) -> None:
    (folder / "index.json").write_text(json.dumps(entries, indent=0), encoding="utf-8")


def test_the_index_names_every_file_once_and_no_other() -> None:
    named = [entry["file"] for entry in INDEX]
    there = {path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.py")}
    assert max(Counter(named).values()) == 1
    assert set(named) == there


@pytest.mark.parametrize("item", sorted(ITEMS))
def test_every_exercise_has_enough_wrong_submissions(item: str) -> None:
    own = [entry for entry in INDEX if entry["item"] == item]
    one_mistake = [entry for entry in own if len(entry["labels"]) == 1]
    assert len(one_mistake) >= 8
    assert len({entry["labels"][0] for entry in one_mistake}) >= 6  # all that causal-mask has
    assert len(own) > len(one_mistake), "no submission with two mistakes"
    assert all(entry["file"].startswith(f"{item}/") for entry in own)


def test_no_exercise_is_unknown() -> None:
    assert {entry["item"] for entry in INDEX} == ITEMS


def test_known_mistakes_are_in_the_registry() -> None:
    labels = {name for entry in INDEX for label in entry["labels"] for name in label.split("|")}
    registry = builtin_bank().registry()
    assert {name for name in labels if name.startswith("m-")} - set(registry) == set()


@pytest.mark.parametrize("entry", INDEX, ids=lambda entry: entry["file"])
def test_each_file_defines_its_function_and_labels_differ(entry: dict[str, Any]) -> None:
    tree = ast.parse((FOLDER / entry["file"]).read_text(encoding="utf-8"))
    functions = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    assert functions.count(entry["function"]) == 1
    assert entry["function"] == entry["item"].replace("-", "_")
    assert len(set(entry["labels"])) == len(entry["labels"]) > 0


def test_every_kind_of_result_is_counted(
    script: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("right", "partly", "wrong", "other"):
        (tmp_path / f"{name}.py").write_text(ARGMAX, encoding="utf-8")
    (tmp_path / "passed.py").write_text(RIGHT, encoding="utf-8")
    entries = [
        _entry("right.py", "m-uniform|m-argmax"),
        _entry("partly.py", "m-argmax", "clip"),
        _entry("wrong.py", "m-uniform"),
        _entry("passed.py", "m-neg"),
        _entry("other.py", "m-neg", item="no-such-item"),
    ]
    _write(tmp_path, entries)
    out = tmp_path / "out.json"
    assert script.main([str(tmp_path), "--seeds", "2", "--json", str(out), "--confusion"]) == 0
    result = json.loads(out.read_text(encoding="utf-8"))
    kinds = [(one["file"], one["seed"], one["kind"], one["graded_right"]) for one in result["gradings"]]
    assert sorted(kinds) == [
        ("partly.py", 0, "partly", False),
        ("partly.py", 1, "partly", False),
        ("passed.py", 0, "none", True),
        ("passed.py", 1, "none", True),
        ("right.py", 0, "right", False),
        ("right.py", 1, "right", False),
        ("wrong.py", 0, "wrong", False),
        ("wrong.py", 1, "wrong", False),
    ]
    assert result["shares"] == {"right": 0.25, "partly": 0.25, "wrong": 0.25, "none": 0.25, "ungraded": 0.0}
    printed = capsys.readouterr().out
    table = {line.split()[0]: line.split()[1:] for line in printed.splitlines() if line.startswith("softmax")}
    assert table["softmax"] == ["8", "2", "2", "2", "2", "0", "2"]
    assert "not in the bank: no-such-item" in printed
    assert "wrong    softmax: m-uniform → m-argmax   wrong.py" in printed
    assert "(graded right)" in printed
    assert "loaded" not in printed


def test_labels_that_no_mutant_bears_are_told(
    script: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.py").write_text(ARGMAX, encoding="utf-8")
    _write(tmp_path, [{"file": "a.py", "function": "softmax", "labels": ["hardened"]}])
    assert script.main([str(tmp_path)]) == 0
    assert "no mutant of softmax is named: hardened" in capsys.readouterr().out


def test_a_statement_that_would_end_the_process_costs_nothing_here_either(
    script: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.py").write_text(f"{ARGMAX}raise SystemExit\n", encoding="utf-8")
    _write(tmp_path, [_entry("a.py", "m-argmax")])
    assert script.main([str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert re.search(r"^softmax +1 +1 ", out, re.MULTILINE), (
        out
    )  # one grading, and it is right: m-argmax is named


@pytest.mark.parametrize(
    ("index", "told"),
    [
        ('[\n{"file": "a.py",\n]', "index.json:3:1: the index is no JSON"),
        ("{}", "index.json:1: the index is no list"),
        ("[]", "the index names no file"),
        ('[\n"a.py"]', "index.json:2: an entry is no object"),
        ('[\n{"file": "a.py", "function": "softmax", "labels": ["x"]},\n{"file": "b.py"}]', "index.json:3: "),
        ('[\n{"file": "a.py", "function": "softmax"}]', "index.json:2: 'labels' is missing"),
        ('[\n{"file": "a.py", "function": "softmax", "labels": ["x", "x"]}]', "index.json:2: a label"),
        ('[\n{"file": "a.py", "function": "softmax", "labels": [""]}]', "index.json:2: a label"),
        ('[\n{"file": "a.py", "function": "softmax", "label": ["x"]}]', "unknown key 'label'"),
        ('[\n{"file": "../a.py", "function": "softmax", "labels": ["x"]}]', "lies outside the folder"),
        ('[\n\n{"file": "gone.py", "function": "softmax", "labels": ["x"]}]', "index.json:3: can't read"),
        ('[{"file": "a.py", "function": "f", "item": "softmax", "labels": ["x"]}]', "another function"),
        (
            '[{"file": "a.py", "function": "softmax", "labels": ["x"]},'
            '{"file": "a.py", "function": "softmax", "labels": ["x"]}]',
            "a file stands in the index twice",
        ),
        ("[" * 100_000, "index.json"),
    ],
)
def test_a_bad_index_is_told_with_its_line(
    script: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str], index: str, told: str
) -> None:
    (tmp_path / "a.py").write_text(ARGMAX, encoding="utf-8")
    (tmp_path / "index.json").write_text(index, encoding="utf-8")
    assert script.main([str(tmp_path)]) == 2
    assert told in capsys.readouterr().err


def test_a_folder_without_an_index_is_told(
    script: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert script.main([str(tmp_path / "nowhere")]) == 2
    error = capsys.readouterr().err
    assert "can't read" in error
    assert "No such file" in error
