"""What a family of plans offers, and the registry: a file's name is what a spec's ``plan`` gives."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from pathlib import Path
from typing import Protocol, cast

from engine.code.arguments import Argument
from engine.code.plan import ExpectedResult, InputPlan

__all__ = ["ExerciseFamily", "family", "family_names", "offered_groups"]

# modules of this folder that several families share
_NO_FAMILY = {"__init__", "family", "array_family", "random_values", "shared_cases"}


class ExerciseFamily(Protocol):
    """One kind of exercise: its inputs and the truth about them."""

    argument_names: tuple[str, ...]

    def plan(self, seed: bytes) -> InputPlan:
        """Return the plan of a secret seed: every property, canonical cases first."""
        ...

    def expected(self, args: tuple[Argument, ...]) -> ExpectedResult:
        """Return what the reference gives for these arguments."""
        ...

    def candidates(self) -> tuple[tuple[Argument, ...], ...]:
        """Return the public inputs that a search for a counterexample starts from, simplest first."""
        ...

    def axes(self, args: tuple[Argument, ...]) -> tuple[tuple[str, ...], ...]:
        """Return the names of the axes of each argument; axes of one name shrink together."""
        ...

    def sound(self, args: tuple[Argument, ...]) -> bool:
        """Return whether the function has a defined result for these arguments."""
        ...


def family_names() -> list[str]:
    """Return the names of all families."""
    folder = str(Path(__file__).parent)
    return sorted(found.name for found in pkgutil.iter_modules([folder]) if found.name not in _NO_FAMILY)


@cache
def family(name: str) -> ExerciseFamily:
    """Return the family of this name; the folder is looked at once per name.

    Raises
    ------
    KeyError
        No family has this name.
    """
    if name not in family_names():
        raise KeyError(name)
    return cast(ExerciseFamily, importlib.import_module(f"engine.code.families.{name}").FAMILY)


@cache
def offered_groups(name: str) -> frozenset[str]:
    """Return the keys of all groups that a family's plans have; a seed changes inputs, never these."""
    return frozenset(family(name).plan(b"load").groups)
