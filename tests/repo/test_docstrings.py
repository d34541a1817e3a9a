"""Docstrings keep pace with the code: parameters are those that there are, references lead somewhere."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from tests.repo.house import Module, modules

EVERY = modules()
_SECTION = re.compile(r"^Parameters\n-+\n(.*?)(?=^\w[\w ]*\n-+\n|\Z)", re.DOTALL | re.MULTILINE)
_REFERENCE = re.compile(r":(?:mod|class|func|meth|attr|data|exc):`~?([\w.]+)`")


def documented(docstring: str) -> list[str] | None:
    """Return the names in a docstring's section on parameters, None where it has none."""
    match = _SECTION.search(docstring)
    if match is None:
        return None
    heads = [line for line in match[1].splitlines() if line and not line.startswith(" ")]
    names = (name.strip().lstrip("*") for head in heads for name in head.partition(" : ")[0].split(","))
    return [name for name in names if name.isidentifier()]


def arguments(function: ast.FunctionDef) -> list[str]:
    everything = function.args
    named = [*everything.posonlyargs, *everything.args, *everything.kwonlyargs]
    starred = [argument for argument in (everything.vararg, everything.kwarg) if argument is not None]
    return [argument.arg for argument in (*named, *starred) if argument.arg not in ("self", "cls")]


def fields(definition: ast.ClassDef) -> list[str]:
    """Return what a class is made from: the arguments of its initialiser, or else its fields."""
    for node in definition.body:
        if isinstance(node, ast.FunctionDef) and node.name in ("__init__", "__new__"):
            return arguments(node)
    return [
        node.target.id.lstrip("_")
        for node in definition.body
        if isinstance(node, ast.AnnAssign)
        and isinstance(node.target, ast.Name)
        and "ClassVar" not in ast.unparse(node.annotation)
    ]


def stale(tree: ast.AST) -> Iterator[str]:
    """Yield definitions whose section on parameters names others than there are."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.ClassDef):
            continue
        names = documented(ast.get_docstring(node) or "")
        if names is None:
            continue
        there = fields(node) if isinstance(node, ast.ClassDef) else arguments(node)
        # a subclass may document what it inherits, and a class has fields that its caller doesn't give
        inherits = isinstance(node, ast.ClassDef) and bool(node.bases)
        unknown = [] if inherits else [name for name in names if name not in there]
        missing = [] if isinstance(node, ast.ClassDef) else [name for name in there if name not in names]
        if unknown or missing:
            yield f"{node.name}: there is no {unknown}, and {missing} is missing"


@pytest.mark.parametrize("module", EVERY, ids=lambda module: module.name)
def test_sections_on_parameters_name_the_parameters(module: Module) -> None:
    assert list(stale(module.tree)) == []


@cache
def leads_somewhere(name: str) -> bool:
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        try:
            value: Any = importlib.import_module(".".join(parts[:count]))
        except ImportError:
            continue
        for part in parts[count:]:
            # a field of a dataclass without a default is no attribute of its class
            if not hasattr(value, part) and part in getattr(value, "__annotations__", {}):
                return True
            value = getattr(value, part, None)
            if value is None:
                return False
        return True
    return False


@pytest.mark.parametrize(
    "module", [m for m in EVERY if _REFERENCE.search(m.source)], ids=lambda module: module.name
)
def test_references_lead_somewhere(module: Module) -> None:
    package = module.name if module.is_package else module.name.rpartition(".")[0]
    classes = [node.name for node in ast.walk(module.tree) if isinstance(node, ast.ClassDef)]
    lost = []
    for name in _REFERENCE.findall(module.source):
        near = [f"{package}{name}"] if name.startswith(".") else [name, f"{module.name}.{name}"]
        near += [f"{module.name}.{owner}.{name}" for owner in classes]
        if not any(map(leads_somewhere, near)):
            lost.append(name)
    assert lost == []


def test_a_stale_section_would_be_noticed() -> None:
    text = (
        'def f(a, b):\n    """Return.\n\n    Parameters\n    ----------\n    a : int\n    c : int\n    """\n'
    )
    assert list(stale(ast.parse(text))) == ["f: there is no ['c'], and ['b'] is missing"]
    assert not leads_somewhere("engine.similarity.normal_form")
