"""An exercise said by its inputs and relations: everything else is made from these.

From the inputs come hidden cases of unequal sizes, sizes beyond usual blocks, single precision, layouts,
leading axes, gradients; from the reference solution beside the file the right results, with tolerances from
the dtype and the sizes. :class:`Exercise` says what each of them is called in a rubric.
"""

from __future__ import annotations

import copy
import itertools
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from engine.code.arguments import Argument, arrays_of, flat, key_of, rebuilt
from engine.code.plan import ExpectedPart, ExpectedResult, relative_tolerance
from engine.code.plan_builder import BLOCKS, ExactValues, PlanBuilder, single
from engine.code.planned_exercise import AuthorError, PlannedExercise, draw_specs
from engine.code.properties import Property
from engine.code.result_kinds import ArrayResult, NumberResult, ResultKind, TokensResult, TupleResult
from engine.exercises.inputs import (
    ArrayInput,
    DrawnInput,
    InputKind,
    OptionalInput,
    kind_of,
    size_names,
)
from engine.exercises.relations import Relation

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

Arguments = tuple[Argument, ...]
Floats = NDArray[np.float64]
Spec = tuple[tuple[tuple[str, int], ...], tuple[Any, ...]]  # drawn sizes by name, and drawn plain values
Size = "int | SearchStrategy[int] | Callable[[Mapping[str, int]], int]"

_HIDDEN = 3  # ordinary hidden inputs, no two of equal sizes
# Inputs of a gradient have few entries: each costs four calls of the reference.
_MOST_ENTRIES = 120
# Central differences of this step, extrapolated once, lie within 1e-11 of a smooth function's derivative.
_STEP = 2.0**-10
_GRADIENT_SLACK = 1e-7
_PERTURBATION = 2.0**-16  # relative; far above the rounding of float64, small enough to be linear
_RESULTS: Mapping[str, ResultKind] = {
    "array": ArrayResult(),
    "number": NumberResult(),
    "tokens": TokensResult(),
}


class Exercise(PlannedExercise):
    """An exercise whose plan follows from its inputs and relations.

    Parameters
    ----------
    inputs : mapping of str to InputKind or hypothesis strategy
        The function's arguments in their order; those that may be left out come last.
    relations : sequence of Relation
        What must hold beside the values; each is a property of its name for the rubric.
    reference : callable or str, optional
        Gives the right result for numpy arrays in float64. A text is the name of a file in the exercise's
        folder that defines the function; ``solution_numpy.py`` if left out, else ``solution.py``.
    returns : {"array", "number", "tokens"} or sequence of str
        What the function returns; names where it returns a tuple of arrays.
    sizes : mapping of str to int, hypothesis strategy or callable, optional
        A size that isn't drawn like the others (from 2 on, unequal): a number, a strategy for integers below
        100, or a function of the sizes drawn before.
    valid : callable, optional
        Takes the arguments and returns whether the function is defined for them, beyond what the kinds of
        its inputs say.
    variations : mapping of str to callable, optional
        Special inputs: each function takes the arguments as a dict and returns those that change; values
        are judged as ``values`` with this name under ``options: {cases: …}``.
    half : bool
        Whether float16 and bfloat16 are tried (``half``).
    one : sequence of str
        Sizes of which 1 is tried: ``values`` with ``cases: one``.
    empty : sequence of str
        Sizes of which 0 is tried (``empty``).
    gradients : bool
        Whether gradients in torch are judged (``grad``), for results of smooth functions.
    refuses : bool
        Whether sizes that don't fit must raise ValueError (``refuses``).

    Notes
    -----
    A rubric can ask for ``runs``, ``shape``, ``values``, ``dtype``, ``pure``, ``layout``, each relation, and
    ``values`` with ``cases: sizes``; for ``precision`` where an argument is an array of floats, ``batch``
    where one has leading axes, and what the switches above add.

    Examples
    --------
    >>> from engine.exercises import Exercise, array, scores, sums_to_one
    >>> Exercise({"x": array("n d", scores())}, relations=[sums_to_one()]).argument_names
    ('x',)
    """

    def __init__(
        self,
        inputs: Mapping[str, InputKind | SearchStrategy[Any]],
        *,
        relations: Sequence[Relation] = (),
        reference: Callable[..., Any] | str | None = None,
        returns: str | Sequence[str] = "array",
        sizes: Mapping[str, Any] = MappingProxyType({}),
        valid: Callable[..., bool] | None = None,
        variations: Mapping[str, Callable[[dict[str, Any]], Mapping[str, Argument]]] = MappingProxyType({}),
        half: bool = False,
        one: Sequence[str] = (),
        empty: Sequence[str] = (),
        gradients: bool = True,
        refuses: bool = False,
    ) -> None:
        self._inputs = {name: kind_of(kind) for name, kind in inputs.items()}
        self._relations = tuple(relations)
        self._reference = reference
        self._result = TupleResult(tuple(returns)) if not isinstance(returns, str) else _result_of(returns)
        self._sizes, self._valid, self._variations = dict(sizes), valid, dict(variations)
        self._half, self._one, self._empty = half, tuple(one), tuple(empty)
        self._gradients, self._refuses = gradients, refuses
        self._line = sys._getframe(1).f_lineno  # where the author's file makes it
        self._examples: tuple[Arguments, ...] = ()
        if half and not isinstance(self._result, ArrayResult | TupleResult):
            raise ValueError("half precision is tried of results that are arrays")
        if twice := {r.name for r in self._relations if sum(s.name == r.name for s in self._relations) > 1}:
            raise ValueError(f"two relations are called {min(twice)!r}; give one another name")
        names = size_names(list(self._inputs.values()))
        if unknown := (set(self._sizes) | set(self._one) | set(self._empty)) - set(names):
            raise ValueError(f"no axis is called {min(unknown)!r}; the axes are {', '.join(names) or 'none'}")

    @property
    def argument_names(self) -> tuple[str, ...]:
        """Names of the arguments."""
        return tuple(self._inputs)

    @property
    def properties(self) -> Mapping[str, Property]:
        """The relations, by the names that checks call them."""
        return {r.name: r.as_property(self.argument_names, self.path) for r in self._relations}

    def with_examples(self, examples: Sequence[Mapping[str, Any]]) -> Exercise:
        """Return the exercise with the public examples of a spec, the arguments by name.

        Raises
        ------
        ValueError
            An example lacks an argument, or one doesn't fit; the message begins with its name.
        """
        changed = copy.copy(self)
        changed._examples = tuple(self._read(example) for example in examples)
        changed.__dict__.pop("offered_groups", None)
        return changed

    def expected(self, args: Arguments) -> ExpectedResult:
        """Return the reference's result for these arguments, computed in float64."""
        dtype = next((a.dtype.name for a in arrays_of(args) if a.dtype.kind == "f"), "float64")
        exact = _as_doubles(args)
        parts = self._parts(exact)
        terms = sum({size for a in arrays_of(args) for size in a.shape}) + 1
        errors = [0.0] * len(parts) if dtype == "float64" else self._sensitivity(exact, parts)
        return ExpectedResult(
            tuple(self._part(part, dtype, terms, error) for part, error in zip(parts, errors, strict=True)),
            result=self._result,
        )

    def axes(self, args: Arguments) -> tuple[tuple[str, ...], ...]:
        """Return the names of the axes of every array, leading ones as ``batch 0`` and so on."""
        names: list[tuple[str, ...]] = []
        for kind, value in zip(self._inputs.values(), args, strict=False):
            for axes, leaf in zip(kind.axes, flat((value,)), strict=False):
                lead = leaf.ndim - len(axes) if isinstance(leaf, np.ndarray) else 0
                names.append(
                    (*(f"batch {i}" for i in range(lead)), *axes) if isinstance(leaf, np.ndarray) else ()
                )
        return tuple(names)

    def is_valid_input(self, args: Arguments) -> bool:
        """Return whether all arguments are there, fit each other, and have one floating dtype."""
        return self._fault(args) is None

    def simple_inputs(self) -> Iterator[Arguments]:
        """Return the examples, and small inputs: sizes of 1 and 2, simple numbers."""
        names = size_names(list(self._inputs.values()))
        for place, small in enumerate(itertools.islice(itertools.product((1, 2), repeat=len(names)), 16)):
            sizes = dict(zip(names, small, strict=True))
            for spec in itertools.islice(self._plain_choices, 2):
                args = self._drawn((tuple(sizes.items()), spec), ExactValues(b"simple%d" % place), bound=True)
                if args is not None:
                    yield args
                    yield single(*args)
        yield from self._examples

    def add_cases(self, plan: PlanBuilder, seed: bytes, values: ExactValues) -> None:
        """Add the public examples and everything that follows from inputs and relations."""
        drawn = [self._arguments(spec, values) for spec in self._specs(_HIDDEN, seed)]
        drawn[1] = self._without_optional(drawn[1])
        public = self._examples or (self._arguments(self._specs(1, b"public")[0], ExactValues(b"public")),)
        members = plan.add_public({f"example-{place}": args for place, args in enumerate(public)})
        members += plan.add_ordinary(drawn)
        if len(short := drawn[0][: self._fewest]) < len(drawn[0]):
            plan.judge("values", plan.case("without-options", *short))
        self._add_relations(plan, [members[0], *members[-2:]])
        self._add_variations(plan, [public[0], *drawn[:2]])
        self._add_sizes(plan, drawn[0], values)
        if any(array.dtype.kind == "f" for array in arrays_of(drawn[0])):
            plan.add_contract(public[0], drawn[2], drawn[:2])
        if self._half:
            halves = [case for place in range(2) for case in plan.add_halves(f"hidden-{place}", drawn[place])]
            plan.judge_each(("dtype", "half"), halves)
        if any(_has_lead(kind) for kind in self._inputs.values()):
            self._add_batches(plan, seed, values)
        if self._gradients:
            self._add_gradients(plan, [public[0], *drawn[:2]], values)
        if self._refuses:
            letters = self._letters(drawn[0])
            plan.add_refusals({}, letters, drawn[0])
        plan.add_again(members[0])

    def _add_relations(self, plan: PlanBuilder, bases: Sequence[int]) -> None:
        further: dict[Any, int] = {}
        for judged in self._relations:
            for base in bases:
                asked = judged.further_calls(self.argument_names, plan.arguments(base), self.expected)
                members: list[int] = []
                for args in asked:
                    if fault := self._fault(args):
                        raise AuthorError(
                            f"the relation {judged.name!r} calls with arguments that don't fit: {fault}",
                            judged.line,
                        )
                    key = key_of(args)
                    if key not in further:
                        further[key] = plan.case(f"{judged.name}-{base}-{len(members)}", *args)
                    members.append(further[key])
                plan.judge(judged.name, base, *members)

    def _add_variations(self, plan: PlanBuilder, bases: Sequence[Arguments]) -> None:
        for name, change in self._variations.items():
            for place, args in enumerate(bases):
                before = dict(zip(self._inputs, args, strict=False))
                changed = tuple({**before, **change(dict(before))}.values())
                if fault := self._fault(changed):
                    raise AuthorError(
                        f"the variation {name!r} gives arguments that don't fit: {fault}", self._line
                    )
                plan.judge("values", plan.case(f"{name}-{place}", *changed, public=place == 0), cases=name)

    def _add_sizes(self, plan: PlanBuilder, like: Arguments, values: ExactValues) -> None:
        sizes = self._sizes_of(like)
        free = [name for name in sizes if name not in self._sizes]
        for place, name in enumerate(free):
            longer = self._again({**sizes, name: BLOCKS[-1]}, like, values)
            plan.judge("values", plan.case(f"longer-{place}", *longer), cases="sizes")
        for name in self._one:
            short = self._again({**sizes, name: 1}, like, values)
            plan.judge("values", plan.case(f"one-{name}", *short), cases="one")
        for name in self._empty:
            none = self._again({**sizes, name: 0}, like, values)
            plan.judge("empty", plan.case(f"empty-{name}", *none, kind="empty"))

    def _add_batches(self, plan: PlanBuilder, seed: bytes, values: ExactValues) -> None:
        spec = self._specs(1, seed + b"batch")[0]
        for place, lead in enumerate(((3,), (2, 1))):
            args = self._arguments(spec, values, lead)
            whole = plan.case(f"batch-{place}", *args, kind="batch")
            parts = [
                plan.case(f"batch-{place}-{'-'.join(map(str, index))}", *self._part_of(args, index))
                for index in np.ndindex(*lead)
            ]
            plan.judge("batch", whole, *parts)
            plan.judge("values", whole, cases="batch")

    @property
    def _fewest(self) -> int:
        """How many arguments a call has at least."""
        return sum(not isinstance(kind, OptionalInput) for kind in self._inputs.values())

    def _without_optional(self, args: Arguments) -> Arguments:
        kinds = zip(self._inputs.values(), args, strict=True)
        return tuple(None if isinstance(kind, OptionalInput) else value for kind, value in kinds)

    def _part_of(self, args: Arguments, index: tuple[int, ...]) -> Arguments:
        kinds = zip(self._inputs.values(), args, strict=False)
        return tuple(
            np.ascontiguousarray(value[index]) if _has_lead(kind) and isinstance(value, np.ndarray) else value
            for kind, value in kinds
        )

    def _add_gradients(self, plan: PlanBuilder, inputs: Sequence[Arguments], values: ExactValues) -> None:
        floating = [[a for a in arrays_of(args) if a.dtype.kind == "f"] for args in inputs]
        for place, (args, arrays) in enumerate(zip(inputs, floating, strict=True)):
            if not arrays or sum(array.size for array in arrays) > _MOST_ENTRIES:
                continue
            cotangents = [values.distinct(4, part.values.shape) for part in self.expected(args).parts]
            gradients = [
                ExpectedPart(
                    gradient, "float64", _GRADIENT_SLACK, _GRADIENT_SLACK * max(1.0, _size(gradient))
                )
                for gradient in self._differences(args, cotangents)
            ]
            name = f"gradient-{place}"
            plan.gradient_case(name, *args, cotangents=cotangents, gradients=gradients, public=place == 0)

    def _differences(self, args: Arguments, cotangents: Sequence[Floats]) -> Iterator[Floats]:
        """Yield the gradient for every floating array: central differences, extrapolated to step 0."""
        leaves = list(flat(args))

        def total(place: int, index: tuple[int, ...], step: float) -> float:
            array = np.asarray(leaves[place]).copy()
            array[index] += step
            parts = self._parts(rebuilt(args, [*leaves[:place], array, *leaves[place + 1 :]]))
            return float(sum((part * c).sum() for part, c in zip(parts, cotangents, strict=True)))

        for place, leaf in enumerate(leaves):
            if not isinstance(leaf, np.ndarray) or leaf.dtype.kind != "f":
                continue
            gradient = np.empty(leaf.shape)
            for index in np.ndindex(*leaf.shape):
                wide, near = (
                    (total(place, index, step) - total(place, index, -step)) / (2 * step)
                    for step in (_STEP, _STEP / 2)
                )
                gradient[index] = (4 * near - wide) / 3
            yield gradient

    def _letters(self, args: Arguments) -> list[str]:
        # one letter an axis, as the plan builder wants it; an axis of fixed size is shared with nobody
        letters: dict[str, str] = {}
        names = [
            () if not isinstance(leaf, np.ndarray) else axes
            for axes, leaf in zip(self.axes(args), flat(args), strict=True)
        ]
        return ["".join(letters.setdefault(name, chr(97 + len(letters))) for name in axes) for axes in names]

    @cached_property
    def _drawn_names(self) -> list[str]:
        return [name for name, kind in self._inputs.items() if isinstance(kind, DrawnInput)]

    @property
    def _plain_choices(self) -> list[tuple[Any, ...]]:
        return list(dict.fromkeys(spec[1] for spec in self._specs(4, b"choices", least=1)))

    def _specs(self, count: int, seed: bytes, least: int | None = None) -> list[Spec]:
        strategy = self._spec_strategy
        try:
            return draw_specs(strategy, count, seed)
        except ValueError:
            # the sizes are fixed, or so few that they repeat
            drawn = draw_specs(strategy, least or 1, seed)
            return [drawn[place % len(drawn)] for place in range(count)]

    @cached_property
    def _spec_strategy(self) -> SearchStrategy[Spec]:
        from hypothesis import strategies as st

        names = size_names(list(self._inputs.values()))
        free = [name for name in names if name not in self._sizes]
        given = {name: size for name, size in self._sizes.items() if not callable(size)}
        derived = {name: size for name, size in self._sizes.items() if callable(size)}
        fixed = {n: st.just(s) if isinstance(s, int) else s for n, s in given.items()}
        # unequal sizes: a transposed matrix or a sum over the wrong axis shows
        unequal = st.permutations(range(2, 4 + len(free))).map(lambda order: order[: len(free)])
        plain = [kind.strategy for kind in self._inputs.values() if isinstance(kind, DrawnInput)]

        def spec(order: Sequence[int], sizes: dict[str, int], drawn: tuple[Any, ...]) -> Spec:
            sizes = {**dict(zip(free, order, strict=True)), **sizes}
            for name, of in derived.items():
                sizes[name] = of(sizes)
            return tuple((name, sizes[name]) for name in names), drawn

        return st.builds(spec, unequal, st.fixed_dictionaries(fixed), st.tuples(*plain))

    def examples(self) -> SearchStrategy[dict[str, Argument]]:
        """Return a hypothesis strategy for arguments by name, for property tests of your own."""
        from hypothesis import strategies as st

        streams = st.integers(0, 99).map(lambda number: ExactValues(b"example%d" % number))
        drawn = st.builds(self._arguments, self._spec_strategy, streams)
        return drawn.map(lambda args: dict(zip(self._inputs, args, strict=False)))

    def _arguments(self, spec: Spec, values: ExactValues, lead: tuple[int, ...] = ()) -> Arguments:
        sizes, plain = dict(spec[0]), dict(zip(self._drawn_names, spec[1], strict=True))
        return tuple(
            plain[name] if name in plain else kind.draw(values, sizes, lead)
            for name, kind in self._inputs.items()
        )

    def _drawn(self, spec: Spec, values: ExactValues, *, bound: bool) -> Arguments | None:
        sizes = dict(spec[0])
        for name, size in self._sizes.items():
            sizes[name] = size(sizes) if callable(size) else size if isinstance(size, int) else sizes[name]
        args = self._arguments((tuple(sizes.items()), spec[1]), values)
        return args if not bound or self.is_valid_input(args) else None

    def _again(self, sizes: Mapping[str, int], like: Arguments, values: ExactValues) -> Arguments:
        for name, of in self._sizes.items():
            if callable(of):
                sizes = {**sizes, name: of(sizes)}
        plain = tuple(like[list(self._inputs).index(name)] for name in self._drawn_names)
        return self._arguments((tuple(sizes.items()), plain), values)

    def _sizes_of(self, args: Arguments) -> dict[str, int]:
        sizes: dict[str, int] = {}
        for kind, value in zip(self._inputs.values(), args, strict=False):
            kind.fault(value, sizes)
        return {name: size for name, size in sizes.items() if not name.startswith("...")}

    def _fault(self, args: Arguments) -> str | None:
        if not self._fewest <= len(args) <= len(self._inputs):
            return f"{len(args)} arguments instead of {len(self._inputs)}"
        sizes: dict[str, int] = {}
        # sizes that are products can be checked only once their factors are known: a second look
        for _ in range(2):
            for (name, kind), value in zip(self._inputs.items(), args, strict=False):
                if fault := kind.fault(value, sizes):
                    return f"{name}: {fault}"
        for name, of in self._sizes.items():
            if (callable(of) and name in sizes and of(sizes) != sizes[name]) or (
                isinstance(of, int) and sizes.get(name, of) != of
            ):
                return f"the size {name} is {sizes[name]}"
        if len({array.dtype for array in arrays_of(args) if array.dtype.kind == "f"}) > 1:
            return "the arrays have different floating dtypes"
        if self._valid is not None and not self._valid(*args):
            return "the exercise says that they aren't valid"
        return None

    def _read(self, example: Mapping[str, Any]) -> Arguments:
        names = list(self._inputs)
        if unknown := set(example) - set(names):
            raise ValueError(f"{min(unknown)}: the function has no such argument")
        args: list[Argument] = []
        for name, kind in self._inputs.items():
            if name not in example and not isinstance(kind, OptionalInput):
                raise ValueError(f"{name}: this argument is missing")
            if name in example:
                try:
                    args.append(kind.read(example[name]))
                except (TypeError, ValueError) as error:
                    raise ValueError(f"{name}: {error}") from None
            elif set(names[len(args) :]) & set(example):
                args.append(None)
        if fault := self._fault(tuple(args)):
            raise ValueError(fault)
        return tuple(args)

    @cached_property
    def _function(self) -> Callable[..., Any]:
        if callable(self._reference):
            return self._reference
        folder = (self.path or Path()).parent
        names = [self._reference] if self._reference else ["solution_numpy.py", "solution.py"]
        path = next((folder / name for name in names if (folder / name).is_file()), None)
        if path is None:
            raise AuthorError(f"the folder has no {names[0]}, which gives the right results", self._line)
        module = ModuleType(f"reference_of_{self.name.replace('-', '_')}")
        module.__file__ = str(path)
        exec(compile(path.read_bytes(), str(path), "exec", dont_inherit=True), module.__dict__)
        function = getattr(module, self.name.replace("-", "_"), None)
        if not callable(function):
            raise AuthorError(f"{path.name} defines no function {self.name.replace('-', '_')}", self._line)
        return function  # type: ignore[no-any-return]

    def _parts(self, exact: Arguments) -> list[NDArray[Any]]:
        copies = [value.copy() if isinstance(value, np.ndarray) else value for value in flat(exact)]
        warnings.filterwarnings("ignore", module="reference_of_")  # of the process, so it names the module
        with np.errstate(all="ignore"):
            result = self._function(*_called(rebuilt(exact, copies)))
        results = list(result) if isinstance(self._result, TupleResult) else [result]
        if len(results) != len(self._result.parts):
            count = len(self._result.parts)
            raise AuthorError(f"the reference returns {len(results)} values instead of {count}", self._line)
        return [np.asarray(part) for part in results]

    def _part(self, part: NDArray[Any], dtype: str, terms: int, error: float) -> ExpectedPart:
        values = part.astype(np.float64)
        if isinstance(self._result, NumberResult):
            dtype_due = "number"
        else:
            dtype_due = "int" if isinstance(self._result, TokensResult) else dtype
        if part.dtype.kind in "biu":
            return ExpectedPart(values, part.dtype.name if dtype_due == dtype else dtype_due, 0.0, 0.0)
        size = max(1.0, _size(values))
        relative = relative_tolerance(dtype, keys=terms, score=error / size, terms=3)
        return ExpectedPart(values, dtype_due, relative, relative * size)

    def _sensitivity(self, exact: Arguments, parts: Sequence[NDArray[Any]]) -> list[float]:
        """Return how far each part moves where all inputs move by their size, as seen for small moves."""
        worst = [0.0] * len(parts)
        for turn in range(2):
            signs = ExactValues(b"signs%d" % turn)
            moved = [
                leaf * (1 + _PERTURBATION * (2.0 * signs.integers(0, 1, leaf.shape) - 1))
                if isinstance(leaf, np.ndarray) and leaf.dtype.kind == "f"
                else leaf
                for leaf in flat(exact)
            ]
            for place, (part, before) in enumerate(
                zip(self._parts(rebuilt(exact, moved)), parts, strict=True)
            ):
                if part.shape == before.shape and part.dtype.kind == "f":
                    worst[place] = max(worst[place], _size(part - before) / _PERTURBATION)
        return worst


def _result_of(returns: str) -> ResultKind:
    if returns not in _RESULTS:
        raise ValueError(f"returns={returns!r}; it is one of {', '.join(map(repr, _RESULTS))}, or names")
    return _RESULTS[returns]


def _has_lead(kind: InputKind) -> bool:
    kind = kind.kind if isinstance(kind, OptionalInput) else kind
    return isinstance(kind, ArrayInput) and kind.has_lead


def _size(values: NDArray[Any]) -> float:
    finite = values[np.isfinite(values)]
    return float(np.abs(finite).max(initial=0.0))


def _as_doubles(args: Arguments) -> Arguments:
    return rebuilt(
        args,
        [
            leaf.astype(np.float64) if isinstance(leaf, np.ndarray) and leaf.dtype.kind == "f" else leaf
            for leaf in flat(args)
        ],
    )


def _called(args: Iterable[Argument]) -> list[Any]:
    from engine.code.step_table import StepTable

    return [value.step() if isinstance(value, StepTable) else value for value in args]
