"""Drawn decimal strings, float64 tensors and the model's arrays, and the ways between them.

A *value* of an expression is a float64 or boolean tensor, an ``int``, ``float``, ``bool`` or
``str``, or a tuple of ``int`` or ``str`` (a sequence of tokens).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeGuard

from engine.errors import UndefinedValueError
from engine.model import Array, Drawn

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["array_of", "as_float", "as_tensor", "away_from_jump", "is_tensor", "names_of", "value_of"]


_NEAR_JUMP = 1e-9


def is_tensor(value: object) -> TypeGuard[Tensor]:
    """Tell whether `value` is a tensor, without importing torch for words and numbers."""
    name = type(value).__name__
    return (name == "Tensor" or name == "Parameter") and hasattr(value, "numel")


def as_tensor(value: Any) -> Tensor:
    """Return a float64 tensor of a number, a nested list of numbers, or a tensor.

    Raises
    ------
    TypeError
        `value` is a word or holds one, or its rows differ in length.
    """
    import torch

    if isinstance(value, torch.Tensor):
        return value.to(torch.float64) if value.dtype != torch.float64 else value
    if isinstance(value, str):
        raise TypeError(f"expected numbers, got the word {value[:40]!r}")
    try:
        return torch.tensor(_floats(value), dtype=torch.float64)
    except (ValueError, TypeError, OverflowError) as error:
        raise TypeError(f"expected numbers in rows of one length: {error}") from None


def _floats(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_floats(entry) for entry in value]
    if isinstance(value, str):
        raise TypeError(f"got the word {value[:40]!r}")
    return float(value)


def away_from_jump(name: str, distance: Any, at: Any) -> None:
    """Refuse numbers so near to a jump that a rounding error of a float decides on which side they lie.

    ``log(1000) / log(10)`` is 2.9999999999999996, of which ``floor`` would make 2.

    Parameters
    ----------
    name : str
        The function or comparison that jumps.
    distance : Tensor, float or int
        How far each number lies from its nearest jump; exactly 0 is no doubt.
    at : Tensor, float or int
        The numbers themselves, for their size.

    Raises
    ------
    engine.errors.UndefinedValueError
        Some number lies within 1e-9 of a jump, relative to its size, but not on it.
    """
    if not is_tensor(distance):
        doubtful = 0 < abs(distance) <= _NEAR_JUMP * max(1.0, abs(at))
    else:
        far = distance.abs()
        bound = abs(at).clamp(min=1.0) if is_tensor(at) else max(1.0, abs(at))
        doubtful = bool(((far > 0) & (far <= _NEAR_JUMP * bound)).any())
    if doubtful:
        raise UndefinedValueError(
            f"{name} is taken so near to a jump that a rounding error decides",
            expected=f"{name} stays away from its jumps, by more than 1e-9 of the value",
            next_step="round the argument first, or compute it in whole numbers",
        )


def as_float(value: Any) -> float:
    """Return one number as a float.

    Raises
    ------
    TypeError
        `value` isn't a number or a tensor of one entry.
    """
    if is_tensor(value):
        if value.numel() != 1:
            raise TypeError(f"expected one number, got shape {tuple(value.shape)}")
        return float(value.detach())
    if isinstance(value, int | float | Decimal):
        return float(value)
    raise TypeError(f"expected one number, got {type(value).__name__}")


def value_of(drawn: Drawn) -> Any:
    """Return a drawn parameter as a value: word, int, float or float64 tensor."""
    if drawn.text:
        return drawn.entries[0] if drawn.shape == () else drawn.entries
    if drawn.shape == ():
        entry = drawn.entries[0]
        return int(entry) if entry.lstrip("-").isdigit() else float(entry)
    import torch

    return torch.tensor([float(entry) for entry in drawn.entries], dtype=torch.float64).reshape(drawn.shape)


def names_of(values: Mapping[str, Drawn]) -> dict[str, Any]:
    """Return every drawn parameter as a value, by name."""
    return {name: value_of(drawn) for name, drawn in values.items()}


def array_of(value: Any) -> Array:
    """Return numbers as an :class:`engine.model.Array`.

    Raises
    ------
    TypeError
        `value` isn't numeric.
    ValueError
        An entry is infinite or not a number.
    """
    if isinstance(value, bool | int | float):
        array = Array((), (float(value),))
    elif is_tensor(value):
        flat = value if value.ndim == 1 else value.flatten()
        array = Array(tuple(value.shape), tuple(map(float, flat.tolist())))
    else:
        tensor = as_tensor(value)
        array = Array(tuple(tensor.shape), tuple(tensor.flatten().tolist()))
    if not all(map(math.isfinite, array.data)):
        raise ValueError("an entry is infinite or not a number")
    return array
