"""Masks: which key may be seen from which query."""

from __future__ import annotations

import torch
from torch import Tensor

from reference.shapes import whole

__all__ = ["causal_mask"]


def causal_mask(n: int, device: torch.device | str | None = None) -> Tensor:
    """Return the mask under which a token sees itself and what came before it.

    Parameters
    ----------
    n : int
        Number of tokens, 0 or more; none have an empty mask of the shape (0, 0).
    device : torch.device or str, optional
        Where the mask shall live.

    Returns
    -------
    Tensor of bool, (n, n)
        Queries along the rows, keys along the columns; True = may attend. Lower triangular,
        diagonal included.

    Raises
    ------
    ArgumentError
        If ``n`` isn't a whole number of at least 0.

    Notes
    -----
    Background; no lecture prints it.
    """
    n = whole("n", n)
    position = torch.arange(n, device=device)
    return position <= position.unsqueeze(-1)
