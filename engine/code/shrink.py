"""Simpler neighbours of an input: what a counterexample is shrunk through.

Every step removes a slice of a named axis (from all arguments that have it), drops an argument or a
leading axis of size 1, or makes one number simpler.  The order of simplicity is total, so the search
is deterministic.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.code.case import Argument

__all__ = ["Candidate", "complexity", "fingerprint", "simpler"]

Complexity = tuple[float, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """An input that may become a counterexample.

    Parameters
    ----------
    args : tuple
        As a call's positional arguments.
    axes : tuple of tuple of str
        For each argument the names of its axes; axes of one name have one size and shrink together.
    """

    args: tuple[Argument, ...]
    axes: tuple[tuple[str, ...], ...]


def complexity(candidate: Candidate) -> Complexity:
    """Return what makes an input hard to read: entries, axes, arguments, fractions, size of the numbers."""
    arrays = [value for value in candidate.args if isinstance(value, np.ndarray)]
    numbers = [value.astype(np.float64).ravel() for value in arrays if value.dtype != np.bool_]
    flat = np.concatenate(numbers) if numbers else np.zeros(0)
    hidden = sum(int((~value).sum()) for value in arrays if value.dtype == np.bool_)
    return (
        float(sum(value.size for value in arrays)),
        float(sum(value.ndim for value in arrays)),
        float(len(candidate.args)),
        float(sum(value.dtype not in (np.float64, np.bool_) for value in arrays)),
        float((flat != np.trunc(flat)).sum()),
        float(np.abs(flat).sum()),
        float((flat < 0).sum()),
        float(hidden),
    )


def fingerprint(candidate: Candidate) -> tuple[Any, ...]:
    """Return a key that two equal inputs share."""
    return tuple(
        (value.dtype.name, value.shape, value.tobytes()) if isinstance(value, np.ndarray) else value
        for value in candidate.args
    )


def simpler(candidate: Candidate) -> list[Candidate]:
    """Return the neighbours that are simpler than this input, simplest first."""
    now = complexity(candidate)
    found: dict[tuple[Any, ...], Candidate] = {}
    for neighbour in _neighbours(candidate):
        if complexity(neighbour) < now:
            found.setdefault(fingerprint(neighbour), neighbour)
    return sorted(found.values(), key=complexity)


def _neighbours(candidate: Candidate) -> Iterator[Candidate]:
    yield from _without_slices(candidate)
    yield from _without_axes(candidate)
    yield from _without_last(candidate)
    yield from _plainer(candidate)


def _without_slices(candidate: Candidate) -> Iterator[Candidate]:
    sizes: dict[str, int] = {}
    for value, names in zip(candidate.args, candidate.axes, strict=False):
        if isinstance(value, np.ndarray):
            sizes.update(zip(names, value.shape, strict=True))
    for name, size in sizes.items():
        for index in range(size if size > 1 else 0):
            yield _mapped(candidate, lambda value, place, index=index: np.delete(value, index, place), name)


def _without_axes(candidate: Candidate) -> Iterator[Candidate]:
    """Drop a first axis of size 1 that every array shares, or that a lone array has."""
    arrays = [
        (v, n) for v, n in zip(candidate.args, candidate.axes, strict=False) if isinstance(v, np.ndarray)
    ]
    shared = [names[0] for value, names in arrays if value.ndim > 1 and value.shape[0] == 1]
    if len(shared) == len(arrays) and len(set(shared)) == 1:
        yield replace(
            candidate,
            args=tuple(v[0] if isinstance(v, np.ndarray) else v for v in candidate.args),
            axes=tuple(n[1:] for n in candidate.axes),
        )


def _without_last(candidate: Candidate) -> Iterator[Candidate]:
    """Leave out the last argument, if it is optional: no array of numbers."""
    last = candidate.args[-1]
    if len(candidate.args) > 1 and not (isinstance(last, np.ndarray) and last.dtype != np.bool_):
        yield Candidate(candidate.args[:-1], candidate.axes)


def _plainer(candidate: Candidate) -> Iterator[Candidate]:
    for place, value in enumerate(candidate.args):
        if not isinstance(value, np.ndarray):
            continue
        for index in np.ndindex(value.shape):
            for number in _plainer_numbers(value[index]):
                changed = value.copy()
                changed[index] = number
                args: tuple[Argument, ...] = (*candidate.args[:place], changed, *candidate.args[place + 1 :])
                yield Candidate(args, candidate.axes)


def _plainer_numbers(entry: Any) -> list[Any]:
    if isinstance(entry, np.bool_):
        return [] if entry else [True]
    x = float(entry)
    tries = [0.0, 1.0, -x, float(np.trunc(x)), float(np.trunc(x / 2)), _round_down(x)]
    return [t for t in dict.fromkeys(tries) if t != x]


def _round_down(x: float) -> float:
    """Return the next smaller 1, 10, 100 … times the sign: large numbers should be round ones."""
    return 0.0 if abs(x) <= 1 else float(np.sign(x)) * 10.0 ** np.floor(np.log10(abs(x)) - 1e-12)


def _mapped(candidate: Candidate, change: Any, name: str) -> Candidate:
    args: list[Argument] = []
    for value, names in zip(candidate.args, candidate.axes, strict=False):
        if isinstance(value, np.ndarray) and name in names:
            changed: NDArray[Any] = change(value, names.index(name))
            args.append(np.ascontiguousarray(changed).reshape(changed.shape))
        else:
            args.append(value)
    return Candidate(tuple(args), candidate.axes)
