"""What known-wrong implementations do on a plan, found out case by case and only as far as it's asked."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from engine.code.case import Expected, Part, Plan
from engine.code.exercise import CodeExercise, Mutant
from engine.code.explain.trusted import TrustedProgram
from engine.code.observe import Observation, observed
from engine.code.reading.source import function_names, library_of
from engine.code.tolerance import close
from engine.errors import EngineError
from engine.runner import CallStatus, Job

__all__ = ["Behaviour", "Gallery", "gallery", "wrong_facets"]

Floats = NDArray[np.float64]
_REMEMBERED = 6
_NO_REFUSALS = frozenset({"AssertionError", "IndexError", "KeyError", "LookupError", "TypeError"})
"""Exceptions that checks of sizes are written with, or that come by themselves, where ValueError is asked."""


class Behaviour:
    """One implementation of a mutant on one plan; it is ours, so it runs in this process.

    Parameters
    ----------
    mutant : Mutant
    function : str
        Which of its functions: a file may hold the same mistake in several clothes.
    plan : Plan
    telling : list of str
        Ids of cases that told this function from a submission before, the latest first; kept from
        plan to plan, because a case's id says what kind of input it is.
    """

    def __init__(self, mutant: Mutant, function: str, plan: Plan, telling: list[str]) -> None:
        self.mutant = mutant.id
        self.names = frozenset(mutant.combines or (mutant.id,))
        self._plan, self._telling = plan, telling
        self._function = function
        self._program, self._library = _program(mutant.source, mutant.filename)
        if self._program.load.status is not CallStatus.RETURNED:
            raise EngineError(f"the mutant {mutant.id} can't be loaded")
        self._seen: dict[int, tuple[Observation, tuple[str, ...]]] = {}
        self._wrong: list[int] | None = None  # known as soon as all cases are

    def at(self, place: int) -> tuple[Observation, tuple[str, ...]]:
        """Return what it does on a case, and the facets in which that is wrong."""
        if place not in self._seen:
            case, sent = self._plan.cases[place], self._plan.sent(self._library)[place]
            # whose memory a result is made of isn't looked at here, and comparing it takes most of the time
            call = replace(sent, function=self._function, overwrite_result=False)
            found = observed(case, call, self._program.call(call), self._library)
            self._seen[place] = found, wrong_facets(found, case.expected)
        return self._seen[place]

    def order(self) -> Iterator[int]:
        """Yield the cases where it may be wrong by their place, first those that told it from others."""
        if len(self._seen) == len(self._plan.cases):
            if self._wrong is None:
                self._wrong = [place for place, (_, facets) in sorted(self._seen.items()) if facets]
            yield from self._wrong
            return
        first = [place for case in self._telling if (place := self._plan.places.get(case)) is not None]
        yield from first
        yield from (place for place in range(len(self._plan.cases)) if place not in first)

    def told_by(self, place: int) -> None:
        """Remember a case in which a submission wasn't like this."""
        case = self._plan.cases[place].id
        if case in self._telling:
            self._telling.remove(case)
        self._telling.insert(0, case)
        del self._telling[_REMEMBERED:]


class Gallery:
    """All behaviours of an exercise's mutants on one plan; one thread at a time looks at them."""

    def __init__(self, exercise: CodeExercise, plan: Plan) -> None:
        self.lock = threading.RLock()
        self.behaviours = tuple(
            Behaviour(mutant, function, plan, _told.setdefault((exercise.version, mutant.id, function), []))
            for mutant in exercise.mutants
            for function in function_names(mutant.source, exercise.function)
        )


@lru_cache(maxsize=4096)
def _program(source: str, filename: str) -> tuple[TrustedProgram, str]:
    """Return a mutant's file, loaded, and its library: both are the same for all plans."""
    return TrustedProgram(Job(source, filename, ())), library_of(source)


_told: dict[tuple[str, str, str], list[str]] = {}


@lru_cache(maxsize=64)
def gallery(exercise: CodeExercise, plan: Plan) -> Gallery:
    """Return the mutants of an exercise on a plan; they are loaded once per plan.

    Raises
    ------
    EngineError
        A mutant can't be loaded.
    """
    return Gallery(exercise, plan)


def wrong_facets(observation: Observation, expected: Expected | None) -> tuple[str, ...]:
    """Return the facets in which an observation isn't right.

    They are ``"value 0"`` (of part 0) and so on, ``"dtype"``, ``"argument"``, ``"gradient"``, or, for an
    input that must be refused, ``"accepted"`` or ``"other error"``.
    """
    if expected is None:
        if observation.status is CallStatus.RETURNED:
            return ("accepted",)
        if observation.exception is None or observation.takes_fewer:
            return ()
        return ("other error",) if observation.exception.type in _NO_REFUSALS else ()
    facets = [
        f"value {place}"
        for place, part in enumerate(expected.parts)
        if observation.parts is None or not close(observation.parts[place].values, part.values, part.slack)
    ]
    parts = observation.parts
    if parts is not None and any(
        got.dtype != part.dtype and not got.kind for got, part in zip(parts, expected.parts, strict=True)
    ):
        facets.append("dtype")
    if observation.modified:
        facets.append("argument")
    if observation.gradients is not None and expected.gradients is not None:
        facets += _wrong_gradients(observation.gradients, expected.gradients)
    return tuple(facets)


def _wrong_gradients(found: tuple[Floats | None, ...], wanted: tuple[Part, ...]) -> list[str]:
    wrong = len(found) != len(wanted) or any(
        got is None or not close(got, part.values, part.slack)
        for got, part in zip(found, wanted, strict=True)
    )
    return ["gradient"] if wrong else []
