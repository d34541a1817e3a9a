"""Right gradients: autograd through the reference, in float64."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["gradients_of"]

Floats = NDArray[np.float64]


def gradients_of(
    function: Callable[..., Tensor], arrays: Sequence[Floats], cotangent: Floats
) -> list[Floats]:
    """Return the gradients of the sum of ``function(*arrays) * cotangent`` with respect to every array."""
    import torch

    leaves = [torch.from_numpy(array.astype(np.float64)).requires_grad_() for array in arrays]
    total = (function(*leaves) * torch.from_numpy(cotangent)).sum()
    return [np.asarray(found.numpy()) for found in torch.autograd.grad(total, leaves)]
