"""An exercise said by its inputs and relations: everything else is made from these.

From the inputs come hidden cases of unequal sizes, sizes beyond usual blocks, single precision, layouts,
leading axes, gradients; from the reference solution beside the file the right results.
docs/writing-code-exercises.md says what each of them is called in a rubric.
"""

from __future__ import annotations

import copy
import inspect
import itertools
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from engine.code.arguments import Argument, arrays_of, flat, key_of
from engine.code.plan import ExpectedResult, group_key
from engine.code.plan_builder import BLOCKS, ExactValues, PlanBuilder, misfits, single
from engine.code.planned_exercise import AuthorError, PlannedExercise
from engine.code.properties import Property
from engine.exercises.input_set import Arguments, InputSet, Spec
from engine.exercises.inputs import InputKind
from engine.exercises.relations import Relation
from engine.exercises.right_results import KinkError, RightResults

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_HIDDEN = 3  # ordinary hidden inputs, no two of equal sizes
# Hidden inputs of a gradient have few entries: each costs four calls of the reference.
_MOST_ENTRIES = 120
_BATCHES = ((3,), (2, 1))  # sizes of leading axes: one, and two of which one has the size 1
_MOST_SIMPLE = 16  # combinations of sizes that a search for a counterexample begins with
_TURNS = 8  # how often sizes and plain values are drawn again that fulfil no condition of the author
_SMOOTH_DRAWS = 12  # of an input for gradients, until the reference has no kink there
_OWN_CASES = {"sizes", "one", "batch"}  # what a rubric calls inputs that are no variation


class Exercise(PlannedExercise):
    """An exercise whose plan follows from its inputs and relations.

    Parameters
    ----------
    inputs : mapping of str to InputKind or hypothesis strategy
        The function's arguments in their order; those that may be left out come last.
    relations : sequence of Relation
        What must hold beside the values; each is a property of its name for the rubric. Those made by
        :meth:`~engine.exercises.relations.Relation.on` are judged on the inputs of a variation, or, with
        ``on("batch")``, on inputs with leading axes.
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
        its inputs say. What it excludes is drawn again, a few times: it should hold of many inputs.
    variations : mapping of str to callable, optional
        Special inputs: each function takes the arguments as a dict and returns those that change; values
        are judged as ``values`` with this name under ``options: {cases: …}``, dtypes as ``dtype``. Names are
        free but ``"sizes"``, ``"one"`` and ``"batch"``, which exist anyway.
    half : bool
        Whether float16 and bfloat16 are tried (``half``).
    size_long : sequence of str
        Sizes with a strategy of their own of which 65 is tried too, as of those without: ``cases: sizes``.
    size_one : sequence of str
        Sizes of which 1 is tried: ``values`` with ``cases: one``.
    size_zero : sequence of str
        Sizes of which 0 is tried (``empty``).
    gradients : bool or sequence of str
        Whether gradients in torch are judged (``grad``), for results of smooth functions; or the arguments
        with respect to which they are. Inputs at a kink of the reference, where a derivative has no value,
        are drawn again.
    refuses : bool or mapping of str to callable
        Whether sizes that don't fit must raise ValueError (``refuses``), also those that would be broadcast,
        and leading axes of which one argument has others. A mapping names more inputs that must: each
        function takes the arguments as a dict and returns those that change.

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
        size_long: Sequence[str] = (),
        size_one: Sequence[str] = (),
        size_zero: Sequence[str] = (),
        gradients: bool | Sequence[str] = True,
        refuses: bool | Mapping[str, Callable[[dict[str, Any]], Mapping[str, Argument]]] = False,
    ) -> None:
        caller = sys._getframe(1)  # the author's file, which makes it
        self._line = caller.f_lineno
        self._inputs = InputSet(inputs, sizes, valid, size_zero)
        self._inputs.check_names([*size_long, *size_one])
        self._size_long = [*self._inputs.free_sizes, *size_long]
        if fixed := set(size_long) - set(self._inputs.strategy_sizes):
            raise ValueError(f"size_long: {min(fixed)!r} has no strategy under sizes")
        self._right = RightResults(reference, returns, Path(caller.f_code.co_filename), self._line)
        for name, change in {**variations, **({} if isinstance(refuses, bool) else refuses)}.items():
            _check_function(f"the function of {name!r}", change, 1)
        if valid is not None:
            _check_function("valid=", valid, len(inputs))
        self._relations, self._variations = tuple(map(self._placed, relations)), dict(variations)
        self._half, self._size_one, self._size_zero = half, tuple(size_one), tuple(size_zero)
        self._gradients = list(inputs) if gradients is True else list(gradients or ())
        self._refuses = refuses is not False
        self._unfit = {} if isinstance(refuses, bool) else dict(refuses)
        self._examples: tuple[Arguments, ...] = ()
        if half and not self._right.are_arrays:
            raise ValueError("half precision is tried of results that are arrays")
        keys = [group_key(judged.name, judged.cases) for judged in self._relations]
        if repeated := {key for key in keys if keys.count(key) > 1}:
            raise ValueError(f"two relations are called {min(repeated)!r}; give one another name")
        if wrong := set(self._gradients) - set(inputs):
            raise ValueError(f"gradients: no argument is called {min(wrong)!r}")
        if clash := _OWN_CASES & set(self._variations):
            raise ValueError(f"a variation can't be called {min(clash)!r}: there are such inputs anyway")
        known = {None, *self._variations, *(["batch"] if self._inputs.leads else [])}
        if unknown := {judged.cases for judged in self._relations} - known:
            raise ValueError(f"no variation is called {min(map(str, unknown))!r}")

    def _placed(self, judged: Any) -> Relation:
        if not isinstance(judged, Relation):
            raise TypeError(f"relations: {judged!r:.40} isn't made by @relation('What must hold.')")
        if judged.part is None:
            return judged
        if judged.part not in (parts := self._right.result.parts):
            raise ValueError(f"the function returns no {judged.part!r}; returns=[…] names {', '.join(parts)}")
        return replace(judged, place=parts.index(judged.part))

    @property
    def argument_names(self) -> tuple[str, ...]:
        """Names of the arguments."""
        return tuple(self._inputs.kinds)

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
        changed._examples = tuple(map(self._inputs.read, examples))
        changed.__dict__.pop("offered_groups", None)
        return changed

    def expected(self, args: Arguments) -> ExpectedResult:
        """Return the reference's result for these arguments, computed in float64."""
        return self._right.expected(args)

    def axes(self, args: Arguments) -> tuple[tuple[str, ...], ...]:
        """Return the names of the axes of every array."""
        return self._inputs.axes(args)

    def is_valid_input(self, args: Arguments) -> bool:
        """Return whether all arguments fit each other, and the reference has a result for them.

        A search for a counterexample makes inputs that no author thought of: a label beyond the classes.
        """
        if self._inputs.fault(args) is not None:
            return False
        try:
            due = self.expected(args)
        except AuthorError:
            raise
        except Exception:  # whatever the author's function raises
            return False
        return not any((part.values != part.values).any() for part in due.parts)  # NaN would show nothing

    def simple_inputs(self) -> Iterator[Arguments]:
        """Return small inputs, of sizes 1 and 2, and the examples."""
        names = self._inputs.size_names
        small_sizes = itertools.islice(itertools.product((1, 2), repeat=len(names)), _MOST_SIMPLE)
        for place, small in enumerate(small_sizes):
            sizes = self._inputs.complete(dict.fromkeys(names, 2) | dict(zip(names, small, strict=True)))
            for plain in self._inputs.plain_choices[:2]:
                values = ExactValues(b"simple%d" % place)
                args = self._inputs.arguments((tuple(sizes.items()), plain), values)
                yield from (args, single(*args))
        yield from self._examples

    def strategy(self) -> SearchStrategy[dict[str, Argument]]:
        """Return a hypothesis strategy for arguments by name, for property tests of your own."""
        return self._inputs.strategy().map(lambda args: dict(zip(self._inputs.kinds, args, strict=True)))

    def add_cases(self, plan: PlanBuilder, seed: bytes, values: ExactValues) -> None:
        """Add the public examples and everything that follows from inputs and relations."""
        inputs = self._inputs
        plan.fits = inputs.is_valid
        specs = self._specs(_HIDDEN, seed)
        hidden = [self._drawn(specs, values, "hidden inputs") for _ in range(_HIDDEN)]
        hidden[1] = self._checked(inputs.without_optional(hidden[1]), "leaving out optional arguments")
        public = self._examples or (
            self._drawn(self._specs(1, b"public"), ExactValues(b"public"), "public inputs"),
        )
        self._check_reference(public[0])
        members = plan.add_public({f"example-{place}": args for place, args in enumerate(public)})
        members += plan.add_ordinary(hidden)
        if inputs.fewest < len(hidden[0]):
            plan.judge("values", plan.case("without-options", *hidden[0][: inputs.fewest]))
        ordinary: dict[str | None, list[int]] = {None: [members[0], *members[-2:]]}
        special = self._add_variations(plan, [public[0], *hidden[:2]])
        self._add_relations(plan, ordinary | special)
        self._add_sizes(plan, hidden[0], values)
        if any(array.dtype.kind == "f" for array in arrays_of(hidden[0])):
            plan.add_contract(public[0], hidden[2], hidden[:2])
        if self._half:
            halves = [
                case for place in range(2) for case in plan.add_halves(f"hidden-{place}", hidden[place])
            ]
            plan.judge_each(("dtype", "half"), halves)
        if inputs.leads:
            self._add_relations(plan, {"batch": self._add_batches(plan, seed, values)})
        if self._gradients:
            self._add_gradients(plan, [public[0], *hidden[:2]], values)
        if self._refuses:
            unfit = {name: self._changed(hidden[0], change) for name, change in self._unfit.items()}
            unfit |= self._unfit_leads(seed, values)
            plan.add_refusals(unfit, inputs.letters(hidden[0]), hidden[0])
        plan.add_again(members[0])
        for case, (first, *_) in special.items():
            narrow = plan.case(f"{case}-single", *single(*plan.arguments(first)), kind="precision")
            plan.judge_each("dtype", [first, narrow], cases=case)

    def _specs(self, count: int, seed: bytes) -> Iterator[Spec]:
        """Yield the specs of a seed, and others for those that fulfil no condition of the author."""
        return (spec for turn in range(_TURNS) for spec in self._inputs.specs(count, seed + b" again" * turn))

    def _drawn(
        self, specs: Iterable[Spec], values: ExactValues, what: str, lead: tuple[int, ...] = ()
    ) -> Arguments:
        """Return arguments of the first of these specs that has some which the exercise calls valid."""
        for spec in specs:
            if (args := self._inputs.valid_arguments(spec, values, lead)) is not None:
                return self._checked(args, f"what is drawn for {what}")
        message = (
            f"valid= is false for all {what} that were drawn: "
            "let entries, sizes and strategies draw what it asks for, or let it ask for less"
        )
        raise AuthorError(message, self._line)

    def _checked(self, args: Arguments, what: str) -> Arguments:
        if fault := self._inputs.fault(args):
            raise AuthorError(f"{what} gives arguments that don't fit: {fault}", self._line)
        return args

    def _check_reference(self, args: Arguments) -> None:
        first, second = (self._right.parts(args) for _ in range(2))
        if any(a.tobytes() != b.tobytes() for a, b in zip(first, second, strict=True)):
            message = "the reference gives another result when it is called again with the same arguments"
            raise AuthorError(message, self._line)

    def _add_relations(self, plan: PlanBuilder, bases: Mapping[str | None, Sequence[int]]) -> None:
        further: dict[Any, int] = {}  # several relations may call with the same arguments
        for judged in self._relations:
            for place, base in enumerate(bases.get(judged.cases, ())):
                is_public = place == 0 and judged.cases != "batch"  # the first of the others is public
                members: list[int] = []
                calls = judged.further_calls(
                    self.argument_names, plan.arguments(base), self.expected, self._inputs.fault
                )
                for args in calls:
                    key = key_of(args)
                    if key not in further:
                        name = f"{judged.name}-{base}-{len(members)}"
                        further[key] = plan.case(name, *args, public=is_public)
                    members.append(further[key])
                plan.judge(judged.name, base, *members, cases=judged.cases)

    def _add_variations(self, plan: PlanBuilder, bases: Sequence[Arguments]) -> dict[str | None, list[int]]:
        """Add the special inputs and return their cases by name."""
        added: dict[str | None, list[int]] = {name: [] for name in self._variations}
        for name, change in self._variations.items():
            for place, args in enumerate(bases):
                changed = self._checked(self._changed(args, change), f"the variation {name!r}")
                added[name].append(plan.case(f"{name}-{place}", *changed, kind="large", public=place == 0))
            plan.judge_each("values", added[name], cases=name)
        return added

    def _changed(
        self, args: Arguments, change: Callable[[dict[str, Any]], Mapping[str, Argument]]
    ) -> Arguments:
        before = dict(zip(self._inputs.kinds, args, strict=False))
        changes = change(dict(before))
        if not isinstance(changes, Mapping) or not set(changes) <= set(before):
            message = f"a variation returns a dict of some of {', '.join(before)}, not {changes!r:.80}"
            raise AuthorError(message, self._line)
        return tuple({**before, **changes}.values())

    def _unfit_leads(self, seed: bytes, values: ExactValues) -> dict[str, Arguments]:
        """Return inputs of which one array has other leading axes than the others."""
        if self._inputs.leads < 2:
            return {}
        args = self._drawn(self._specs(1, seed + b"lead"), values, "inputs with leading axes", (2,))
        letters = ["a" * (axes[:1] == ("batch 0",)) for axes in self._inputs.axes(args)]
        return {f"lead-{name}": changed for name, changed in misfits(letters, args).items()}

    def _add_sizes(self, plan: PlanBuilder, like: Arguments, values: ExactValues) -> None:
        for place, name in enumerate(self._size_long):
            longer = self._resized(like, values, **{name: BLOCKS[-1]})
            plan.judge("values", plan.case(f"longer-{place}", *longer), cases="sizes")
        for name in self._size_one:
            short = self._resized(like, values, **{name: 1})
            plan.judge("values", plan.case(f"one-{name}", *short), cases="one")
        for name in self._size_zero:
            none = self._resized(like, values, **{name: 0})
            plan.judge("empty", plan.case(f"empty-{name}", *none, kind="empty"))

    def _resized(self, args: Arguments, values: ExactValues, **sizes: int) -> Arguments:
        what = f"inputs with {', '.join(f'{name} = {size}' for name, size in sizes.items())}"
        return self._drawn([self._inputs.spec_like(args, **sizes)], values, what)

    def _add_batches(self, plan: PlanBuilder, seed: bytes, values: ExactValues) -> list[int]:
        wholes: list[int] = []
        for place, lead in enumerate(_BATCHES):
            args = self._drawn(self._specs(1, seed + b"batch"), values, "inputs with leading axes", lead)
            whole = plan.case(f"batch-{place}", *args, kind="batch")
            parts = [
                plan.case(f"batch-{place}-{'-'.join(map(str, index))}", *self._inputs.part(args, index))
                for index in itertools.product(*map(range, lead))
            ]
            plan.judge("batch", whole, *parts)
            plan.judge("values", whole, cases="batch")
            wholes.append(whole)
        return wholes

    def _add_gradients(self, plan: PlanBuilder, inputs: Sequence[Arguments], values: ExactValues) -> None:
        least = {name: 2 + place for place, name in enumerate(self._inputs.free_sizes)}
        for place, args in enumerate(inputs):
            entries = sum(array.size for array in arrays_of(args) if array.dtype.kind == "f")
            if not entries:
                continue
            if entries > _MOST_ENTRIES and place:
                args = self._resized(args, values, **least)
            cotangents = [values.distinct(4, part.values.shape) for part in self.expected(args).parts]
            for turn in itertools.count(1):
                try:
                    gradients = self._right.gradients(args, cotangents, self._judged_leaves(args))
                    break
                except KinkError:  # a derivative has no value there
                    if turn == _SMOOTH_DRAWS:
                        raise
                    args = self._drawn([self._inputs.spec_like(args)], values, "inputs for gradients")
            is_public = place == 0 and turn == 1
            plan.gradient_case(
                f"gradient-{place}", *args, cotangents=cotangents, gradients=gradients, public=is_public
            )

    def _judged_leaves(self, args: Arguments) -> list[str | None]:
        """Return of each array or plain value the argument's name, or None where no gradient is judged."""
        named = zip(self._inputs.kinds, args, strict=False)
        return [name if name in self._gradients else None for name, value in named for _ in flat((value,))]


def _check_function(what: str, function: Any, count: int) -> None:
    try:
        inspect.signature(function).bind(*range(count))
    except TypeError as error:
        raise TypeError(f"{what} can't be called with {count} positional arguments: {error}") from None
