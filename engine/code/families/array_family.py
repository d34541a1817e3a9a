"""What exercises share whose arguments are arrays, then plain values if any: sizes by letters, usual cases.

``letters`` such as ``("s", "nh", "as", "ah", "a")`` name the axes of every argument, one letter an axis;
equal letters have equal sizes. A dot in front stands for leading axes of any number. Capital letters are
sizes that a family checks itself, such as the sum of two others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.code.case import Argument, Expected, Part
from engine.code.plans.beyond import misfits
from engine.code.plans.building import PlanBuilder
from engine.code.plans.draws import Values
from engine.code.plans.gradients import gradients_of
from engine.code.tolerance import relative_tolerance

__all__ = [
    "ArrayFamily",
    "ArrayInputs",
    "Floats",
    "add_contract",
    "add_gradients",
    "add_ordinary",
    "add_public",
    "add_refusals",
    "single",
]

Floats = NDArray[np.float64]
Arrays = Sequence[Floats]
Arguments = Sequence[Argument]


@dataclass(frozen=True, slots=True)
class ArrayInputs:
    """The arguments of one function and what the reference gives for them.

    Parameters
    ----------
    names : tuple of str
        Of the arguments; plain ones, such as a flag, come after the arrays and may be left out.
    letters : tuple of str
        Axes of each array, see the module.
    reference : str
        Name of the function in :mod:`reference`.
    size : callable
        Takes the arguments, arrays in float64; returns the largest sum of absolute products that a
        rounding passes through, how many products that sum has, and how many times its error counts in
        the result.
    """

    names: tuple[str, ...]
    letters: tuple[str, ...]
    reference: str
    size: Callable[[Sequence[Any]], tuple[float, int, float]]

    def read(self, args: Sequence[Argument]) -> list[NDArray[Any]]:
        """Return the arrays among the arguments; they come first."""
        found = [value for value in args if isinstance(value, np.ndarray)]
        assert len(found) == len(self.letters)
        return found

    def rest(self, args: Sequence[Argument]) -> tuple[Argument, ...]:
        """Return the plain arguments behind the arrays."""
        return tuple(args[len(self.letters) :])

    def expected(self, args: tuple[Argument, ...]) -> Expected:
        """Return the reference's result, computed in float64."""
        dtype = self.read(args)[0].dtype.name
        values = self._reference(*self._doubled(args))
        relative, slack = self._tolerance(args)
        return Expected.array(np.asarray(values.detach().numpy()), dtype, relative, slack)

    def gradients(self, args: tuple[Argument, ...], cotangent: Floats) -> list[Part]:
        """Return the gradients of the sum of result times cotangent with respect to every argument."""
        relative, slack = self._tolerance(args)
        return [
            Part(found, "float64", relative, slack * max(1.0, float(np.abs(found).max())))
            for found in gradients_of(self._of_arrays(args), self.read(args), cotangent)
        ]

    def _of_arrays(self, args: tuple[Argument, ...]) -> Callable[..., Any]:
        return lambda *arrays: self._reference(*arrays, *self.rest(args))

    def _doubled(self, args: tuple[Argument, ...]) -> list[Any]:
        return [array.astype(np.float64) for array in self.read(args)] + list(self.rest(args))

    def _reference(self, *arrays: Any) -> Any:
        import reference

        return getattr(reference, self.reference)(*arrays)

    def _tolerance(self, args: tuple[Argument, ...]) -> tuple[float, float]:
        largest, terms, times = self.size(self._doubled(args))
        dtype = self.read(args)[0].dtype.name
        relative = relative_tolerance(dtype, keys=1, score=largest, terms=terms)
        return relative, relative * max(times, 1.0)

    def fits(self, args: tuple[Argument, ...]) -> bool:
        """Return whether the axes agree, no array is empty and all have one dtype."""
        sizes: dict[str, int] = {}
        if not len(self.letters) <= len(args) <= len(self.names):
            return False
        arrays = [value for value in args if isinstance(value, np.ndarray)]
        if len(arrays) != len(self.letters) or len({array.dtype for array in arrays}) > 1:
            return False
        for letters, array in zip(self.letters, arrays, strict=True):
            own = letters.removeprefix(".")
            if array.size == 0 or array.ndim < len(own) or (own == letters and array.ndim > len(own)):
                return False
            shape = array.shape[array.ndim - len(own) :]
            if any(sizes.setdefault(letter, size) != size for letter, size in zip(own, shape, strict=True)):
                return False
        return True

    def axes(self, args: tuple[Argument, ...]) -> tuple[tuple[str, ...], ...]:
        """Return the letters of every argument, leading axes as ``batch 0`` and so on."""
        found: list[tuple[str, ...]] = []
        for letters, array in zip(self.letters, self.read(args), strict=True):
            own = letters.removeprefix(".")
            lead = (f"batch {place}" for place in range(array.ndim - len(own)))
            found.append((*lead, *own))
        return (*found, *(() for _ in self.rest(args)))


class ArrayFamily:
    """What a family inherits whose function takes arrays, maybe plain values, and returns one array.

    Parameters
    ----------
    inputs : ArrayInputs
    """

    def __init__(self, inputs: ArrayInputs) -> None:
        self.inputs = inputs
        self.argument_names = inputs.names

    def expected(self, args: tuple[Argument, ...]) -> Expected:
        """Return the reference's result."""
        return self.inputs.expected(args)

    def sound(self, args: tuple[Argument, ...]) -> bool:
        """Return whether the sizes fit."""
        return self.inputs.fits(args)

    def axes(self, args: tuple[Argument, ...]) -> tuple[tuple[str, ...], ...]:
        """Return the letters of every argument's axes."""
        return self.inputs.axes(args)


def single(*args: Argument) -> list[Argument]:
    """Return arrays in single precision, in records too; what is no array stays what it is."""
    return [_single(value) for value in args]


def _single(value: Argument) -> Argument:
    if isinstance(value, Mapping):
        return {name: array.astype(np.float32) for name, array in value.items()}
    return value.astype(np.float32) if isinstance(value, np.ndarray) else value


def add_ordinary(plan: PlanBuilder, drawn: Sequence[Arguments]) -> list[int]:
    """Add hidden cases whose shape and values are judged, and that arguments stay as they are."""
    found = [plan.case(f"hidden-{place}", *arrays) for place, arrays in enumerate(drawn)]
    for name in ("shape", "values"):
        plan.judge_each(name, found)
    return found


def add_public(plan: PlanBuilder, cases: Mapping[str, Arguments]) -> list[int]:
    """Add public cases, the one first that says whether the function runs at all."""
    found = [plan.case(name, *arrays, public=True) for name, arrays in cases.items()]
    plan.judge("runs", found[0])
    for name in ("shape", "values", "dtype"):
        plan.judge_each(name, found)
    return found


def add_contract(
    plan: PlanBuilder, public: Arguments, square: Arguments, hidden: Sequence[Arguments]
) -> None:
    """Add cases of precision and layout: dtype and values hold in all of them.

    Parameters
    ----------
    plan : PlanBuilder
    public : sequence of Argument
        Arguments that students may see.
    square : sequence of Argument
        Arguments of equal sizes, so that a transposed matrix gives a value and no error.
    hidden : sequence of sequence of Argument
        More arguments, at least two times.
    """
    members = [
        plan.case("public-single", *single(*public), aspect="precision", public=True),
        plan.case("square-single", *single(*square), aspect="precision"),
        *(
            plan.case(f"hidden-single-{place}", *single(*arrays), aspect="precision")
            for place, arrays in enumerate(hidden)
        ),
    ]
    # double precision must be kept as well: a new tensor of torch's is float32 unless it gets a dtype
    plan.judge_each("dtype", [*members, plan.case("public-double", *public, public=True)])
    plan.judge_each("precision", members)
    layouts = [
        plan.case("strided", *hidden[0], aspect="layout", layout="strided"),
        plan.case("read-only", *hidden[1], aspect="layout", layout="read-only"),
        plan.case("public-read-only", *public, aspect="layout", layout="read-only", public=True),
    ]
    plan.judge_each("layout", layouts)


def add_gradients(
    plan: PlanBuilder,
    inputs: ArrayInputs,
    public: Arguments,
    hidden: Sequence[Arguments],
    values: Values,
) -> None:
    """Add cases whose gradients are judged, where torch can give them."""
    for place, arrays in enumerate([public, *hidden]):
        shape = inputs.expected(tuple(arrays)).values.shape
        cotangent = values.distinct(4, shape)
        plan.gradient_case(
            "gradient" if place == 0 else f"gradient-{place}",
            *arrays,
            cotangents=(cotangent,),
            gradients=inputs.gradients(tuple(arrays), cotangent),
            public=place == 0,
        )


def add_refusals(
    plan: PlanBuilder, cases: Mapping[str, Arguments], letters: Sequence[str] = (), fitting: Arguments = ()
) -> None:
    """Add public inputs whose sizes don't fit: these, and every axis of `fitting` with another size.

    ``letters`` name the axes of the arrays of `fitting`, those of records too.
    """
    for name, arrays in {**cases, **misfits(letters, fitting)}.items():
        plan.judge("refuses", plan.case(name, *arrays, aspect="refused", public=True))
