"""Arguments into arrays of one library, and shapes into axis names.

Every public function of the reference begins with these two lines::

    q, K = floating(q=q, K=K)
    bind(("q", q, ("d",)), ("K", K, ("n", "d")))

They are on the path of every drawn variant, so both return early in the usual case.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from reference.errors import ArgumentError, DeviceError, DtypeError, ShapeError

__all__ = [
    "Array",
    "ArrayLike",
    "bind",
    "boolean",
    "fit_mask",
    "flag",
    "floating",
    "is_abstract",
    "is_array",
    "join",
    "matvec",
    "namespace",
    "normal_axis",
    "number",
    "sum_to",
    "whole",
]

# An array of numpy or torch, or of another library of the array API standard: no type says that yet.
Array: TypeAlias = Any
ArrayLike: TypeAlias = Any  # that, a nested list of numbers, or a number

_NUMPY_FLOATING = frozenset(map(np.dtype, ("float16", "float32", "float64")))  # in native byte order
_FLOATING = frozenset({"float16", "bfloat16", "float32", "float64"})
_INTEGER = frozenset({"uint8", "int8", "int16", "int32", "int64"})
_MOST_EXACT = 2**53  # float64 holds every whole number up to here, and not the next one

Axes: TypeAlias = tuple[str, ...]


def namespace(array: Array) -> Any:
    """Return the functions of an array's library by their names in the array API standard."""
    if isinstance(array, np.ndarray):
        return np  # its own names are the standard's since numpy 2
    if hasattr(array, "__array_namespace__"):
        return array.__array_namespace__()
    from array_api_compat import array_namespace  # torch's names differ

    return array_namespace(array)


def is_array(value: object) -> bool:
    """Return whether a value is an array; numpy's scalars are numbers."""
    if isinstance(value, np.ndarray):
        return True
    return _is_tensor(value) or (hasattr(value, "__array_namespace__") and not isinstance(value, np.generic))


def _is_tensor(value: object) -> bool:
    torch = sys.modules.get("torch")  # who has a tensor has imported it
    return torch is not None and isinstance(value, torch.Tensor)


def is_abstract(array: Array) -> bool:
    """Return whether an array has a shape only, and no numbers (torch's meta device)."""
    return bool(getattr(array, "is_meta", False))


def _name_of(dtype: Any) -> str:
    return str(dtype).removeprefix("torch.")


def floating(**arguments: ArrayLike) -> tuple[Array, ...]:
    """Return the arguments as arrays of one library, of one floating dtype, on one device.

    Numpy's arrays stay numpy's, and so become lists and numbers; beside an array of another library all
    become arrays of that one, on its device. The floating arguments decide the dtype (the wider one where
    they differ); integers alone become float64, and so do numbers and lists.

    Parameters
    ----------
    **arguments : array_like
        Arrays, nested lists or numbers, by name.

    Returns
    -------
    tuple of array
        In the order of the arguments. An array that fits is returned as it is, not copied.

    Raises
    ------
    DtypeError
        For anything but real numbers, and for whole numbers beyond 2**53, which float64 doesn't hold exactly.
    DeviceError
        If two tensors live on different devices.
    """
    values = tuple(arguments.values())
    first = values[0]
    if isinstance(first, np.ndarray) and first.dtype in _NUMPY_FLOATING:
        for value in values:
            if not isinstance(value, np.ndarray) or value.dtype != first.dtype:
                break
        else:
            return values
    return _converted(arguments)


def _converted(arguments: dict[str, ArrayLike]) -> tuple[Array, ...]:
    like = _common_library(arguments)
    arrays = [_array(name, value, like) for name, value in arguments.items()]
    xp = np if like is None else namespace(like)
    dtypes = [array.dtype for array in arrays if _name_of(array.dtype) in _FLOATING]
    dtype = xp.result_type(*dtypes) if dtypes else xp.float64
    return tuple(array if array.dtype == dtype else xp.astype(array, dtype) for array in arrays)


def _common_library(arguments: dict[str, ArrayLike]) -> Array | None:
    """Return the first array that isn't numpy's, if the others of its kind are on its device."""
    first: tuple[str, Array] | None = None
    for name, value in arguments.items():
        if not isinstance(value, np.ndarray) and is_array(value):
            if first is not None and value.device != first[1].device:
                raise DeviceError(f"{name} is on {value.device}, but {first[0]} is on {first[1].device}")
            first = first or (name, value)
    return first[1] if first else None


def _array(name: str, value: ArrayLike, like: Array | None) -> Array:
    if not isinstance(value, np.ndarray) and is_array(value):
        kind = _name_of(value.dtype)
        if kind not in _FLOATING and kind not in _INTEGER:
            raise DtypeError(f"{name} has dtype {value.dtype}, expected real numbers")
        if kind == "int64" and 0 not in value.shape and not is_abstract(value):
            _check_exact(name, int(value.min()), int(value.max()))
        return value
    try:
        array = np.asarray(value)
    except (ValueError, TypeError) as error:  # ragged lists
        raise DtypeError(f"{name} is no rectangular array of numbers") from error
    if array.dtype.kind not in "fiu" or array.dtype.itemsize > 8:
        raise DtypeError(f"{name} has dtype {array.dtype}, expected real numbers of at most 64 bits")
    if array.dtype.kind != "f":
        if array.dtype.itemsize == 8 and array.size:
            _check_exact(name, int(array.min()), int(array.max()))
        if not isinstance(value, np.ndarray) or array.dtype.name not in _INTEGER:
            array = array.astype(np.float64)
    array = array.astype(array.dtype.newbyteorder("="), copy=False)
    # a copy for the other library, which shares no memory with read-only or reversed arrays
    return array if like is None else namespace(like).asarray(array.copy(), device=like.device)


def _check_exact(name: str, least: int, most: int) -> None:
    if least < -_MOST_EXACT or most > _MOST_EXACT:
        far = most if most > _MOST_EXACT else least
        raise DtypeError(
            f"{name} holds {far}, expected whole numbers of at most 2**53, which float64 holds exactly"
        )


def boolean(name: str, value: ArrayLike, like: Array) -> Array:
    """Return a mask as a boolean array of ``like``'s library, on its device.

    Raises
    ------
    DtypeError
        If it isn't boolean: an additive mask of 0 and -inf, or of 0 and 1, would mean something else.
    DeviceError
        If it is a tensor on another device.
    """
    mask = value if is_array(value) else np.asarray(value)
    if _name_of(mask.dtype) != "bool":
        raise DtypeError(f"{name} has dtype {mask.dtype}, expected bool with True = may attend")
    xp = namespace(like)
    if namespace(mask) is not xp:
        return xp.asarray(np.array(mask), device=like.device)
    if mask.device != like.device:
        raise DeviceError(f"{name} is on {mask.device}, but the scores are on {like.device}")
    return mask


def fit_mask(mask: Array, shape: Sequence[int]) -> None:
    """Check that a mask belongs to scores of this shape, keys along the last axis.

    The last axis is never broadcast: one entry for all keys would hide or show a whole row by a mistake.

    Raises
    ------
    ShapeError
        Names the shape of the scores.
    """
    fits = 1 <= mask.ndim <= len(shape) and mask.shape[-1] == shape[-1]
    if not fits or any(m not in (1, s) for m, s in zip(reversed(mask.shape), reversed(shape), strict=False)):
        expected = f"{tuple(shape)} or one that broadcasts to it, with last axis {shape[-1]}"
        raise ShapeError("mask", mask.shape, expected)


def bind(*arguments: tuple[str, Array, Axes]) -> dict[str, int]:
    """Check last axes by name and leading axes by position; return the sizes by name.

    An axis name stands for one size wherever it occurs, and that size is at least 1. The axes in
    front of the named ones are batch axes: each argument has none, or as many as the others, each of
    them equal or 1. So a missing axis is an error and never a silent broadcast.

    Parameters
    ----------
    *arguments : (str, Array, tuple of str)
        Name, value, and names of the last axes.

    Raises
    ------
    ShapeError
        Names the argument, its shape, and what was expected.
    """
    sizes: dict[str, int] = {}
    lead: tuple[int, ...] | None = None
    for argument in arguments:
        _, value, axes = argument
        shape = value.shape
        split = len(shape) - len(axes)
        if split < 0:
            raise _misfit(argument, sizes)
        for axis, size in zip(axes, shape[split:], strict=True):
            if not size or sizes.setdefault(axis, size) != size:
                raise _misfit(argument, sizes)
        if split:
            batch = tuple(shape[:split])
            if lead is not None and batch != lead:
                batch = _merged(argument, batch, lead)
            lead = batch
    return sizes


def _merged(
    argument: tuple[str, Array, Axes], batch: tuple[int, ...], lead: tuple[int, ...]
) -> tuple[int, ...]:
    fits = len(batch) == len(lead) and all(a == b or 1 in (a, b) for a, b in zip(batch, lead, strict=True))
    if not fits:
        name, value, axes = argument
        expected = f"({', '.join([*map(str, lead), *axes])}) or ({', '.join(axes)})"
        raise ShapeError(name, value.shape, expected, "leading axes must agree in number and size")
    return tuple(b if a == 1 else a for a, b in zip(batch, lead, strict=True))


def _misfit(argument: tuple[str, Array, Axes], sizes: dict[str, int]) -> ShapeError:
    name, value, axes = argument
    short = value.ndim < len(axes)
    have = axes if short else value.shape[value.ndim - len(axes) :]
    wrong = {a: sizes[a] for a, size in zip(axes, have, strict=True) if size != sizes.get(a, size)}
    known = ", ".join(f"{axis} = {size}" for axis, size in wrong.items())
    empty = " with no axis of size 0" if not short and 0 in have else ""
    expected = f"(..., {', '.join(axes)})" + (f" with {known}" if known else empty)
    return ShapeError(name, value.shape, expected)


def normal_axis(argument: str, value: Array, axis: int) -> int:
    """Return ``axis`` if ``value`` has it and it isn't empty.

    Raises
    ------
    ArgumentError
        If it isn't a whole number: None, which elsewhere means all axes, or 1.0.
    ShapeError
        If there is no such axis, or nothing along it.
    """
    if isinstance(axis, bool) or not isinstance(axis, (int, np.integer)):
        raise ArgumentError(f"axis is {axis!r}, expected a whole number such as -1")
    axis = int(axis)
    if not -value.ndim <= axis < value.ndim:
        raise ShapeError(argument, value.shape, f"an axis {axis}")
    if not value.shape[axis]:
        raise ShapeError(argument, value.shape, f"at least one entry along axis {axis}")
    return axis


def whole(name: str, value: Any, least: int = 0) -> int:
    """Return a whole number of at least ``least``.

    Raises
    ------
    ArgumentError
        If it isn't a whole number (booleans are none) or too small.
    """
    is_whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if isinstance(value, float):
        is_whole = value.is_integer()
    if not is_whole or value < least:
        raise ArgumentError(f"{name} is {value!r}, expected a whole number of at least {least}")
    return int(value)


def number(name: str, value: Any) -> float:
    """Return a real number as float; it may be an array that holds one number.

    Raises
    ------
    ArgumentError
        If it is anything else: a boolean, a text, a list.
    """
    if is_array(value) and value.ndim == 0:
        value = value.item()
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise ArgumentError(f"{name} is {value!r}, expected a number")
    return float(value)


def flag(name: str, value: Any) -> bool:
    """Return a choice between yes and no; ``"no"`` and 0 are neither.

    Raises
    ------
    ArgumentError
        If it is no boolean.
    """
    if not isinstance(value, (bool, np.bool_)):
        raise ArgumentError(f"{name} is {value!r}, expected True or False")
    return bool(value)


def matvec(W: Array, x: Array) -> Array:
    """Return W x; ``W (..., r, c)``, ``x (..., c)`` -> ``(..., r)``."""
    if W.ndim == 2:
        return x @ W.mT
    return (W @ x[..., None])[..., 0]


def join(*vectors: Array) -> Array:
    """Concatenate vectors along their last axis, leading axes broadcast."""
    xp, lead = namespace(vectors[0]), vectors[0].shape[:-1]
    if all(vector.shape[:-1] == lead for vector in vectors):
        return xp.concat(vectors, axis=-1)
    lead = np.broadcast_shapes(*(vector.shape[:-1] for vector in vectors))
    return xp.concat([xp.broadcast_to(v, (*lead, v.shape[-1])) for v in vectors], axis=-1)


def sum_to(array: Array, shape: Sequence[int]) -> Array:
    """Return an array summed over the axes along which one of this shape was broadcast to it."""
    more = array.ndim - len(shape)
    axes = [axis for axis in range(array.ndim) if axis < more or array.shape[axis] != shape[axis - more]]
    if not axes:
        return array
    xp = namespace(array)
    return xp.reshape(xp.sum(array, axis=tuple(axes), keepdims=True), tuple(shape))
