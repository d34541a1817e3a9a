"""Simpler neighbours of an input: what a counterexample is shrunk through.

Every step removes a slice of a named axis (from all arguments that have it), drops an argument or a
leading axis of size 1, or makes one number simpler.  The order of simplicity is total, so the search
is deterministic.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.code.arguments import Argument, Leafwise, SpecialArgument, flat, key_of, rebuilt

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
        For each leaf of the arguments (:func:`engine.code.arguments.flat`) the names of its axes; axes of
        one name have one size and shrink together. Leaves at the end may be left out.
    """

    args: tuple[Argument, ...]
    axes: tuple[tuple[str, ...], ...]

    def leaves(self) -> list[tuple[Leafwise, tuple[str, ...]]]:
        """Return the leaves of the arguments with the names of their axes."""
        found = flat(self.args)
        names = self.axes + ((),) * (len(found) - len(self.axes))
        return list(zip(found, names[: len(found)], strict=True))

    def with_leaves(self, leaves: Sequence[Leafwise]) -> Candidate:
        """Return the same arguments with other leaves."""
        return replace(self, args=rebuilt(self.args, leaves))


def complexity(candidate: Candidate) -> Complexity:
    """Return what makes an input hard to read: entries, axes, arguments, fractions, size of the numbers."""
    leaves = flat(candidate.args)
    arrays = [value for value in leaves if isinstance(value, np.ndarray)]
    special = [value for value in leaves if isinstance(value, SpecialArgument)]
    numbers = [value.astype(np.float64).ravel() for value in arrays if value.dtype != np.bool_]
    numbers += [np.array([value], dtype=float) for value in leaves if type(value) in (int, float)]
    entries = np.concatenate(numbers) if numbers else np.zeros(0)
    hidden = sum(int((~value).sum()) for value in arrays if value.dtype == np.bool_)
    return (
        float(sum(value.size for value in arrays) + sum(value.entries for value in special)),
        *(weight for value in special for weight in value.weight()),
        float(sum(value.ndim for value in arrays)),
        float(len(candidate.args)),
        float(sum(value.dtype not in (np.float64, np.bool_) for value in arrays)),
        float((entries != np.trunc(entries)).sum()),
        float(np.abs(entries).sum()),
        float((entries < 0).sum()),
        float(hidden),
    )


def fingerprint(candidate: Candidate) -> tuple[Hashable, ...]:
    """Return a key that two equal inputs share."""
    return key_of(candidate.args)


def simpler(candidate: Candidate) -> list[Candidate]:
    """Return the neighbours that are simpler than this input, simplest first."""
    now = complexity(candidate)
    found: dict[tuple[Hashable, ...], Candidate] = {}
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
    for value, names in candidate.leaves():
        if isinstance(value, np.ndarray):
            sizes.update(zip(names, value.shape, strict=True))
    for name, size in sizes.items():
        for index in range(size if size > 1 else 0):
            yield _mapped(candidate, lambda value, place, index=index: np.delete(value, index, place), name)


def _without_axes(candidate: Candidate) -> Iterator[Candidate]:
    """Drop a first axis of size 1 that every array shares, or that a lone array has."""
    arrays = [(value, names) for value, names in candidate.leaves() if isinstance(value, np.ndarray)]
    shared = [names[0] for value, names in arrays if value.ndim > 1 and value.shape[0] == 1]
    if arrays and len(shared) == len(arrays) and len(set(shared)) == 1:
        leaves = [v[0] if isinstance(v, np.ndarray) else v for v, _ in candidate.leaves()]
        yield replace(candidate.with_leaves(leaves), axes=tuple(names[1:] for names in candidate.axes))


def _without_last(candidate: Candidate) -> Iterator[Candidate]:
    """Leave out the last argument, if it is optional: a mask or a plain value."""
    last = candidate.args[-1]
    array = isinstance(last, np.ndarray) and last.dtype != np.bool_
    if len(candidate.args) > 1 and not array and not isinstance(last, Mapping | SpecialArgument):
        yield Candidate(candidate.args[:-1], candidate.axes)


def _plainer(candidate: Candidate) -> Iterator[Candidate]:
    leaves = [value for value, _ in candidate.leaves()]
    for place, value in enumerate(leaves):
        for changed in _plainer_leaves(value):
            yield candidate.with_leaves([*leaves[:place], changed, *leaves[place + 1 :]])


def _plainer_leaves(value: Leafwise) -> Iterator[Leafwise]:
    if isinstance(value, SpecialArgument):
        yield from value.simpler()
    elif type(value) is int:
        yield from (number for number in (0, 1, value - 1, -value) if number != value)
    elif isinstance(value, np.ndarray):
        for index in np.ndindex(value.shape):
            for number in _plainer_numbers(value[index]):
                changed = value.copy()
                changed[index] = number
                yield changed


def _plainer_numbers(entry: Any) -> list[Any]:
    if isinstance(entry, np.bool_):
        return [] if entry else [True]
    x = float(entry)
    tries = [0.0, 1.0, -x, float(np.trunc(x)), float(np.trunc(x / 2)), _round_down(x)]
    return [t for t in dict.fromkeys(tries) if t != x]


def _round_down(x: float) -> float:
    """Return the next smaller 1, 10, 100 … times the sign: large numbers should be round ones."""
    return 0.0 if abs(x) <= 1 else float(np.sign(x)) * 10.0 ** np.floor(np.log10(abs(x)) - 1e-12)


def _mapped(candidate: Candidate, change: Callable[..., NDArray[Any]], name: str) -> Candidate:
    leaves: list[Leafwise] = []
    for value, names in candidate.leaves():
        if isinstance(value, np.ndarray) and name in names:
            changed = change(value, names.index(name))
            leaves.append(np.ascontiguousarray(changed).reshape(changed.shape))
        else:
            leaves.append(value)
    return candidate.with_leaves(leaves)
