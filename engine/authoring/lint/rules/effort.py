"""The work on paper stays within the bounds that the item states.

Work is counted while the keys are computed: multiplications, divisions and function values, because additions
and comparisons cost little beside them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from engine.answers import kind_of
from engine.authoring.lint.subject import LintFinding, LintSubject
from engine.expressions.functions import FUNCTIONS
from engine.expressions.language import OPERATORS, evaluate
from engine.expressions.values import names_of
from engine.items import ProblemSpec
from engine.model import DrawnValue, Variant
from engine.text.words import count_noun

# variants may differ by this factor or by a few: three or four states pass, four or nine products don't
_UNEVEN, _FEW = 1.4, 3
_VARIANTS = 50  # the count hardly varies: it depends on the shapes, and rarely on the numbers


def is_computed(subject: LintSubject) -> bool:
    """Return whether students have to work something out."""
    return bool(subject.spec.parameters) and any(
        kind_of(answer.type).is_numeric or getattr(answer, "distractors", ())
        for _, answer in subject.spec.answers
    )


def measured(subject: LintSubject) -> tuple[int, int]:
    """Return the most operations and decimals among the first variants."""
    variants = subject.variants[:_VARIANTS]
    operations = max((operations_of(subject.spec, variant) for variant in variants), default=0)
    return operations, max((decimals_of(variant.values) for variant in variants), default=0)


def _uneven(subject: LintSubject) -> Iterator[LintFinding]:
    variants = subject.variants[:_VARIANTS]
    counts = {
        "operations": [operations_of(subject.spec, variant) for variant in variants],
        "numbers to write": [_written(variant) for variant in variants],
    }
    for name, amounts in counts.items():
        least, most = min(amounts, default=0), max(amounts, default=0)
        if most > max(_UNEVEN * least, least + _FEW):
            yield subject.warning(
                f"variants differ in {name}, for the same marks",
                ("parameters",),
                expected=f"at most {_UNEVEN:g} times as many in one variant as in another",
                got=f"{least} to {most}",
                next_step="draw sizes that lie closer together, or fix them",
                seed=amounts.index(most),
            )


def _written(variant: Variant) -> int:
    return sum(len(part.key.data) for part in variant.parts if part.key is not None)


def check(subject: LintSubject) -> Iterator[LintFinding]:
    """Yield bounds that a variant exceeds, uneven variants, and how much work an item is without bounds."""
    if not is_computed(subject):
        return
    if subject.strict:
        yield from _uneven(subject)
    operations, decimals = measured(subject)
    subject.facts["effort"] = {"operations": operations, "decimals": decimals}
    stated = subject.spec.effort
    if stated is None:
        if subject.strict:
            yield subject.warning(
                "the item doesn't say how much work it is at most",
                (),
                got=(
                    f"a variant takes {count_noun(operations, 'operation')} on numbers of up to "
                    f"{count_noun(decimals, 'decimal')}"
                ),
                next_step=f"state effort: {{operations: {operations}, decimals: {decimals}}}",
            )
        return
    for name, amount, bound in (
        ("operations", operations, stated.operations),
        ("decimals", decimals, stated.decimals),
    ):
        if amount > bound:
            message = f"a variant takes more {name} than the item states"
            step = "draw smaller shapes or coarser steps, or raise the bound"
            yield subject.fault(
                message, ("effort", name), expected=f"at most {bound}", got=str(amount), next_step=step
            )


_ONE_EACH = frozenset(
    {"mul", "div", "exp", "tanh", "sigmoid", "log", "log2", "log10", "sqrt", "pow", "reciprocal", "square"}
)
_TWO_EACH = frozenset({"_softmax"})  # an exponential and a division for every entry
# rounding and comparing aren't counted, nor is the engine's own test for values near a jump
_ROUNDINGS = frozenset({"round", "floor", "ceil", "threshold_alignment"})
_PRODUCTS = frozenset({"mm", "mv", "dot", "bmm", "addmm"})


class _Counter(TorchDispatchMode):
    """Counts multiplications, divisions and function values; additions and comparisons are free."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.operations: int = 0
        self._searching = False

    def function(self, name: str) -> Callable[..., Any] | None:
        """Return a function of the expression language; searches are counted as they are done on paper."""
        function = FUNCTIONS.get(name)
        paper_count = (lambda *_: 0) if name in _ROUNDINGS else _PAPER_COUNTS.get(name)
        if function is None or paper_count is None:
            return None if function is None else function.call

        def call(*args: Any, **kwargs: Any) -> Any:
            if not self._searching:
                self.operations += paper_count(*args)
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


# On paper a search multiplies the probabilities of the prefixes that it follows, in a tree of V words and
# some depth; the reference adds logarithms instead, so its own operations say nothing.
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
    depth, passed = 0, 0
    while passed < rows:
        passed += words**depth
        depth += 1
    return words, depth


_PAPER_COUNTS: dict[str, Callable[..., int]] = {
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


def decimals_of(values: Mapping[str, DrawnValue]) -> int:
    """Return the most decimals that a drawn number is shown with."""
    entries = (entry for value in values.values() if not value.text for entry in value.entries)
    return max((len(entry.partition(".")[2]) for entry in entries), default=0)
