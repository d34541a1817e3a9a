"""Assignments as students hand them in: exported notebooks whose cells tests fill, move and delete."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from typing import Any

import engine
from engine.export.jupyter import NotebookItem, assignment_notebook
from engine.items import builtin_bank
from engine.practice.starter import starter_text

RIGHT_SOFTMAX = """\
import numpy as np


def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)
"""
BASE_2 = RIGHT_SOFTMAX.replace("np.exp(", "np.exp2(")
RIGHT_MASK = """\
import numpy as np


def causal_mask(n):
    return np.tril(np.ones((n, n), dtype=bool))
"""


def exported(*items: str, seed: int = 7, secret: bytes | None = None) -> dict[str, Any]:
    """Return an assignment's notebook of built-in items."""
    chosen = []
    for name in items:
        item = engine.load_item(name)
        is_code = item.spec.kind == "code"
        drawn = 0 if is_code else seed
        starter = starter_text(builtin_bank(), name) if is_code else ""
        variant = engine.draw(item, seed=drawn)
        chosen.append(NotebookItem(item.spec, variant, item.registry, drawn, starter))
    return dict(json.loads(assignment_notebook(chosen, "Week 3", secret=secret)))


def cell_of(notebook: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return the first cell of an id."""
    return next(cell for cell in notebook["cells"] if cell["id"] == name)


def filled(notebook: Mapping[str, Any], work: Mapping[str, str]) -> dict[str, Any]:
    """Return a copy with other sources in some cells, by their ids."""
    result = copy.deepcopy(dict(notebook))
    for name, source in work.items():
        cell_of(result, name)["source"] = source
    return result


def code_cell(source: str, **metadata: Any) -> dict[str, Any]:
    """Return a cell of the student's own."""
    return {
        "cell_type": "code", "execution_count": None, "id": f"own-{abs(hash(source)) % 10**8}",
        "metadata": metadata, "outputs": [], "source": source,
    }  # fmt: skip


def without(notebook: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return a copy without a cell."""
    result = copy.deepcopy(dict(notebook))
    result["cells"] = [cell for cell in result["cells"] if cell["id"] != name]
    return result


def inserted(notebook: Mapping[str, Any], source: str, before: str | None = None) -> dict[str, Any]:
    """Return a copy with a cell of the student's own before another, or at the end."""
    result = copy.deepcopy(dict(notebook))
    places = [place for place, cell in enumerate(result["cells"]) if cell["id"] == before]
    result["cells"].insert(places[0] if places else len(result["cells"]), code_cell(source))
    return result


Change = Callable[[dict[str, Any]], dict[str, Any]]
