"""The work on paper stays within the bounds that the item states.

Work is counted while the keys are computed: multiplications, divisions and function values, because additions
and comparisons cost little beside them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
    {
        np.multiply, np.true_divide, np.exp, np.exp2, np.tanh, np.log, np.log2, np.log10, np.sqrt, np.power,
        np.square, np.reciprocal,
    }
)  # fmt: skip
# rounding and comparing aren't counted, nor is the engine's own test for values near a jump
_ROUNDINGS = frozenset({"round", "floor", "ceil", "threshold_alignment"})


class _Counter:
    """Counts multiplications, divisions and function values; additions and comparisons are free."""

    def __init__(self) -> None:
        self.operations = 0
        self._on_paper = False

    def function(self, name: str) -> Callable[..., Any] | None:
        """Return a function of the expression language; some are counted as they are done on paper."""
        function = FUNCTIONS.get(name)
        if function is None:
            return None
        paper_count = (lambda *_: 0) if name in _ROUNDINGS else _PAPER_COUNTS.get(name)

        def call(*args: Any, **options: Any) -> Any:
            if paper_count is None:
                numbers = args if function.exact else tuple(map(_as_array, args))
                return self.value(function.call(*map(self.value, numbers), **options))
            if not self._on_paper:
                self.operations += paper_count(*args)
            outer, self._on_paper = self._on_paper, True
            try:
                return self.value(function.call(*args, **options))
            finally:
                self._on_paper = outer

        return call

    def operators(self) -> dict[Any, Callable[..., Any]]:
        """Return the operators; lists of numbers in an expression come here as arrays that nobody counts."""
        return {
            kind: lambda *args, act=act: self.value(act(*map(self.value, args)))
            for kind, act in OPERATORS.items()
        }

    def values(self, names: Mapping[str, Any]) -> dict[str, Any]:
        """Return values of which every use is counted."""
        return {name: self.value(value) for name, value in names.items()}

    def value(self, value: Any) -> Any:
        """Return a value of which every use is counted: numbers as they are, and arrays."""
        if not isinstance(value, np.ndarray | np.generic):
            return value
        counted = np.asarray(value).view(_CountedArray)
        counted.counter = self
        return counted

    def count(self, ufunc: np.ufunc, method: str, args: tuple[Any, ...], result: Any) -> None:
        """Add what an operation of numpy costs."""
        if self._on_paper:
            return
        if ufunc is np.matmul:
            self.operations += int(np.size(result) * np.shape(args[0])[-1])
        elif ufunc is np.multiply and method == "reduce":
            self.operations += max(0, int(np.size(args[0]) - np.size(result)))
        elif ufunc in _ONE_EACH and method == "__call__":
            self.operations += int(np.size(result))


class _CountedArray(np.ndarray[Any, np.dtype[Any]]):
    """An array that tells a counter what is computed with it; so do the arrays that are made of it."""

    counter: _Counter | None = None

    def __array_finalize__(self, source: Any) -> None:
        self.counter = getattr(source, "counter", None)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *args: Any, **options: Any) -> Any:
        if "out" in options:
            options["out"] = tuple(map(_uncounted, options["out"]))
        result = getattr(ufunc, method)(*map(_uncounted, args), **options)
        assert self.counter is not None
        self.counter.count(ufunc, method, args, result)
        return self.counter.value(result)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        assert self.counter is not None
        return self.counter.value(super().__array_function__(function, types, args, options))


def _uncounted(value: Any) -> Any:
    return value.view(np.ndarray) if isinstance(value, _CountedArray) else value


def _as_array(value: Any) -> Any:
    return np.asarray(value) if isinstance(value, int | float) else value


# On paper a search multiplies the probabilities of the prefixes that it follows, in a tree of V words and
# some depth; the reference adds logarithms instead, so its own operations say nothing.
def _beam_products(tree: NDArray[np.float64], b: Any, *_: Any) -> int:
    return _survivor_products(tree, b, _tree(tree)[1])


def _survivor_products(tree: NDArray[np.float64], b: Any, steps: Any) -> int:
    words, _ = _tree(tree)
    return sum(min(int(b), words**step) * words for step in range(1, int(steps)))


def _all_products(tree: NDArray[np.float64], *_: Any) -> int:
    words, depth = _tree(tree)
    return sum(int(words) ** (step + 1) for step in range(1, depth))


def _tree(tree: NDArray[np.float64]) -> tuple[int, int]:
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
    # one function value for each entry
    "sigmoid": lambda x: int(np.size(x)),
    "rnn_step": lambda x, h, W, U, *_: int(np.size(W) + np.size(U) + np.size(h)),
    "chain_prob": lambda p: max(0, p.size - 1),
}


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
    counter = _Counter()
    names = counter.values(names_of(variant.values))

    operators = counter.operators()

    def work(text: str) -> Any:
        return evaluate(text, names, functions=counter.function, operators=operators)

    for name, text in spec.derived.items():
        names[name] = work(text)
    for name, answer in spec.answers:
        if (key := getattr(answer, "key", None)) is not None:
            names[name] = work(key)
    return counter.operations


def decimals_of(values: Mapping[str, DrawnValue]) -> int:
    """Return the most decimals that a drawn number is shown with."""
    entries = (entry for value in values.values() if not value.text for entry in value.entries)
    return max((len(entry.partition(".")[2]) for entry in entries), default=0)
