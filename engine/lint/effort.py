"""How much a student has to work out by hand, counted while the keys are computed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from engine.model import Drawn, Variant
from engine.spec.schema import ProblemSpec
from engine.variants.expressions import evaluate
from engine.variants.values import names_of

__all__ = ["decimals_of", "operations_of"]

_ONE_EACH = frozenset(
    {"mul", "div", "exp", "tanh", "sigmoid", "log", "log2", "log10", "sqrt", "pow", "reciprocal", "square"}
)
_TWO_EACH = frozenset({"_softmax"})  # an exponential and a division for every entry
_PRODUCTS = frozenset({"mm", "mv", "dot", "bmm", "addmm"})


class _Counter(TorchDispatchMode):
    """Counts multiplications, divisions and function values; additions and comparisons are free."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.operations: int = 0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        name = func.overloadpacket.__name__.removesuffix("_") or func.overloadpacket.__name__
        if name in _PRODUCTS:
            self.operations += _multiplications(args, result)
        elif name == "prod":
            self.operations += max(0, args[0].numel() - result.numel())
        elif name in _ONE_EACH:
            self.operations += result.numel()
        elif name in _TWO_EACH:
            self.operations += 2 * result.numel()
        return result


def _multiplications(args: tuple[Any, ...], result: torch.Tensor) -> int:
    factors = [arg for arg in args if isinstance(arg, torch.Tensor)][-2:]
    return int(result.numel() * factors[0].shape[-1])


def operations_of(spec: ProblemSpec, variant: Variant) -> int:
    """Return how many multiplications, divisions and function values a variant's keys take.

    Derived values count where they are used; a value that is used twice counts once.

    Parameters
    ----------
    spec : ProblemSpec
    variant : Variant
        Drawn from it.

    Raises
    ------
    engine.errors.ExpressionError
        An expression is faulty.
    """
    names: dict[str, Any] = dict(names_of(variant.values))
    answers = [("key", spec.answer)] if spec.answer is not None else [(s.id, s.answer) for s in spec.steps]
    with _Counter() as counter:
        for name, text in spec.derived.items():
            names[name] = evaluate(text, names)
        for name, answer in answers:
            if (key := getattr(answer, "key", None)) is not None:
                names[name] = evaluate(key, names)
    return int(counter.operations)


def decimals_of(drawn: Mapping[str, Drawn]) -> int:
    """Return the most decimals that a drawn number is shown with."""
    entries = (entry for value in drawn.values() if not value.text for entry in value.entries)
    return max((len(entry.partition(".")[2]) for entry in entries), default=0)
