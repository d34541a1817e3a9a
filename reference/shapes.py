"""Arguments into tensors, and shapes into axis names.

Every public function of the reference begins with these two lines::

    q, K = floating(q=q, K=K)
    bind(("q", q, ("d",)), ("K", K, ("n", "d")))

They are on the path of every drawn variant, so both return early in the usual case.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import torch
from torch import Tensor

from reference.errors import ArgumentError, DeviceError, DtypeError, ShapeError

__all__ = [
    "ArrayLike",
    "bind",
    "boolean",
    "fit_mask",
    "flag",
    "floating",
    "join",
    "matvec",
    "normal_axis",
    "number",
    "whole",
]

ArrayLike: TypeAlias = Tensor | np.ndarray[Any, Any] | Sequence[Any] | float

_FLOATING = frozenset({torch.float16, torch.bfloat16, torch.float32, torch.float64})
_MOST_EXACT = 2**53  # float64 holds every whole number up to here, and not the next one
_INTEGER = frozenset({torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64})

Axes: TypeAlias = tuple[str, ...]


def floating(**arguments: ArrayLike) -> tuple[Tensor, ...]:
    """Return the arguments as tensors of one floating dtype on one device.

    The floating arguments decide the dtype (the wider one where they differ); integers alone
    become float64, and so do numbers and lists. What is no tensor goes to the tensors' device.

    Parameters
    ----------
    **arguments : array_like
        Tensors, numpy arrays, nested lists or numbers, by name.

    Returns
    -------
    tuple of Tensor
        In the order of the arguments. A tensor that fits is returned as it is, not copied.

    Raises
    ------
    DtypeError
        For anything but real numbers, and for whole numbers beyond 2**53, which float64 doesn't hold exactly.
    DeviceError
        If two tensors live on different devices.
    """
    values = tuple(arguments.values())
    first = values[0]
    if isinstance(first, Tensor):
        dtype, device = first.dtype, first.device
        if dtype in _FLOATING:
            for value in values:
                if not isinstance(value, Tensor) or value.dtype != dtype or value.device != device:
                    break
            else:
                return values  # type: ignore[return-value]
    return _converted(arguments)


def _converted(arguments: dict[str, ArrayLike]) -> tuple[Tensor, ...]:
    device = _common_device(arguments)
    tensors = [_tensor(name, value, device) for name, value in arguments.items()]
    dtype: torch.dtype | None = None
    for tensor in tensors:
        if tensor.dtype in _FLOATING:
            dtype = tensor.dtype if dtype is None else torch.promote_types(dtype, tensor.dtype)
    return tuple(tensor.to(dtype or torch.float64) for tensor in tensors)


def _common_device(arguments: dict[str, ArrayLike]) -> torch.device | None:
    found: tuple[str, torch.device] | None = None
    for name, value in arguments.items():
        if isinstance(value, Tensor):
            if found is not None and value.device != found[1]:
                raise DeviceError(f"{name} is on {value.device}, but {found[0]} is on {found[1]}")
            found = found or (name, value.device)
    return found[1] if found else None


def _tensor(name: str, value: ArrayLike, device: torch.device | None) -> Tensor:
    if isinstance(value, Tensor):
        if value.dtype not in _FLOATING and value.dtype not in _INTEGER:
            raise DtypeError(f"{name} has dtype {value.dtype}, expected real numbers")
        if value.dtype == torch.int64 and value.numel() and not value.is_meta:
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
        array = array.astype(np.float64)
    # astype with the native byte order also copies: torch refuses foreign order and negative strides
    return torch.from_numpy(array.astype(array.dtype.newbyteorder("="), order="C")).to(device)


def _check_exact(name: str, least: int, most: int) -> None:
    if least < -_MOST_EXACT or most > _MOST_EXACT:
        far = most if most > _MOST_EXACT else least
        raise DtypeError(
            f"{name} holds {far}, expected whole numbers of at most 2**53, which float64 holds exactly"
        )


def boolean(name: str, value: ArrayLike, like: Tensor) -> Tensor:
    """Return a mask as a bool tensor on ``like``'s device.

    Raises
    ------
    DtypeError
        If it isn't boolean: an additive mask of 0 and -inf, or of 0 and 1, would mean something else.
    DeviceError
        If it is a tensor on another device.
    """
    if not isinstance(value, Tensor):
        array = np.asarray(value)
        if array.dtype != np.bool_:
            raise DtypeError(f"{name} has dtype {array.dtype}, expected bool with True = may attend")
        return torch.tensor(array, device=like.device)
    if value.dtype != torch.bool:
        raise DtypeError(f"{name} has dtype {value.dtype}, expected bool with True = may attend")
    if value.device != like.device:
        raise DeviceError(f"{name} is on {value.device}, but the scores are on {like.device}")
    return value


def fit_mask(mask: Tensor, shape: Sequence[int]) -> None:
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


def bind(*arguments: tuple[str, Tensor, Axes]) -> dict[str, int]:
    """Check last axes by name and leading axes by position; return the sizes by name.

    An axis name stands for one size wherever it occurs, and that size is at least 1. The axes in
    front of the named ones are batch axes: each argument has none, or as many as the others, each of
    them equal or 1. So a missing axis is an error and never a silent broadcast.

    Parameters
    ----------
    *arguments : (str, Tensor, tuple of str)
        Name, value, and names of the last axes.

    Raises
    ------
    ShapeError
        Names the argument, its shape, and what was expected.
    """
    sizes: dict[str, int] = {}
    lead: torch.Size | None = None
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
            batch = shape[:split]
            if lead is not None and batch != lead:
                batch = _merged(argument, batch, lead)
            lead = batch
    return sizes


def _merged(argument: tuple[str, Tensor, Axes], batch: torch.Size, lead: torch.Size) -> torch.Size:
    fits = len(batch) == len(lead) and all(a == b or 1 in (a, b) for a, b in zip(batch, lead, strict=True))
    if not fits:
        name, value, axes = argument
        expected = f"({', '.join([*map(str, lead), *axes])}) or ({', '.join(axes)})"
        raise ShapeError(name, value.shape, expected, "leading axes must agree in number and size")
    return torch.Size(b if a == 1 else a for a, b in zip(batch, lead, strict=True))


def _misfit(argument: tuple[str, Tensor, Axes], sizes: dict[str, int]) -> ShapeError:
    name, value, axes = argument
    short = value.ndim < len(axes)
    have = axes if short else value.shape[value.ndim - len(axes) :]
    wrong = {a: sizes[a] for a, size in zip(axes, have, strict=True) if size != sizes.get(a, size)}
    known = ", ".join(f"{axis} = {size}" for axis, size in wrong.items())
    empty = " with no axis of size 0" if not short and 0 in have else ""
    expected = f"(..., {', '.join(axes)})" + (f" with {known}" if known else empty)
    return ShapeError(name, value.shape, expected)


def normal_axis(argument: str, value: Tensor, axis: int) -> int:
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
    """Return a real number as float; it may be a tensor or an array that holds one number.

    Raises
    ------
    ArgumentError
        If it is anything else: a boolean, a text, a list.
    """
    if isinstance(value, (Tensor, np.ndarray)) and value.ndim == 0:
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


def matvec(W: Tensor, x: Tensor) -> Tensor:
    """Return W x; ``W (..., r, c)``, ``x (..., c)`` -> ``(..., r)``."""
    if W.ndim == 2:
        return x @ W.mT
    return (W @ x.unsqueeze(-1)).squeeze(-1)


def join(*vectors: Tensor) -> Tensor:
    """Concatenate vectors along their last axis, leading axes broadcast."""
    lead = vectors[0].shape[:-1]
    if all(vector.shape[:-1] == lead for vector in vectors):
        return torch.cat(vectors, dim=-1)
    lead = torch.broadcast_shapes(*(v.shape[:-1] for v in vectors))  # type: ignore[no-untyped-call]
    return torch.cat([vector.expand(*lead, vector.shape[-1]) for vector in vectors], dim=-1)
