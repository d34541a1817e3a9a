"""What exercises share whose arguments are arrays alone: sizes that hang together by letters, usual cases.

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

from engine.code.building import PlanBuilder
from engine.code.case import Argument, Expected, Part
from engine.code.draws import Values
from engine.code.gradients import gradients_of
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


@dataclass(frozen=True, slots=True)
class ArrayInputs:
    """The arguments of one function and what the reference gives for them.

    Parameters
    ----------
    names : tuple of str
        Of the arguments.
    letters : tuple of str
        Axes of each argument, see the module.
    reference : str
        Name of the function in :mod:`reference`.
    size : callable
        Takes the arguments in float64; returns the largest sum of absolute products that a rounding
        passes through, how many products that sum has, and how many times its error counts in the result.
    """

    names: tuple[str, ...]
    letters: tuple[str, ...]
    reference: str
    size: Callable[[Arrays], tuple[float, int, float]]

    def read(self, args: Sequence[Argument]) -> list[NDArray[Any]]:
        """Return the arguments, which are arrays all of them."""
        found = [value for value in args if isinstance(value, np.ndarray)]
        assert len(found) == len(args)
        return found

    def expected(self, args: tuple[Argument, ...]) -> Expected:
        """Return the reference's result, computed in float64."""
        dtype = self.read(args)[0].dtype.name
        values = self._reference(*(array.astype(np.float64) for array in self.read(args)))
        relative, slack = self._tolerance(args)
        return Expected.array(np.asarray(values.detach().numpy()), dtype, relative, slack)

    def gradients(self, args: tuple[Argument, ...], cotangent: Floats) -> list[Part]:
        """Return the gradients of the sum of result times cotangent with respect to every argument."""
        relative, slack = self._tolerance(args)
        return [
            Part(found, "float64", relative, slack * max(1.0, float(np.abs(found).max())))
            for found in gradients_of(self._reference, self.read(args), cotangent)
        ]

    def _reference(self, *arrays: Any) -> Any:
        import reference

        return getattr(reference, self.reference)(*arrays)

    def _tolerance(self, args: tuple[Argument, ...]) -> tuple[float, float]:
        arrays = [array.astype(np.float64) for array in self.read(args)]
        largest, terms, times = self.size(arrays)
        dtype = self.read(args)[0].dtype.name
        relative = relative_tolerance(dtype, keys=1, score=largest, terms=terms)
        return relative, relative * max(times, 1.0)

    def fits(self, args: tuple[Argument, ...]) -> bool:
        """Return whether the axes agree, no array is empty and all have one dtype."""
        sizes: dict[str, int] = {}
        if len(args) != len(self.letters):
            return False
        arrays = [value for value in args if isinstance(value, np.ndarray)]
        if len(arrays) != len(args) or len({array.dtype for array in arrays}) > 1:
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
        found = []
        for letters, array in zip(self.letters, self.read(args), strict=True):
            own = letters.removeprefix(".")
            lead = (f"batch {place}" for place in range(array.ndim - len(own)))
            found.append((*lead, *own))
        return tuple(found)


class ArrayFamily:
    """What a family inherits whose function takes arrays alone and returns one array.

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


def single(*arrays: Floats) -> list[NDArray[np.float32]]:
    """Return arrays in single precision; multiples of 1/8 stay what they are."""
    return [array.astype(np.float32) for array in arrays]


def add_ordinary(plan: PlanBuilder, drawn: Sequence[Arrays]) -> list[int]:
    """Add hidden cases whose shape and values are judged, and that arguments stay as they are."""
    found = [plan.case(f"hidden-{place}", *arrays) for place, arrays in enumerate(drawn)]
    for name in ("shape", "values"):
        plan.judge_each(name, found)
    plan.arguments_return(*found)
    return found


def add_public(plan: PlanBuilder, cases: Mapping[str, Arrays]) -> list[int]:
    """Add public cases, the one first that says whether the function runs at all."""
    found = [plan.case(name, *arrays, public=True) for name, arrays in cases.items()]
    plan.judge("runs", found[0])
    for name in ("shape", "values", "dtype"):
        plan.judge_each(name, found)
    plan.arguments_return(*found)
    return found


def add_contract(plan: PlanBuilder, public: Arrays, square: Arrays, hidden: Sequence[Arrays]) -> None:
    """Add cases of precision and layout: dtype and values hold in all of them.

    Parameters
    ----------
    plan : PlanBuilder
    public : sequence of ndarray
        Arguments that students may see.
    square : sequence of ndarray
        Arguments of equal sizes, so that a transposed matrix gives a value and no error.
    hidden : sequence of sequence of ndarray
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
    plan.judge_each("dtype", members)
    plan.judge_each("values", members, cases="precision")
    layouts = [
        plan.case("strided", *hidden[0], aspect="layout", layout="strided"),
        plan.case("read-only", *hidden[1], aspect="layout", layout="read-only"),
        plan.case("public-read-only", *public, aspect="layout", layout="read-only", public=True),
    ]
    plan.judge_each("layout", layouts)


def add_gradients(
    plan: PlanBuilder, inputs: ArrayInputs, public: Arrays, hidden: Sequence[Arrays], values: Values
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


def add_refusals(plan: PlanBuilder, cases: Mapping[str, Arrays]) -> None:
    """Add public inputs whose sizes don't fit."""
    for name, arrays in cases.items():
        plan.judge("refuses", plan.case(name, *arrays, aspect="refused", public=True))
