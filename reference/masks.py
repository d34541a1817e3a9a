"""Masks: which key may be seen from which query."""

from __future__ import annotations

import numpy as np

from reference.shapes import Array, namespace, whole

__all__ = ["causal_mask"]


def causal_mask(n: int, like: Array | None = None) -> Array:
    """Return the mask under which a token sees itself and what came before it.

    Parameters
    ----------
    n : int
        Number of tokens, 0 or more; none have an empty mask of the shape (0, 0).
    like : array, optional
        Whose library and device the mask gets; numpy's if left out.

    Returns
    -------
    array of bool, (n, n)
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
    position = np.arange(n) if like is None else namespace(like).arange(n, device=like.device)
    return position <= position[:, None]
