"""The vocabulary of the spec is what the expression evaluator and the templates really offer."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from engine.spec.functions import GROUPS, TEXT_FILTERS, TEXT_FUNCTIONS, Described, builtin_vocabulary
from engine.variants.functions import FUNCTIONS
from engine.variants.templates import fill_template

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
def test_the_arguments_are_those_of_the_evaluator(one: Described) -> None:
    real = written(FUNCTIONS[one.name].call)
    assert one.arguments == real or real == "*args"  # the decoder's quantities pass theirs through
    assert one.gives.endswith(".")


@pytest.mark.parametrize("one", TEXT_FUNCTIONS, ids=lambda one: one.name)
def test_texts_know_their_functions(one: Described) -> None:
    value = "[[1, 2], [3, 4]]" if one.name in ("mat", "table") else "1" if one.name == "par" else "[1, 2]"
    value = "1" if one.name in ("num", "dec") else value
    assert fill_template("{{ f(A) }}".replace("f", one.name), {"A": _tensor(value)})


@pytest.mark.parametrize("name", [*TEXT_FILTERS, *(one.name for one in TEXT_FUNCTIONS)])
def test_texts_know_their_filters(name: str) -> None:
    value = (
        "1" if name in ("num", "dec", "par") else "[[1, 2], [3, 4]]" if name in ("mat", "table") else "[1, 2]"
    )
    assert fill_template("{{ A | NAME }}".replace("NAME", name), {"A": _tensor(value)})


def _tensor(text: str) -> Any:
    import json

    import torch

    return torch.tensor(json.loads(text), dtype=torch.float64)
