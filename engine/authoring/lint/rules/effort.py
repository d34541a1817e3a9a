"""How much a student has to work out by hand, counted while the keys are computed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from engine.model import Drawn, Variant
from engine.spec.schema import ProblemSpec
from engine.variants.expressions import OPERATORS, evaluate
from engine.variants.functions import FUNCTIONS
from engine.variants.values import names_of

__all__ = ["decimals_of", "operations_of"]

_ONE_EACH = frozenset(
    {"mul", "div", "exp", "tanh", "sigmoid", "log", "log2", "log10", "sqrt", "pow", "reciprocal", "square"}
)
_TWO_EACH = frozenset({"_softmax"})  # an exponential and a division for every entry
# to round or to compare is nothing to work out; the engine's own look at near jumps isn't either
_ROUNDINGS = frozenset({"round", "floor", "ceil", "threshold_alignment"})
_PRODUCTS = frozenset({"mm", "mv", "dot", "bmm", "addmm"})


class _Counter(TorchDispatchMode):
    """Counts multiplications, divisions and function values; additions and comparisons are free."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.operations: int = 0
        self._searching = False

    def function(self, name: str) -> Callable[..., Any] | None:
        """Return a function of the expression language; searches are counted as they are done by hand."""
        function = FUNCTIONS.get(name)
        by_hand = _nothing if name in _ROUNDINGS else _BY_HAND.get(name)
        if function is None or by_hand is None:
            return None if function is None else function.call

        def call(*args: Any, **kwargs: Any) -> Any:
            if not self._searching:
                self.operations += by_hand(*args)
            outer, self._searching = self._searching, True
            try:
                return function.call(*args, **kwargs)
            finally:
                self._searching = outer

        return call

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        if self._searching:
            return result
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


def _nothing(*_: Any) -> int:
    return 0


# What a search takes by hand isn't what it takes the reference, which adds logarithms: products of the
# prefixes that are followed, for a tree of V words and some depth.
def _beam_products(tree: torch.Tensor, b: Any, *_: Any) -> int:
    return _survivor_products(tree, b, _tree(tree)[1])


def _survivor_products(tree: torch.Tensor, b: Any, steps: Any) -> int:
    words, _ = _tree(tree)
    return sum(min(int(b), words**step) * words for step in range(1, int(steps)))


def _all_products(tree: torch.Tensor, *_: Any) -> int:
    words, depth = _tree(tree)
    return sum(int(words) ** (step + 1) for step in range(1, depth))


def _tree(tree: torch.Tensor) -> tuple[int, int]:
    rows, words = tree.shape
    depth, seen = 0, 0
    while seen < rows:
        seen += words**depth
        depth += 1
    return words, depth


_BY_HAND: dict[str, Callable[..., int]] = {
    "greedy_decode": lambda *_: 0,
    "second_choice": lambda *_: 0,
    "step_max": lambda *_: 0,
    "step_probs": lambda *_: 0,
    "words": lambda *_: 0,
    "beam_search": _beam_products,
    "beam_survivors": _survivor_products,
    "best_sequence": _all_products,
    "sequence_prob": lambda tree, sequence: max(0, len(sequence) - 1),
    "chain_prob": lambda p: max(0, p.numel() - 1),
}


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
    with _Counter() as counter:
        for name, text in spec.derived.items():
            names[name] = evaluate(text, names, functions=counter.function, operators=OPERATORS)
        for name, answer in spec.answers:
            if (key := getattr(answer, "key", None)) is not None:
                names[name] = evaluate(key, names, functions=counter.function, operators=OPERATORS)
    return int(counter.operations)


def decimals_of(drawn: Mapping[str, Drawn]) -> int:
    """Return the most decimals that a drawn number is shown with."""
    entries = (entry for value in drawn.values() if not value.text for entry in value.entries)
    return max((len(entry.partition(".")[2]) for entry in entries), default=0)
