"""What an exercise tries: the base of all exercises, what those of arrays inherit, how sizes are drawn.

An exercise says what inputs are tried, and what the reference gives for them. Each is the ``exercise.py``
of an item's folder (:mod:`engine.code.exercise`).

``letters`` such as ``("s", "nh", "as", "ah", "a")`` name the axes of every array, one letter an axis;
equal letters have equal sizes. A dot in front stands for leading axes of any number.
"""

from __future__ import annotations

import contextlib
import hashlib
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from engine.code.arguments import Argument
from engine.code.plan import ExpectedPart, ExpectedResult, InputPlan, relative_tolerance
from engine.code.plan_builder import Arguments, ExactValues, PlanBuilder
from engine.text.files import keep_libraries_tidy
from engine.text.words import count_noun
from reference.tangents import gradients_of

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from engine.code.properties import Property

Floats = NDArray[np.float64]
Arrays = Sequence[Floats]
CALLED_WITH = "it was called with "  # begins the note of an error in a reference


class AuthorError(ValueError):
    """Something in an author's file can't be; `line` is where, in that file or in `file` beside it."""

    def __init__(self, message: str, line: int = 1, file: str | None = None) -> None:
        super().__init__(message)
        self.line, self.file = line, file


class PlannedExercise(ABC):
    """The inputs of one exercise and the truth about them, by hand.

    Attributes
    ----------
    name : str
        Id of the exercise, part of the hash of its plans; set when the file is loaded.
    path : Path or None
        The file that defines it; set when the file is loaded.
    """

    name: str = ""
    path: Path | None = None

    @property
    def properties(self) -> Mapping[str, Property]:
        """Properties of this exercise alone, by the names that checks call them."""
        return {}

    def with_examples(self, examples: Sequence[Mapping[str, Any]]) -> PlannedExercise:
        """Return the exercise with the public examples of a spec.

        Raises
        ------
        ValueError
            It takes none, or one doesn't fit.
        """
        if examples:
            raise ValueError("exercise.py says every case itself, the public ones too")
        return self

    @property
    @abstractmethod
    def argument_names(self) -> tuple[str, ...]:
        """Names of the function's arguments."""

    def plan(self, seed: bytes) -> InputPlan:
        """Return the plan of a secret seed: every property, canonical cases first."""
        plan = PlanBuilder(self.name, self.expected)
        self.add_cases(plan, seed, ExactValues(seed))
        return plan.plan()

    @cached_property
    def offered_groups(self) -> frozenset[str]:
        """Keys of all groups that the plans have; a seed changes inputs, never these."""
        return frozenset(self.plan(b"load").groups)

    @abstractmethod
    def add_cases(self, plan: PlanBuilder, seed: bytes, values: ExactValues) -> None:
        """Add the cases to a plan, and the properties that are judged on them."""

    @abstractmethod
    def expected(self, args: tuple[Argument, ...]) -> ExpectedResult:
        """Return what the reference gives for these arguments."""

    def candidates(self) -> tuple[tuple[Argument, ...], ...]:
        """Return the public inputs that a search for a counterexample starts from, simplest first."""
        return tuple(filter(self.is_valid_input, self.simple_inputs()))

    @abstractmethod
    def simple_inputs(self) -> Iterable[tuple[Argument, ...]]:
        """Return public inputs, simplest first; those that aren't valid are left out of the search."""

    def axes(self, args: tuple[Argument, ...]) -> tuple[tuple[str, ...], ...]:
        """Return the names of the axes of each argument; axes of one name shrink together."""
        return ((),) * len(args)

    @abstractmethod
    def is_valid_input(self, args: tuple[Argument, ...]) -> bool:
        """Return whether the function has a defined result for these arguments."""


@dataclass(frozen=True, slots=True)
class Rounding:
    """How large the numbers are that a rounding passes through on its way to the result.

    Parameters
    ----------
    score : float
        Largest sum of absolute products.
    terms : int
        How many products that sum has.
    factor : float
        How many times its error counts in the result.
    keys : int
        How many exponentials are summed.
    """

    score: float
    terms: int
    factor: float
    keys: int = 1


@dataclass(frozen=True, slots=True)
class ArrayInputs:
    """The arguments of one function and what the reference gives for them.

    Parameters
    ----------
    names : tuple of str
        Of the arguments; those that come after the arrays, such as a flag or a mask, may be left out.
    letters : tuple of str
        Axes of each array, see the module.
    reference : str
        Name of the function in :mod:`reference`.
    rounding : callable
        Takes the arguments, arrays in float64.
    """

    names: tuple[str, ...]
    letters: tuple[str, ...]
    reference: str
    rounding: Callable[[Sequence[Any]], Rounding]

    def arrays(self, args: Arguments) -> list[NDArray[Any]]:
        """Return the arrays that come first."""
        leading = args[: len(self.letters)]
        assert len(leading) == len(self.letters)
        return [value for value in leading if isinstance(value, np.ndarray)]

    def options(self, args: Arguments) -> tuple[Argument, ...]:
        """Return the arguments behind the arrays."""
        return tuple(args[len(self.letters) :])

    def expected(self, args: tuple[Argument, ...]) -> ExpectedResult:
        """Return the reference's result, computed in float64."""
        values = self._reference(*self._in_doubles(args))
        # float64 whatever came in; the dtype tells how far the function's own result may lie from it
        dtype = self.arrays(args)[0].dtype.name
        return ExpectedResult.array(np.asarray(values), dtype, *self._tolerance(args))

    def gradients(
        self, args: tuple[Argument, ...], cotangent: Floats, slack: float | None = None
    ) -> list[ExpectedPart]:
        """Return the gradients of the sum of result times cotangent with respect to every array.

        Their slack is that of the result times their largest entry, at least times 1, unless `slack` says it.
        """
        relative, of_result = self._tolerance(args)
        options = self.options(args)
        values = gradients_of(
            lambda *arrays: self._reference(*arrays, *options), self.arrays(args), cotangent
        )
        return [
            ExpectedPart(
                array, "float64", relative, slack or of_result * max(1.0, float(np.abs(array).max()))
            )
            for array in values
        ]

    def _in_doubles(self, args: tuple[Argument, ...]) -> list[Any]:
        return [array.astype(np.float64) for array in self.arrays(args)] + list(self.options(args))

    def _reference(self, *args: Any) -> Any:
        import reference

        return getattr(reference, self.reference)(*args)

    def _tolerance(self, args: tuple[Argument, ...]) -> tuple[float, float]:
        size = self.rounding(self._in_doubles(args))
        dtype = self.arrays(args)[0].dtype.name
        relative = relative_tolerance(dtype, keys=size.keys, score=size.score, terms=size.terms)
        return relative, relative * max(size.factor, 1.0)  # never below that of a result of 1

    def fits(self, args: Arguments) -> bool:
        """Return whether the axes agree, no array is empty and all have one dtype."""
        if not len(self.letters) <= len(args) <= len(self.names):
            return False
        arrays = self.arrays(args)
        # of mixed dtypes nobody can say which one the result should have
        if len(arrays) != len(self.letters) or len({array.dtype for array in arrays}) > 1:
            return False
        sizes: dict[str, int] = {}
        for letters, array in zip(self.letters, arrays, strict=True):
            names = letters.removeprefix(".")
            # an empty array is a case of its own (``empty``)
            if array.size == 0 or array.ndim < len(names) or (names == letters and array.ndim > len(names)):
                return False
            shape = array.shape[array.ndim - len(names) :]
            if any(sizes.setdefault(name, size) != size for name, size in zip(names, shape, strict=True)):
                return False
        return True

    def axes(self, args: Arguments) -> tuple[tuple[str, ...], ...]:
        """Return the letters of every array, leading axes as ``batch 0`` and so on."""
        axes: list[tuple[str, ...]] = []
        for letters, array in zip(self.letters, self.arrays(args), strict=True):
            names = letters.removeprefix(".")
            axes.append((*(f"batch {place}" for place in range(array.ndim - len(names))), *names))
        return (*axes, *(() for _ in self.options(args)))


class ArrayExercise(PlannedExercise):
    """What an exercise inherits whose function takes arrays, maybe plain values, and returns one array."""

    inputs: ArrayInputs

    @property
    def argument_names(self) -> tuple[str, ...]:
        """Names of the arguments."""
        return self.inputs.names

    def expected(self, args: tuple[Argument, ...]) -> ExpectedResult:
        """Return the reference's result."""
        return self.inputs.expected(args)

    def is_valid_input(self, args: tuple[Argument, ...]) -> bool:
        """Return whether the sizes fit."""
        return self.inputs.fits(args)

    def axes(self, args: tuple[Argument, ...]) -> tuple[tuple[str, ...], ...]:
        """Return the letters of every argument's axes."""
        return self.inputs.axes(args)

    def add_gradients(
        self, plan: PlanBuilder, public: Arguments, hidden: Sequence[Arguments], values: ExactValues
    ) -> None:
        """Add cases whose gradients are judged, where torch can give them."""
        for place, args in enumerate(map(tuple, [public, *hidden])):
            cotangent = values.distinct(4, self.expected(args).values.shape)
            name = "gradient" if place == 0 else f"gradient-{place}"
            self.add_gradient(plan, name, args, cotangent, public=place == 0)

    def add_gradient(
        self,
        plan: PlanBuilder,
        name: str,
        args: tuple[Argument, ...],
        cotangent: Floats,
        *,
        public: bool = False,
        slack: float | None = None,
    ) -> None:
        """Add one case whose gradients are judged; see :meth:`ArrayInputs.gradients` for the slack."""
        gradients = self.inputs.gradients(args, cotangent, slack)
        plan.gradient_case(name, *args, cotangents=(cotangent,), gradients=gradients, public=public)


T = TypeVar("T")
_lock = threading.Lock()  # one hypothesis engine at a time, whatever the thread


def draw_specs(strategy: SearchStrategy[T], count: int, seed: bytes) -> list[T]:
    """Return `count` different examples of a strategy, the same for the same seed.

    Hypothesis tries the smallest example first and then random ones; examples that repeat are dropped.
    Inside a hypothesis test of the caller's, its health check ``nested_given`` must be off.

    Raises
    ------
    ValueError
        The strategy has fewer than `count` examples.

    Notes
    -----
    The examples are a function of the seed alone for one version of hypothesis (the constraints file pins
    that). Strategies must draw integers below 100 only: to larger ones hypothesis adds constants that it
    finds in whatever modules happen to be loaded, and the plan would depend on them.
    """
    with _lock:
        examples = _examples(strategy, 4 * count + 8, seed)
    if len(examples) < count:
        raise ValueError(f"the strategy has fewer than {count_noun(count, 'example')}")
    return examples[-count:]  # the first ones are the smallest, the last ones the most varied


def _examples(strategy: SearchStrategy[T], most: int, seed: bytes) -> list[T]:
    keep_libraries_tidy()  # for callers that don't come through the command line
    from hypothesis import HealthCheck, Phase, given, settings
    from hypothesis import seed as seeded

    examples: dict[Any, T] = {}

    @seeded(int.from_bytes(hashlib.sha256(b"specs" + seed).digest()[:8], "big"))
    @settings(
        max_examples=most,
        database=None,  # nothing of an earlier run may come back: the plan depends on the seed alone
        deadline=None,
        phases=[Phase.generate],  # no shrinking: nothing fails here
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def collect(example: T) -> None:
        examples.setdefault(example, example)

    with _no_constants():
        collect()
    return list(examples.values())


@contextlib.contextmanager
def _no_constants() -> Iterator[None]:
    """Keep hypothesis from collecting the constants of all loaded modules: a fifth of a plan's first draw.

    It offers integers above 100, floats and words that it finds there as examples. The function isn't public:
    where another version has no such function, it collects them.
    """
    providers: Any = import_module("hypothesis.internal.conjecture.providers")
    collecting = getattr(providers, "_get_local_constants", None)
    if collecting is None:
        yield
        return
    none = type(providers._local_constants)()
    providers._get_local_constants = lambda: none
    try:
        yield
    finally:
        providers._get_local_constants = collecting


def unequal_sizes(
    count: int, among: Sequence[int] = (2, 3, 4, 5), *, least: Mapping[int, int] = MappingProxyType({})
) -> SearchStrategy[tuple[int, ...]]:
    """Return a strategy for sizes no two of which are equal, so that every transposed matrix shows.

    Parameters
    ----------
    count : int
    among : sequence of int
        As many as `count` or more.
    least : mapping of int to int
        The smallest size allowed, by position.
    """
    from hypothesis import strategies as st

    sizes = st.permutations(among).map(lambda order: tuple(order[:count]))
    if not least:
        return sizes
    return sizes.filter(lambda order: all(order[place] >= size for place, size in least.items()))


def integers(low: int, high: int) -> SearchStrategy[int]:
    """Return a strategy for integers from `low` to `high`, both included and below 100.

    See :func:`draw_specs` for the limit.
    """
    from hypothesis import strategies as st

    return st.integers(low, high)


def hundreds(low: int, high: int) -> SearchStrategy[float]:
    """Return a strategy for 100 times an integer from `low` to `high`."""
    # the factor belongs to the strategy: hypothesis draws other sizes beside it when it is applied outside
    return integers(low, high).map(lambda count: 100.0 * count)


def together(*strategies: SearchStrategy[Any]) -> SearchStrategy[tuple[Any, ...]]:
    """Return a strategy for one example of every strategy."""
    from hypothesis import strategies as st

    return st.tuples(*strategies)


def draw_sizes(seed: bytes, *strategies: SearchStrategy[Any], different: int = 0) -> tuple[Any, ...]:
    """Return one example of every strategy; no two of the first `different` ones are equal."""
    sizes = together(*strategies)
    if different:  # hypothesis likes to draw the same again
        sizes = sizes.filter(lambda drawn: len(set(drawn[:different])) == different)
    return draw_specs(sizes, 1, seed)[0]
