"""Families of plans, one file each: what inputs an exercise tries, and what the reference gives for them.

A file's name is what a spec's ``plan`` gives, and its ``FAMILY`` is the family: adding a file adds a family.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import cast

from engine.code.array_family import ExerciseFamily

__all__ = ["family", "family_names", "offered_groups"]


def family_names() -> list[str]:
    """Return the names of all families."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


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
    return cast(ExerciseFamily, importlib.import_module(f"{__name__}.{name}").FAMILY)


@cache
def offered_groups(name: str) -> frozenset[str]:
    """Return the keys of all groups that a family's plans have; a seed changes inputs, never these."""
    return frozenset(family(name).plan(b"load").groups)
