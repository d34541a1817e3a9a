"""StepTable: text, function and what crosses to the child answer the same; what is simpler is a model."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from engine.code.arguments import SpecialArgument, array_of
from engine.code.explain.counterexample import LruCache
from engine.code.plan_builder import ExactValues
from engine.code.shared_cases import draw_table
from engine.code.step_table import StepTable
from engine.sandbox.child.calls import copy_row, make_step
from engine.sandbox.child.wire import StepNode
from tests.builtin_bank import inputs_of

ROWS = (((), (0.5, 0.25, 0.25)), ((0,), (0.1, 0.6, 0.3)), ((0, 2), (0.0, 0.0, 1.0)))
TABLE = StepTable(ROWS, (0.125, 0.5, 0.375))
FLAT = StepTable((), (0.75, 0.25))
BOS = 9
PATHS = [path for size in range(4) for path in itertools.product(range(3), repeat=size)]
EVERY = pytest.mark.parametrize(
    "table",
    [TABLE, FLAT, draw_table(ExactValues(b"table"), 3, 2)]
    + [replace(one, dtype="float32") for one in (TABLE, FLAT)],
    ids=["rows", "flat", "drawn", "rows-single", "flat-single"],
)
LIBRARIES = pytest.mark.parametrize("library", ["numpy", "torch"])


def _executed(table: StepTable, name: str, library: str) -> Callable[..., Any]:
    space: dict[str, Any] = {"np": np} if library == "numpy" else {"torch": torch}
    exec(table.python(name, library), space)
    return space[name]  # type: ignore[no-any-return]


def _walked(step: Callable[..., Any], path: tuple[int, ...]) -> list[Any]:
    """Return all rows that a search gets which feeds the start symbol and then these tokens."""
    state: Any = ()
    rows = []
    for token in (BOS, *path):
        row, state = step(token, state)
        rows.append(row)
    return rows


@LIBRARIES
@EVERY
def test_the_text_defines_the_same_function(table: StepTable, library: str) -> None:
    written, step = _executed(table, "step", library), table.step()
    for path in PATHS:
        for got, right in zip(_walked(written, path), _walked(step, path), strict=True):
            assert isinstance(got, np.ndarray if library == "numpy" else torch.Tensor)
            assert str(got.dtype).removeprefix("torch.") == right.dtype.name == table.dtype
            assert got.tolist() == right.tolist()
    assert written(BOS, ())[1] == step(BOS, ())[1] == (BOS,)
    assert written(np.int64(1), (BOS,))[1] == (BOS, 1)  # tokens are mostly numpy's integers


@LIBRARIES
def test_the_text_bears_the_name_and_is_short_without_rows(library: str) -> None:
    assert _executed(TABLE, "model", library).__name__ == "model"
    assert "table" not in FLAT.python("step", library)
    assert ("dtype" in FLAT.python("step", library)) == (library == "torch")


@EVERY
def test_the_function_answers_the_rows_and_else_the_last(table: StepTable) -> None:
    step = table.step()
    for path in PATHS:
        assert _walked(step, path)[-1].tolist() == np.array(table.after(path), dtype=table.dtype).tolist()
    for tokens, row in table.rows:
        assert table.after(tokens) == row
    assert table.after((7, 7, 7, 7)) == table.other
    assert table.vocabulary == len(table.other) and table.entries == (len(table.rows) + 1) * len(table.other)


@LIBRARIES
@EVERY
def test_what_crosses_answers_the_same(table: StepTable, library: str) -> None:
    sent = table.wire(library)
    assert sent.name == "step" and (sent.tokens.library, sent.chances.library) == ("numpy", library)
    tokens, chances = array_of(sent.tokens), array_of(sent.chances)
    assert chances.shape == (len(tokens) + 1, table.vocabulary) and len(tokens) == len(table.rows)
    step = make_step(StepNode(sent.name, tokens, chances), np.copy)  # as in the sandbox
    for path in PATHS:
        for got, right in zip(_walked(step, path), _walked(table.step(), path), strict=True):
            assert (got.dtype, got.tolist()) == (right.dtype, right.tolist())


def test_an_answer_is_a_copy() -> None:
    step = TABLE.step()
    row, _ = step(BOS, ())
    row[:] = 0.0
    assert step(BOS, ())[0].tolist() == [0.5, 0.25, 0.25]
    tensors = make_step(StepNode("step", np.zeros((0, 0)), torch.tensor([[0.5, 0.5]])), copy_row)
    tensors(BOS, ())[0].zero_()
    assert tensors(BOS, ())[0].tolist() == [0.5, 0.5]


@EVERY
def test_what_is_simpler_is_a_model_of_no_more_entries(table: StepTable) -> None:
    found = list(table.simpler())
    assert found
    for simpler in found:
        assert simpler.entries <= table.entries and simpler.dtype in (table.dtype, "float64")
        assert len(simpler.rows) <= len(table.rows)
        for row in (simpler.other, *(row for _, row in simpler.rows)):
            assert len(row) == simpler.vocabulary
            assert sum(row) == pytest.approx(1.0, abs=1e-12) and min(row) >= 0
        assert all(0 <= token < simpler.vocabulary for tokens, _ in simpler.rows for token in tokens)
    # every way of being simpler occurs
    assert (min(one.entries for one in found) < table.entries) == (table.vocabulary > 1)
    assert any(one.other != table.other for one in found)
    assert "float64" in {one.dtype for one in found}


def test_a_row_a_dtype_and_a_token_can_go() -> None:
    found = list(replace(TABLE, dtype="float32").simpler())
    assert replace(TABLE, rows=ROWS[1:], dtype="float32") in found
    assert TABLE in found
    shorter = StepTable((((), (0.75, 0.25)), ((0,), (0.4, 0.6))), (0.5, 0.5), "float32")
    assert shorter in found  # the last token's chance is the first one's now
    single = StepTable((), (1.0,))
    assert {one.vocabulary for one in single.simpler()} == {1}


def test_steps_to_something_simpler_come_to_an_end() -> None:
    table, weights = replace(TABLE, dtype="float32"), []
    for _ in range(100):
        weights.append((table.entries, table.weight()))
        lighter = [one for one in table.simpler() if (one.entries, one.weight()) < weights[-1]]
        if not lighter:
            break
        table = lighter[0]
    assert table == StepTable((), (1.0,)) and len(weights) < 20


def test_weight_counts_tokens_digits_and_the_dtype() -> None:
    assert replace(TABLE, dtype="float32").weight() > TABLE.weight()
    assert replace(TABLE, rows=ROWS[:2]).weight() < TABLE.weight()
    assert StepTable((), (0.5, 0.5)).weight() < StepTable((), (0.75, 0.25)).weight()
    assert StepTable((), (1.0, 0.0)).weight() < StepTable((), (0.0, 1.0)).weight()


def test_keys_are_equal_for_equal_tables_alone() -> None:
    same = StepTable(tuple(ROWS), (0.125, 0.5, 0.375))
    assert same.key() == TABLE.key() and hash(same.key()) == hash(TABLE.key())
    others = [
        replace(TABLE, dtype="float32"),
        replace(TABLE, rows=ROWS[:1]),
        replace(TABLE, other=(1.0, 0.0, 0.0)),
    ]
    assert len({TABLE.key(), *(one.key() for one in others)}) == 4
    assert TABLE.described() == "step" and isinstance(TABLE, SpecialArgument)


@pytest.mark.parametrize("name", ["greedy-decode", "beam-search"])
def test_no_model_of_a_plan_has_a_row_that_is_no_distribution(name: str) -> None:
    for case in inputs_of(name).plan(b"seed").cases:
        table = case.args[0]
        assert isinstance(table, StepTable)
        for row in (table.other, *(row for _, row in table.rows)):
            assert len(row) == table.vocabulary and min(row) >= 0
            assert np.array(row, dtype=table.dtype).sum() == pytest.approx(1.0, abs=1e-6)


def test_what_was_asked_for_last_is_kept() -> None:
    kept = LruCache[str](2)
    kept.put("a", "A")
    kept.put(("b", 1), "B")
    assert kept.get("a") == "A"
    kept.put("c", "C")
    assert (kept.get("a"), kept.get(("b", 1)), kept.get("c")) == ("A", None, "C")


def test_a_key_has_its_latest_result() -> None:
    kept = LruCache[int](1)
    kept.put("a", 1)
    kept.put("a", 2)
    assert kept.get("a") == 2
