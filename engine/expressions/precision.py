"""How far honest rounding of every intermediate can move a key.

An expression is evaluated by hand-work: every intermediate that somebody writes down on paper gets
a disturbance of 0, and automatic differentiation tells how much each of them moves each entry
of the key.  The sum of those effects, for disturbances of half a unit of the working precision,
bounds (to first order) the error of whoever rounds everything to it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from engine.expressions.language import OPERATORS, evaluate, parse
from engine.expressions.values import as_tensor, is_tensor

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["PaperRounding", "rounding_slack"]

# for the effects of second order, which differentiation doesn't see
_MARGIN = 1.05
_ON_GRID = 1e-6
_INEXACT = (ast.Mult, ast.Div, ast.Pow)


class PaperRounding:
    """One evaluation on paper, rounding to `working_decimals` places.

    Parameters
    ----------
    working_decimals : int
        Places to which every intermediate is rounded.
    """

    def __init__(self, working_decimals: int) -> None:
        self._grain = 10.0**-working_decimals
        self._sources: list[tuple[Tensor, Tensor]] = []

    def rounded(self, value: Tensor) -> Tensor:
        """Return `value` as written down: with its disturbance, unless it is exact at this precision."""
        import torch

        if not value.is_floating_point():
            return value
        reach = torch.full_like(value, self._grain / 2, requires_grad=False)
        if not value.requires_grad:
            steps = value / self._grain
            reach[(steps - steps.round()).abs() < _ON_GRID] = 0.0
            if not bool(reach.any()):
                return value
        return self.disturbed(value, reach)

    def disturbed(self, value: Tensor, reach: Tensor) -> Tensor:
        """Return `value` with a disturbance of at most `reach` in each entry."""
        import torch

        disturbance = torch.zeros_like(value, requires_grad=True)
        self._sources.append((disturbance, reach.detach()))
        return value + disturbance

    def evaluate(self, text: str, names: Mapping[str, Any]) -> Any:
        """Evaluate an expression by hand-work."""
        return evaluate(text, names, functions=self._function, operators=self._operators())

    def _function(self, name: str) -> Callable[..., Any] | None:
        from engine.expressions.functions import FUNCTIONS

        function = FUNCTIONS.get(name)
        if function is None or function.exact:
            return None if function is None else function.call
        if function.by_hand is not None:
            return partial(function.by_hand, self.rounded)
        call = function.call
        return lambda *args, **kwargs: self._written(call(*args, **kwargs))

    def _operators(self) -> dict[Any, Callable[..., Any]]:
        from engine.expressions.functions.arithmetic import product_by_hand

        operators = dict(OPERATORS)
        for kind in _INEXACT:
            operators[kind] = self._operator(OPERATORS[kind])
        operators[ast.MatMult] = lambda left, right: product_by_hand(self.rounded, left, right)
        return operators

    def _operator(self, act: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        return lambda left, right: self._written(act(left, right))

    def _written(self, value: Any) -> Any:
        if is_tensor(value):
            return self.rounded(value)
        return self.rounded(as_tensor(value)) if isinstance(value, float) else value

    def slack(self, value: Any) -> tuple[float, ...]:
        """Return how far each entry of a value can have moved."""
        import torch

        flat = as_tensor(value).flatten()
        if not flat.requires_grad:
            return (0.0,) * flat.numel()
        moved = torch.zeros(flat.numel(), dtype=torch.float64)
        for gradient, (_, reach) in zip(self._gradients(flat), self._sources, strict=True):
            if gradient is not None:
                moved += (gradient.abs() * reach).reshape(flat.numel(), -1).sum(1)
        return tuple((moved * _MARGIN).tolist())

    def _gradients(self, flat: Tensor) -> Sequence[Tensor | None]:
        """Return for each source the derivatives of all entries: shape (entries, *source's shape)."""
        import torch

        disturbances = [disturbance for disturbance, _ in self._sources]
        if flat.numel() == 1:
            alone = torch.autograd.grad(flat, disturbances, allow_unused=True)
            return [None if gradient is None else gradient[None] for gradient in alone]
        # all entries in one pass: a pass for each of them costs half as much as this one
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
    import torch

    work = PaperRounding(working_decimals)
    known = dict(names)
    needed = _needed(key, working)
    for name, reach in (carried or {}).items():
        if name not in needed or not any(reach):
            continue
        value = as_tensor(known[name])
        known[name] = work.disturbed(value, torch.tensor(reach, dtype=torch.float64).reshape(value.shape))
    for name, text in working.items():
        if name in needed:
            known[name] = work.evaluate(text, known)
    return work.slack(work.evaluate(key, known))


def _needed(key: str, working: Mapping[str, str]) -> set[str]:
    """Return every name on which a key depends, directly or through derived values."""
    needed: set[str] = set()
    frontier = set(parse(key).names)
    while frontier:
        name = frontier.pop()
        if name not in needed:
            needed.add(name)
            frontier |= parse(working[name]).names if name in working else set()
    return needed
