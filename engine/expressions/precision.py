"""How far honest rounding of every intermediate can move a key.

A student who writes 0.67 for 2/3 and goes on with it must not lose the mark for a last digit that is off. How
far it can be off depends on the numbers of the variant: rounding a score moves a softmax weight much more
where two scores are close.

So a key is evaluated as on paper. Every intermediate that somebody writes down gets a disturbance of 0, and
:mod:`reference.tangents` tells how much each disturbance moves each entry of the key. The sum of
those effects, for disturbances of half a unit of the working precision, bounds (to first order) the error of
whoever rounds everything.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from engine.expressions.language import OPERATORS, evaluate, parse
from engine.expressions.values import Array, as_tensor, is_tensor
from reference.tangents import TangentArray, plain

# For the effects of second order, which differentiation doesn't see: of half a unit they are a few percent.
_MARGIN = 1.05
# In units of the working precision. A number that lies on its grid is written down as it is; what it is off
# by comes from float64, which is far below this even after many operations.
_ON_GRID = 1e-6
# Sums and differences of rounded numbers are on the grid again, so nobody rounds them.
_INEXACT = (ast.Mult, ast.Div, ast.Pow)


class PaperRounding:
    """One evaluation on paper, with every intermediate rounded to `working_decimals` places."""

    def __init__(self, working_decimals: int) -> None:
        self._grain = 10.0**-working_decimals
        self._sources = 0  # each a disturbance; its tangent is how far it reaches
        self._by_hand: dict[Any, Callable[..., Any]] | None = None

    def rounded(self, value: Array, *, added: int | None = None) -> Array:
        """Return `value` as written down: with its disturbance, unless it is exact at this precision.

        With `added` it is then summed along that axis, exactly.
        """
        total = value if added is None else np.sum(value, added)
        if value.dtype.kind != "f":
            return total
        reach = np.full(value.shape, self._grain / 2)
        # what depends on rounded numbers is rounded itself, whatever digits it happens to have
        if not isinstance(value, TangentArray):
            steps = value / self._grain
            reach[abs(steps - np.round(steps)) < _ON_GRID] = 0.0
            if not reach.any():
                return total
        # one disturbance for a sum moves it as far as one for each of its terms
        return self.disturbed(total, reach if added is None else reach.sum(added))

    def disturbed(self, value: Array, reach: Any) -> TangentArray:
        """Return `value` with a disturbance of at most `reach` in each entry."""
        places = np.flatnonzero(reach)
        sources = self._sources + len(places)
        tangents = np.zeros((sources, np.size(reach)))
        tangents[np.arange(self._sources, sources), places] = np.ravel(reach)[places]
        self._sources = sources
        tangents = tangents.reshape(sources, *np.shape(reach))
        if isinstance(value, TangentArray):
            tangents[: len(value.tangents)] += value.tangents
        return TangentArray(plain(value), tangents)

    def evaluate(self, text: str, names: Mapping[str, Any]) -> Any:
        """Evaluate an expression by hand-work."""
        return evaluate(text, names, functions=self._function, operators=self._operators())

    def _function(self, name: str) -> Callable[..., Any] | None:
        from engine.expressions.functions import FUNCTIONS

        function = FUNCTIONS.get(name)
        if function is None:
            return None
        if function.exact:
            return function.call
        if function.by_hand is not None:
            return partial(function.by_hand, self.rounded)
        return self._rounding(function.call)

    def _operators(self) -> Mapping[Any, Callable[..., Any]]:
        from engine.expressions.functions.arithmetic import product_by_hand

        # OPERATORS and not EXACT_OPERATORS: the key itself has already been refused near a jump
        if self._by_hand is None:
            self._by_hand = OPERATORS | {kind: self._rounding(OPERATORS[kind]) for kind in _INEXACT}
            self._by_hand[ast.MatMult] = partial(product_by_hand, self.rounded)
        return self._by_hand

    def _rounding(self, act: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *args, **kwargs: self._written(act(*args, **kwargs))

    def _written(self, value: Any) -> Any:
        if is_tensor(value):
            return self.rounded(value)
        return self.rounded(as_tensor(value)) if isinstance(value, float) else value

    def slack(self, value: Any) -> tuple[float, ...]:
        """Return how far each entry of a value can have moved."""

        if not isinstance(value, TangentArray):
            return (0.0,) * int(as_tensor(value).size)
        # the worst case, in which all disturbances push the same way
        moved = np.abs(value.tangents).sum(0).ravel() * _MARGIN
        return tuple(float(entry) for entry in moved)


def rounding_slack(
    key: str,
    names: Mapping[str, Any],
    working: Mapping[str, str],
    working_decimals: int,
    carried: Mapping[str, Sequence[float]] | None = None,
) -> tuple[float, ...]:
    """Return, for each entry of a key, how far rounding every intermediate can move it.

    Parameters
    ----------
    key : str
        The key's expression.
    names : mapping of str to value
        Every name that it may use, evaluated exactly.
    working : mapping of str to str
        Derived values, in order, which the student works out, too.
    working_decimals : int
        Places to which every intermediate is rounded.
    carried : mapping of str to sequence of float, optional
        Earlier answers, and how far each of their entries may be off.

    Raises
    ------
    engine.errors.ExpressionError
        The hand-work of an expression fails.
    """

    work = PaperRounding(working_decimals)
    values = dict(names)
    needed = _needed(key, working)  # a derived value that only the solution shows is nobody's work
    for name, reach in (carried or {}).items():
        if name not in needed or not any(reach):
            continue
        value = as_tensor(values[name])
        values[name] = work.disturbed(value, np.reshape(reach, value.shape))
    for name, text in working.items():
        if name in needed:
            values[name] = work.evaluate(text, values)
    return work.slack(work.evaluate(key, values))


def _needed(key: str, working: Mapping[str, str]) -> set[str]:
    needed: set[str] = set()
    frontier = set(parse(key).names)
    while frontier:
        name = frontier.pop()
        if name not in needed:
            needed.add(name)
            frontier |= parse(working[name]).names if name in working else set()
    return needed
