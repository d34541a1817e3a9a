"""The catalogue of properties: what a right function's outputs fulfil, whatever way it is written.

A file of this folder registers its properties in ``PROPERTIES``, a line each: adding a line adds a property.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from engine.code.observe import PlanObservations
from engine.code.plan import CaseGroup

__all__ = ["Property", "property_names", "property_of"]


@dataclass(frozen=True, slots=True)
class Property:
    """One property.

    Parameters
    ----------
    name : str
        What a check of a spec calls it.
    title : str
        A few words on what is tried, shown beside the mark whether the check passed or not.
    sentence : str
        What must hold: all that students see of a hidden check.
    judge : callable
        Takes a group and what was observed; returns None where the property holds, else what was
        seen instead, as a clause for the student. Raises :class:`~engine.code.observe.UnusableError`
        where a call gave no array of the right shape.
    compares : bool
        Whether it only says "differs from the reference".
    contract : bool
        Whether it holds of many a program that is wrong: what it earns, it earns only where something is
        right.
    """

    name: str
    title: str
    sentence: str
    judge: Callable[[CaseGroup, PlanObservations], str | None]
    compares: bool = False
    contract: bool = False


@cache  # the folder doesn't change while the program runs
def _catalogue() -> dict[str, Property]:
    properties: dict[str, Property] = {}
    for module in pkgutil.iter_modules(__path__):
        for entry in importlib.import_module(f"{__name__}.{module.name}").PROPERTIES:
            if entry.name in properties:
                # one would silently take the other's place in every rubric
                raise ValueError(f"two properties are called {entry.name}")
            properties[entry.name] = entry
    return properties


def property_names() -> list[str]:
    """Return the names of all properties."""
    return sorted(_catalogue())


def property_of(name: str) -> Property:
    """Return the property of this name; KeyError if there is none."""
    return _catalogue()[name]
