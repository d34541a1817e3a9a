"""The public functions of ``import engine``: names, signatures, examples, and that they cost nothing."""

from __future__ import annotations

import doctest
import inspect
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import engine
from engine.errors import UsageError
from engine.items import builtin_bank
from engine.variants import draw

ROOT = Path(__file__).parents[2]

SIGNATURES = {
    "LoadedItem": "(spec: 'ProblemSpec', path: 'Path', version: 'str', "
    "registry: 'Mapping[str, str]') -> None",
    "load_item": "(item: 'str | Path') -> 'LoadedItem'",
    "draw": "(item: 'LoadedItem', *, seed: 'int' = 0, student: 'str | None' = None, "
    "secret: 'bytes | None' = None, attempt: 'int' = 0) -> 'Variant'",
    "grade_answers": "(variant: 'Variant', answers: 'str | Mapping[str, str]') -> 'GradeReport'",
    "grade_code": "(item: 'LoadedItem', source: 'str | Path', *, secret: 'bytes' = b'', "
    "unsafe_local: 'bool' = False) -> 'GradeReport'",
    "open_course": "(path: 'str | Path') -> 'Course'",
}


def test_names_and_signatures_stay() -> None:
    assert set(engine.__all__) == {*SIGNATURES, "__version__"}
    assert {name: str(inspect.signature(getattr(engine, name))) for name in SIGNATURES} == SIGNATURES


def test_the_examples_run() -> None:
    assert doctest.testmod(engine).failed == 0


def test_the_examples_of_the_page_run() -> None:
    page = ROOT / "docs/api.md"
    assert doctest.testfile(str(page), module_relative=False).failed == 0


def test_importing_it_loads_nothing_heavy() -> None:
    code = (
        "import engine, sys; print([m for m in ('numpy', 'torch', 'pydantic', 'yaml') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60, cwd=ROOT
    )
    assert done.stdout.strip() == "[]"


def test_a_students_variant_is_the_one_that_the_course_draws() -> None:
    item, bank = engine.load_item("softmax-weights"), builtin_bank()
    variant = engine.draw(item, student="amy", secret=b"secret", attempt=1)
    assert variant == draw(
        bank.load("softmax-weights"),
        version=bank.version("softmax-weights"),
        registry=bank.registry(),
        secret=b"secret",
        student="amy",
        attempt=1,
    )


def test_a_student_needs_a_secret() -> None:
    with pytest.raises(UsageError, match="secret"):
        engine.draw(engine.load_item("softmax-weights"), student="amy")


def test_answers_of_several_parts_go_by_their_ids() -> None:
    variant = engine.draw(engine.load_item("softmax-weights"), seed=7)
    assert engine.grade_answers(variant, {"answer": "1, 0, 0"}).score == 0
    assert engine.grade_answers(variant, {}).checks[0].message == "No answer."


def test_an_item_without_code_has_none_graded(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="isn't a code exercise"):
        engine.grade_code(engine.load_item("softmax-weights"), tmp_path / "solution.py")


def test_one_text_is_no_answer_to_several_parts() -> None:
    variant = engine.draw(engine.load_item("l16-full-pass"))
    with pytest.raises(UsageError, match="has several parts") as caught:
        engine.grade_answers(variant, "1")
    assert caught.value.expected == "a mapping of e, w, c to texts"


def _slips() -> Iterator[tuple[str, Callable[[], object]]]:
    item: Any = engine.load_item("softmax-weights")
    variant: Any = engine.draw(item)
    name: Any = "softmax-weights"
    yield "the id of an item or the path of a problem file", lambda: engine.load_item(item)
    yield "an item, as load_item returns it", lambda: engine.draw(name)
    yield "an item, as load_item returns it", lambda: engine.grade_code(name, "softmax.py")
    yield "the secret as bytes, as open_course", lambda: engine.draw(item, student="amy", secret=name)
    yield "a variant, as draw returns it", lambda: engine.grade_answers(item, "1, 0, 0")
    yield "a text, or a mapping of part ids to texts", lambda: engine.grade_answers(variant, variant)
    yield "both `student` and `secret`, or neither", lambda: engine.draw(item, attempt=1)


def test_the_usual_slips_in_a_notebook_say_what_is_expected() -> None:
    for expected, call in _slips():
        with pytest.raises(UsageError) as caught:
            call()
        assert expected in str(caught.value.expected)
