"""Whatever a file holds, loading it gives a spec or a SpecError with sound diagnostics, nothing else."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import SpecError
from engine.items import ProblemSpec, builtin_root, load_spec
from engine.items.checks.texts import blank_templates, latex_faults
from engine.text.yaml import read_yaml

pytestmark = pytest.mark.slow

ITEM = (builtin_root() / "l16" / "l16-ex3-softmax-weights.yaml").read_text(encoding="utf-8")
STEPS = (builtin_root() / "decoder" / "decoder-full-step.yaml").read_text(encoding="utf-8")
CODE = (builtin_root() / "code" / "softmax" / "softmax.yaml").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz") / "item.yaml"


def load_or_faults(path: Path, content: bytes) -> ProblemSpec | SpecError:
    path.write_bytes(content)
    try:
        return load_spec(path)
    except SpecError as error:
        check_diagnostics(error, path)
        return error


def check_diagnostics(error: SpecError, path: Path) -> None:
    assert error.diagnostics
    places = [(fault.line, fault.column) for fault in error.diagnostics]
    assert places == sorted(places)
    for fault in error.diagnostics:
        assert fault.file == str(path)
        assert fault.line >= 1
        assert fault.column >= 1
        assert fault.message
        assert "Input should" not in fault.message
        shown = fault.lines()
        assert all("\n" not in line and "\r" not in line for line in shown)
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2028\u2029]", "".join(shown))


@given(st.binary(max_size=300))
def test_arbitrary_bytes(path: Path, content: bytes) -> None:
    assert isinstance(load_or_faults(path, content), SpecError)


@given(st.text(max_size=300))
def test_arbitrary_text(path: Path, text: str) -> None:
    load_or_faults(path, text.encode("utf-8", "surrogatepass"))


@given(st.text(alphabet="ab:- \n\t[]{},'\"|>&*!%#?@`~<0.1e\\$", max_size=120))
def test_text_of_yaml_characters(path: Path, text: str) -> None:
    load_or_faults(path, text.encode())


KEYS = st.sampled_from(
    [*ProblemSpec.model_fields, "type", "kind", "key", "options", "expr", "text", "range", "size", "step"]
)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20)
    | st.sampled_from(
        ["vector", "single_choice", "code", "fixed", "weights", "e", "softmax(e)", "{{ e }}", "$x$", "$"]
    ),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(KEYS | st.text(max_size=8), inner, max_size=6)
    ),
    max_leaves=30,
)


@given(st.dictionaries(KEYS | st.text(max_size=8), VALUES, max_size=14))
def test_arbitrary_structures(path: Path, data: dict[str, Any]) -> None:
    load_or_faults(path, json.dumps(data, ensure_ascii=True).encode())


@pytest.mark.parametrize("original", [ITEM, STEPS, CODE], ids=["choice", "steps", "code"])
@given(seed=st.integers(0, 2**32))
def test_damaged_items(path: Path, original: str, seed: int) -> None:
    rng = random.Random(seed)
    text = original
    for _ in range(rng.randint(1, 4)):
        start = rng.randrange(len(text))
        stop = start + rng.choice([0, 0, 1, 2, 5, 30])
        text = (
            text[:start]
            + rng.choice(["", "", "{", "}", "'", '"', ":", "\n", "  ", "$", "x", "0", "~", "{{", "é"])
            + text[stop:]
        )
    load_or_faults(path, text.encode())


@pytest.mark.parametrize("original", [ITEM, STEPS, CODE], ids=["choice", "steps", "code"])
@given(seed=st.integers(0, 2**32), value=VALUES)
def test_items_with_one_value_replaced(path: Path, original: str, seed: int, value: Any) -> None:
    data = read_yaml(original).data
    rng = random.Random(seed)
    holder: Any = data
    while True:
        key = rng.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
        if isinstance(holder[key], dict | list) and holder[key] and rng.random() < 0.8:
            holder = holder[key]
            continue
        holder[key] = value
        break
    load_or_faults(path, json.dumps(data).encode())


@given(st.text(alphabet="$\\{}ab `\n%#" + "é", max_size=60))
def test_the_scan_for_formulas_takes_any_text(text: str) -> None:
    assert len(blank_templates(text)) == len(text)
    for offset, message in latex_faults(text):
        assert 0 <= offset <= len(text)
        assert message


@pytest.mark.parametrize("piece", ["$", "{{", "{", "`", "\\begin{", "$$", "$a$ ", "{% if x %}", "\\left"])
def test_the_scan_for_formulas_takes_long_texts(piece: str) -> None:
    text = piece * (20_000 // len(piece))
    assert all(0 <= offset <= len(text) and message for offset, message in latex_faults(text))


@pytest.mark.parametrize(
    "text",
    ["(" * 480, "-" * 480, "a" + "[0]" * 160, "1" + "+1" * 240, "not " * 120 + "1", "f(" * 200 + ")" * 200],
)
def test_deep_expressions_are_no_trouble(path: Path, text: str) -> None:
    spec = json.loads(json.dumps(read_yaml(ITEM).data))
    spec["answer"]["key"] = text
    load_or_faults(path, json.dumps(spec).encode())
