"""The vocabulary of the spec is what the expression evaluator and the templates really offer."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from engine.expressions.functions import FUNCTIONS
from engine.items.functions import (
    GROUPS,
    TEXT_FILTERS,
    TEXT_FUNCTIONS,
    FunctionDescription,
    builtin_vocabulary,
)
from engine.prose.pictures import PICTURE_FUNCTIONS
from engine.prose.stems import fill_template

DESCRIBED = {one.name: one for group in GROUPS.values() for one in group}


def test_the_names_are_those_of_the_evaluator() -> None:
    assert set(DESCRIBED) == set(FUNCTIONS)
    assert builtin_vocabulary().functions == frozenset(FUNCTIONS)
    assert sum(len(group) for group in GROUPS.values()) == len(DESCRIBED)


def written(call: Callable[..., Any]) -> str:
    bare = [
        p.replace(annotation=inspect.Parameter.empty) for p in inspect.signature(call).parameters.values()
    ]
    return str(inspect.Signature(bare))[1:-1]


@pytest.mark.parametrize("one", DESCRIBED.values(), ids=lambda one: one.name)
def test_the_arguments_are_those_of_the_evaluator(one: FunctionDescription) -> None:
    real = written(FUNCTIONS[one.name].call)
    assert one.arguments == real or real == "*args"  # the decoder's quantities pass theirs through
    assert one.gives.endswith(".")


ONE, ROW, SQUARE = "1", "[1, 2]", "[[1, 2], [3, 4]]"
SAMPLES = {
    "num": ONE, "dec": ONE, "mat": SQUARE, "table": SQUARE, "heatmap": SQUARE,
    "alignment_grid": "[[0.1, 0.9]]", "beam_tree": "[[0.4, 0.6], [0.3, 0.7], [0.2, 0.8]]",
}  # fmt: skip
MORE = {"beam_tree": "2"}


@pytest.mark.parametrize("one", TEXT_FUNCTIONS, ids=lambda one: one.name)
def test_texts_know_their_functions(one: FunctionDescription) -> None:
    sample = _tensor(SAMPLES.get(one.name, ONE if one.name == "par" else ROW))
    call = f"{one.name}(A, {MORE[one.name]})" if one.name in MORE else f"{one.name}(A)"
    assert fill_template("{{ " + call + " }}", {"A": sample})


@pytest.mark.parametrize("name", [*TEXT_FILTERS, *(one.name for one in TEXT_FUNCTIONS)])
def test_texts_know_their_filters(name: str) -> None:
    sample = _tensor(SAMPLES.get(name, ONE if name == "par" else ROW))
    call = f"{name}({MORE[name]})" if name in MORE else name
    assert fill_template("{{ A | " + call + " }}", {"A": sample})


@pytest.mark.parametrize("name", PICTURE_FUNCTIONS)
def test_the_arguments_of_pictures_are_those_that_the_page_lists(name: str) -> None:
    described = {one.name: one.arguments for one in TEXT_FUNCTIONS}
    # words may be left out, which the text above the list says
    assert described[name] == written(PICTURE_FUNCTIONS[name]).replace("=''", "")


def _tensor(text: str) -> Any:
    import json

    import torch

    return torch.tensor(json.loads(text), dtype=torch.float64)
