"""What a function should return: the reference's values, with tolerances and gradients.

The reference is a solution of the exercise, or any function of the author's. It runs in float64 on numpy
arrays. How far a result in another dtype may lie from its values follows from the sizes, and from how much
the reference itself moves where its inputs move a little. Gradients are differences, which need no second
library.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.code.arguments import Argument, arrays_of, flat, key_of, rebuilt
from engine.code.exercise import run_author_file
from engine.code.plan import EPS, ExpectedPart, ExpectedResult, relative_tolerance, remembered
from engine.code.plan_builder import ExactValues
from engine.code.planned_exercise import CALLED_WITH, AuthorError
from engine.code.result_kinds import ArrayResult, NumberResult, ResultKind, TokensResult, TupleResult
from engine.code.step_table import StepTable
from engine.text.words import count_noun

Arguments = tuple[Argument, ...]
Floats = NDArray[np.float64]

_SOLUTIONS = ("solution_numpy.py", "solution.py")
_MOST_LATEST = 256  # results that are remembered: a plan asks for some twice, and so does a search
# Central differences of the first step, extrapolated once, lie within 1e-11 of a smooth function's
# derivative; the others look closer where there is a kink within it.
_STEPS = (2.0**-10, 2.0**-13, 2.0**-16)
_GRADIENT_SLACK = 1e-7
_CURVED = 1e-4  # how much a difference may change with its step
_PERTURBATION = 2.0**-16  # relative: far above the rounding of float64, and small enough to be linear
_LARGE = 1024.0  # of arguments in float64: up to here, what rounding does is far below every tolerance
_SMALL_PERTURBATION = 2.0**-36  # of such arguments, which move a result far
_RESULTS: Mapping[str, ResultKind] = {
    "array": ArrayResult(),
    "number": NumberResult(),
    "tokens": TokensResult(),
}


class KinkError(AuthorError):
    """The reference has no derivative at an input."""


class RightResults:
    """The reference of one exercise.

    Parameters
    ----------
    reference : callable, str or None
        The function, the name of a file beside the exercise's that defines it, or None for a solution there.
    returns : str or sequence of str
        What it returns: a word, or the names of the arrays of a tuple.
    path : Path
        The author's file.
    line : int
        Where it says so.

    Raises
    ------
    ValueError
        `returns` is another word.
    """

    def __init__(
        self, reference: Callable[..., Any] | str | None, returns: str | Sequence[str], path: Path, line: int
    ) -> None:
        self._reference, self._path, self._line = reference, path, line
        self._latest: dict[Hashable, ExpectedResult] = {}
        if not isinstance(returns, str):
            self.result: ResultKind = TupleResult(tuple(returns))
        elif returns in _RESULTS:
            self.result = _RESULTS[returns]
        else:
            words = ", ".join(map(repr, _RESULTS))
            raise ValueError(f"returns={returns!r}; it is one of {words}, or a list of names")

    @property
    def are_arrays(self) -> bool:
        """Whether the function returns arrays, whose dtype is judged."""
        return isinstance(self.result, ArrayResult | TupleResult)

    def expected(self, args: Arguments) -> ExpectedResult:
        """Return the right result for these arguments, computed in float64; the latest are remembered."""
        return remembered(self._latest, key_of(args), lambda: self._computed(args), _MOST_LATEST)

    def _computed(self, args: Arguments) -> ExpectedResult:
        floats = [array for array in arrays_of(args) if array.dtype.kind == "f"]
        dtype = floats[0].dtype.name if floats else "float64"
        exact = _in_doubles(args)
        parts = self.parts(exact)
        terms = sum({size for array in arrays_of(args) for size in array.shape}) + 1
        errors = [0.0] * len(parts)
        if dtype != "float64":
            errors = self._sensitivity(exact, parts, _PERTURBATION)
        elif any(_size(array) > _LARGE for array in floats):
            errors = self._sensitivity(exact, parts, _SMALL_PERTURBATION)
        pairs = zip(parts, errors, strict=True)
        return ExpectedResult(
            tuple(self._part(part, dtype, terms, error) for part, error in pairs), self.result
        )

    def parts(self, exact: Arguments) -> list[NDArray[Any]]:
        """Return the arrays of the reference's result.

        Raises
        ------
        AuthorError
            There is no reference, or it returns another number of values, or no real numbers.
        """
        copies = [leaf.copy() if isinstance(leaf, np.ndarray) else leaf for leaf in flat(exact)]
        called = (value.step() if isinstance(value, StepTable) else value for value in rebuilt(exact, copies))
        # The filter belongs to the whole process, so it names the module; errstate belongs to this thread.
        warnings.filterwarnings("ignore", module="reference_of_")
        with np.errstate(all="ignore"):
            result = self._result(tuple(called))
        results = list(result) if isinstance(self.result, TupleResult) else [result]
        if len(results) != len(self.result.parts):
            count = len(self.result.parts)
            raise AuthorError(
                f"the reference returns {count_noun(len(results), 'value')} instead of {count}", self._line
            )
        arrays = [np.asarray(part) for part in results]
        if strange := [array.dtype for array in arrays if array.dtype.kind not in "biuf"]:
            kind = type(result).__name__ if strange[0].hasobject else strange[0]
            raise AuthorError(f"the reference returns {kind}, where real numbers are due", self._line)
        return arrays

    def _result(self, args: tuple[Any, ...]) -> Any:
        code = getattr(self._function, "__code__", None)
        place = (code.co_firstlineno, code.co_filename) if code else (self._line, None)
        try:
            result = self._function(*args)
        except Exception as error:
            if code and not code.co_flags & inspect.CO_VARARGS and len(args) > code.co_argcount:
                raise AuthorError(f"the reference takes fewer than {len(args)} arguments", *place) from error
            shapes = (str(arg.shape) if isinstance(arg, np.ndarray) else repr(arg)[:40] for arg in args)
            error.add_note(f"{CALLED_WITH}{', '.join(shapes)} (of arrays their shapes)")
            raise
        return result

    def gradients(
        self, args: Arguments, cotangents: Sequence[Floats], judged: Sequence[str | None]
    ) -> tuple[ExpectedPart | None, ...]:
        """Return the gradients of the sum of results times cotangents, one for each floating array.

        Parameters
        ----------
        args : tuple of Argument
        cotangents : sequence of ndarray
            One for each part of the result.
        judged : sequence of str or None
            For each leaf of the arguments whose gradient is judged the name of its argument, else None.

        Raises
        ------
        KinkError
            The reference has no derivative there.
        """
        return tuple(
            ExpectedPart(gradient, "float64", _GRADIENT_SLACK, _GRADIENT_SLACK * max(1.0, _size(gradient)))
            if gradient is not None
            else None
            for gradient in self._differences(args, cotangents, judged)
        )

    def _differences(
        self, args: Arguments, cotangents: Sequence[Floats], judged: Sequence[str | None]
    ) -> Iterator[Floats | None]:
        leaves = list(flat(args))

        def total(place: int, index: tuple[int, ...], step: float) -> float:
            array = np.asarray(leaves[place]).copy()
            array[index] += step
            parts = self.parts(rebuilt(args, [*leaves[:place], array, *leaves[place + 1 :]]))
            return float(sum((part * factors).sum() for part, factors in zip(parts, cotangents, strict=True)))

        middle: float | None = None
        for place, leaf in enumerate(leaves):
            if not isinstance(leaf, np.ndarray) or not _is_floating(leaf):
                continue
            if (name := judged[place]) is None:
                yield None
                continue
            gradient = np.empty(leaf.shape)
            for index in np.ndindex(*leaf.shape):
                if middle is None:
                    middle = total(place, index, 0.0)
                slope = _slope(partial(total, place, index), middle)
                if slope is None:
                    entry = f"{name}{list(index) if index else ''}"
                    raise KinkError(
                        f"no gradient with respect to {name} can be expected: where {entry} is "
                        f"{leaf[index]:g}, the reference has a kink or a jump; leave {name} out by "
                        "gradients=[…], or let entries= stay away from such places",
                        self._line,
                    )
                gradient[index] = slope
            yield gradient

    def _part(self, part: NDArray[Any], dtype: str, terms: int, error: float) -> ExpectedPart:
        values = part.astype(np.float64)
        if isinstance(self.result, NumberResult | TokensResult):
            due = "number" if isinstance(self.result, NumberResult) else "int"
        else:
            due = part.dtype.name if part.dtype.kind in "biu" else dtype
        if part.dtype.kind in "biu":
            return ExpectedPart(values, due, 0.0, 0.0)
        size = max(1.0, _size(values))
        relative, rounded = (
            relative_tolerance(dtype, keys=terms, score=score, terms=3) for score in (0.0, error / size)
        )
        # what rounding large arguments to float64 does says nothing about a result in another dtype
        return ExpectedPart(values, due, relative if dtype == "float64" else rounded, rounded * size)

    def _sensitivity(
        self, exact: Arguments, parts: Sequence[NDArray[Any]], perturbation: float
    ) -> list[float]:
        """Return how far each part moves where every input moves by its own size, as seen for small moves."""
        worst = [0.0] * len(parts)
        for turn in range(2):
            signs = ExactValues(b"signs%d" % turn)
            moved = [
                leaf * (1 + perturbation * (2.0 * signs.integers(0, 1, leaf.shape) - 1))
                if isinstance(leaf, np.ndarray) and _is_floating(leaf)
                else leaf
                for leaf in flat(exact)
            ]
            after = self.parts(rebuilt(exact, moved))
            for place, (part, before) in enumerate(zip(after, parts, strict=True)):
                if part.shape == before.shape and part.dtype.kind == "f":
                    worst[place] = max(worst[place], _size(part - before) / perturbation)
        return worst

    @cached_property
    def _function(self) -> Callable[..., Any]:
        if callable(self._reference):
            return self._reference
        path = self._path
        names = [self._reference] if self._reference else _SOLUTIONS
        file = next((path.parent / name for name in names if (path.parent / name).is_file()), None)
        if file is None:
            raise AuthorError(f"the folder has no {names[-1]}, which gives the right results", self._line)
        function_name = path.parent.name.replace("-", "_")  # the item's id is the function's name
        module = ModuleType(f"reference_of_{function_name}")
        run_author_file(module, str(file), file.read_bytes())
        function = getattr(module, function_name, None)
        if not callable(function):
            raise AuthorError(f"{file.name} defines no function {function_name}", 1, str(file))
        return function  # type: ignore[no-any-return]


def _slope(moved: Callable[[float], float], middle: float) -> float | None:
    """Return the derivative at 0 of a function that is `middle` there, or None at a kink or a jump."""
    for step in _STEPS:
        above, below, near_above, near_below = map(moved, (step, -step, step / 2, -step / 2))
        wide, near = (above - below) / (2 * step), (near_above - near_below) / step
        # how far the slopes on both sides differ becomes half as much with half the step, but at a kink
        bend = 2 * (near_above + near_below - 2 * middle) / step - (above + below - 2 * middle) / (2 * step)
        size = max(1.0, abs(near))
        rounding = 16 * EPS["float64"] * abs(middle) / step
        if abs(bend) <= _GRADIENT_SLACK * size + rounding and abs(near - wide) <= _CURVED * size:
            return (4 * near - wide) / 3  # the error of the fourth order is left
    return None


def _in_doubles(args: Arguments) -> Arguments:
    leaves = (
        leaf.astype(np.float64) if isinstance(leaf, np.ndarray) and _is_floating(leaf) else leaf
        for leaf in flat(args)
    )
    return rebuilt(args, list(leaves))


def _is_floating(leaf: object) -> bool:
    return isinstance(leaf, np.ndarray) and leaf.dtype.kind == "f"


def _size(values: NDArray[Any]) -> float:
    return float(np.abs(values[np.isfinite(values)]).max(initial=0.0))
