"""What exercises share whose arguments are arrays, then plain values if any: sizes by letters, usual cases.

``letters`` such as ``("s", "nh", "as", "ah", "a")`` name the axes of every argument, one letter an axis;
equal letters have equal sizes. A dot in front stands for leading axes of any number. Capital letters are
sizes that a family checks itself, such as the sum of two others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from engine.code.arguments import Argument, flat, rebuilt
from engine.code.families.random_values import ExactValues
from engine.code.plan import ExpectedPart, ExpectedResult, PlanBuilder
from engine.code.tolerance import relative_tolerance

if TYPE_CHECKING:
    from torch import Tensor

__all__ = [
    "BLOCKS",
    "ArrayFamily",
    "ArrayInputs",
    "Floats",
    "add_contract",
    "add_gradients",
    "add_longer",
    "add_ordinary",
    "add_public",
    "add_refusals",
    "gradients_of",
    "longer",
    "misfits",
    "resized",
    "single",
]


# ----------------------------------------------------------------------------------------------------
# Right gradients: autograd through the reference, in float64.

Floats = NDArray[np.float64]


def gradients_of(
    function: Callable[..., Tensor], arrays: Sequence[Floats], cotangent: Floats
) -> list[Floats]:
    """Return the gradients of the sum of ``function(*arrays) * cotangent`` with respect to every array."""
    import torch

    leaves = [torch.from_numpy(array.astype(np.float64)).requires_grad_() for array in arrays]
    total = (function(*leaves) * torch.from_numpy(cotangent)).sum()
    return [np.asarray(found.numpy()) for found in torch.autograd.grad(total, leaves)]


# ----------------------------------------------------------------------------------------------------
# Inputs beyond the usual ones: sizes past the blocks that programs work in, and sizes that don't fit.
#
# Both go by the letters that name the axes of every argument, as :mod:`engine.code.families.array_family` has
# them.

# one more than usual block sizes: what is lost behind a block, or between two, is lost here
BLOCKS = (17, 33, 65)
_SEVERAL = 4
Sizes = TypeVar("Sizes", bound=tuple[int, ...])


def longer(sizes: Sizes, values: ExactValues, *, keep: Sequence[int] = ()) -> list[Sizes]:
    """Return the sizes with one of them after the other beyond all usual blocks, and all beyond some.

    Parameters
    ----------
    sizes : tuple of int
    values : ExactValues
        Draws which of the smaller blocks the last input goes beyond, in up to four of its axes.
    keep : sequence of int
        Positions that stay as they are.
    """
    free = [place for place in range(len(sizes)) if place not in keep]
    found = [_replaced(sizes, {place: BLOCKS[-1]}) for place in free]
    chosen = values.integers(0, 1, (len(free),))
    several = {place: BLOCKS[one] for place, one in list(zip(free, chosen, strict=True))[-_SEVERAL:]}
    found.append(_replaced(sizes, several))
    return found


def _replaced(sizes: Any, changed: dict[int, int]) -> Any:
    return tuple(changed.get(place, size) for place, size in enumerate(sizes))


def add_longer(
    plan: PlanBuilder,
    draw: Callable[[Any], Sequence[Argument]],
    sizes: Sequence[tuple[int, ...]],
    name: str = "longer",
    cases: str = "sizes",
) -> None:
    """Add hidden cases of these sizes, whose values are judged as ``values`` of these cases."""
    for place, one in enumerate(sizes):
        plan.judge("values", plan.case(f"{name}-{place}", *draw(one)), cases=cases)


def misfits(letters: Sequence[str], args: Sequence[Argument]) -> dict[str, tuple[Argument, ...]]:
    """Return arguments of which one axis doesn't fit the others, those that would be broadcast included.

    Parameters
    ----------
    letters : sequence of str
        Axes of every array, those of a record's too; equal letters have equal sizes.
    args : sequence of Argument
        Arguments that fit.
    """
    leaves = list(flat(args))
    shared = {letter for letter, count in Counter("".join(letters)).items() if count > 1}
    found: dict[str, tuple[Argument, ...]] = {}
    for place, own in enumerate(letters):
        array = leaves[place]
        assert isinstance(array, np.ndarray)
        for axis, letter in enumerate(own):
            if letter not in shared:
                continue
            for size in _other_sizes(array.shape[axis]):
                changed = [*leaves[:place], resized(array, axis, size), *leaves[place + 1 :]]
                found[f"{place}-{axis}-of-{size}"] = rebuilt(args, changed)
    return found


def _other_sizes(size: int) -> Iterator[int]:
    """Yield 1, which is broadcast to everything, and the neighbours of a size."""
    if size != 1:
        yield 1
    if size > 2:
        yield size - 1
    yield size + 1


def resized(array: NDArray[Any], axis: int, size: int) -> NDArray[Any]:
    """Return an array with another size of one axis; what is needed beyond its end is repeated."""
    return np.asarray(np.take(array, np.arange(size) % array.shape[axis], axis=axis))


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

    def expected(self, args: tuple[Argument, ...]) -> ExpectedResult:
        """Return the reference's result, computed in float64."""
        dtype = self.read(args)[0].dtype.name
        values = self._reference(*self._doubled(args))
        relative, slack = self._tolerance(args)
        return ExpectedResult.array(np.asarray(values.detach().numpy()), dtype, relative, slack)

    def gradients(self, args: tuple[Argument, ...], cotangent: Floats) -> list[ExpectedPart]:
        """Return the gradients of the sum of result times cotangent with respect to every argument."""
        relative, slack = self._tolerance(args)
        return [
            ExpectedPart(found, "float64", relative, slack * max(1.0, float(np.abs(found).max())))
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

    def expected(self, args: tuple[Argument, ...]) -> ExpectedResult:
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
    values: ExactValues,
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
