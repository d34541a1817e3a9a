"""How far honest rounding of every intermediate can move a key.

A student who writes 0.67 for 2/3 and goes on with it must not lose the mark for a last digit that is off. How
far it can be off depends on the numbers of the variant: rounding a score moves a softmax weight much more
where two scores are close.

So a key is evaluated as on paper. Every intermediate that somebody writes down gets a disturbance of 0, and
automatic differentiation tells how much each disturbance moves each entry of the key. The sum of those
effects, for disturbances of half a unit of the working precision, bounds (to first order) the error of
whoever rounds everything.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from engine.expressions.language import OPERATORS, evaluate, parse
from engine.expressions.values import as_tensor, is_tensor, torch

if TYPE_CHECKING:
    from torch import Tensor

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
        self._sources: list[tuple[Tensor, Tensor]] = []

    def rounded(self, value: Tensor) -> Tensor:
        """Return `value` as written down: with its disturbance, unless it is exact at this precision."""

        if not value.is_floating_point():
            return value
        reach = torch.full_like(value, self._grain / 2, requires_grad=False)
        # what depends on rounded numbers is rounded itself, whatever digits it happens to have
        if not value.requires_grad:
            steps = value / self._grain
            reach[(steps - steps.round()).abs() < _ON_GRID] = 0.0
            if not bool(reach.any()):
                return value
        return self.disturbed(value, reach)

    def disturbed(self, value: Tensor, reach: Tensor) -> Tensor:
        """Return `value` with a disturbance of at most `reach` in each entry."""

        disturbance = torch.zeros_like(value, requires_grad=True)
        self._sources.append((disturbance, reach.detach()))
        return value + disturbance

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

    def _operators(self) -> dict[Any, Callable[..., Any]]:
        from engine.expressions.functions.arithmetic import product_by_hand

        # OPERATORS and not EXACT_OPERATORS: the key itself has already been refused near a jump
        operators = OPERATORS | {kind: self._rounding(OPERATORS[kind]) for kind in _INEXACT}
        operators[ast.MatMult] = lambda left, right: product_by_hand(self.rounded, left, right)
        return operators

    def _rounding(self, act: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *args, **kwargs: self._written(act(*args, **kwargs))

    def _written(self, value: Any) -> Any:
        if is_tensor(value):
            return self.rounded(value)
        return self.rounded(as_tensor(value)) if isinstance(value, float) else value

    def slack(self, value: Any) -> tuple[float, ...]:
        """Return how far each entry of a value can have moved."""

        flat = as_tensor(value).flatten()
        if not flat.requires_grad:
            return (0.0,) * flat.numel()
        moved = torch.zeros(flat.numel(), dtype=torch.float64)
        # the worst case, in which all disturbances push the same way
        for gradient, (_, reach) in zip(self._gradients(flat), self._sources, strict=True):
            if gradient is not None:
                moved += (gradient.abs() * reach).reshape(flat.numel(), -1).sum(1)
        return tuple((moved * _MARGIN).tolist())

    def _gradients(self, flat: Tensor) -> Sequence[Tensor | None]:
        """Return the derivatives of all entries by each source: shape (entries, *source's shape)."""

        disturbances = [disturbance for disturbance, _ in self._sources]
        if flat.numel() == 1:
            gradients = torch.autograd.grad(flat, disturbances, allow_unused=True)
            return [None if gradient is None else gradient[None] for gradient in gradients]
        # one batched pass costs as much as two single ones, so that it pays from two entries on
        return torch.autograd.grad(
            flat,
            disturbances,
            grad_outputs=torch.eye(flat.numel(), dtype=flat.dtype),
            allow_unused=True,
            is_grads_batched=True,
        )


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
        values[name] = work.disturbed(value, torch.tensor(reach, dtype=torch.float64).reshape(value.shape))
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
