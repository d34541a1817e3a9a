"""Attention within one sequence: queries, keys and values are projections of the same tokens."""

from __future__ import annotations

from reference.attending import scale_divisor, sdpa
from reference.errors import ArgumentError, ShapeError
from reference.masks import causal_mask
from reference.shapes import Array, ArrayLike, bind, boolean, fit_mask, flag, floating, namespace, whole

__all__ = ["multi_head", "self_attention"]


def self_attention(
    X: ArrayLike,
    Wq: ArrayLike | None = None,
    Wk: ArrayLike | None = None,
    Wv: ArrayLike | None = None,
    causal: bool = False,
    *,
    scale: float | str | None = "sqrt_dk",
) -> Array:
    """Return the self-attention of the tokens in the rows of X.

    Q = X Wq, K = X Wk, V = X Wv, then :func:`reference.sdpa`.

    Parameters
    ----------
    X : array_like, (..., n, d)
    Wq, Wk : array_like, (..., d, dk), optional
        Projections from the right; the identity if left out (F-20).
    Wv : array_like, (..., d, dv), optional
    causal : bool
        Hide from each token what comes after it.
    scale : "sqrt_dk", None or float
        What the scores are divided by; dk is the number of columns of Wk.

    Returns
    -------
    array, (..., n, dv)

    Raises
    ------
    ShapeError
        If a projection doesn't have d rows, or Wq and Wk differ in columns.
    ArgumentError
        If ``causal`` is no boolean.

    Notes
    -----
    S2 section 4; S4 "scaled dot product". The causal mask is background.
    """
    given = {"X": X, "Wq": Wq, "Wk": Wk, "Wv": Wv}
    names = [name for name, value in given.items() if value is not None]
    arrays = floating(**{name: value for name, value in given.items() if value is not None})
    have = dict(zip(names, arrays, strict=True))
    tokens = have["X"]
    axes = {"X": ("n", "d"), "Wq": ("d", "dk"), "Wk": ("d", "dk"), "Wv": ("d", "dv")}
    sizes = bind(*((name, array, axes[name]) for name, array in have.items()))
    if ("Wq" in have) != ("Wk" in have) and sizes["dk"] != sizes["d"]:
        only = "Wq" if "Wq" in have else "Wk"
        note = "the other side isn't projected"
        raise ShapeError(only, have[only].shape, f"(..., {sizes['d']}, {sizes['d']})", note)
    Q, K, V = (tokens @ have[name] if name in have else tokens for name in ("Wq", "Wk", "Wv"))
    mask = causal_mask(sizes["n"], tokens) if flag("causal", causal) else None
    return sdpa(Q, K, V, mask, scale)


def multi_head(
    X: ArrayLike,
    Wq: ArrayLike,
    Wk: ArrayLike,
    Wv: ArrayLike,
    Wo: ArrayLike,
    h: int,
    mask: ArrayLike | None = None,
    *,
    scale: float | str | None = "sqrt_dk",
) -> Array:
    """Return multi-head self-attention: h heads side by side, joined by Wo.

    Heads are consecutive blocks of columns of Wq, Wk and Wv; the joined heads are multiplied by Wo
    from the right.

    Parameters
    ----------
    X : array_like, (..., n, d)
    Wq, Wk : array_like, (..., d, h * dk)
    Wv : array_like, (..., d, h * dv)
    Wo : array_like, (..., h * dv, d_out)
    h : int
        Number of heads; divides the columns of the projections.
    mask : array_like of bool, broadcastable to (..., n, n), optional
        True = may attend; the same for all heads.
    scale : "sqrt_dk", None or float
        What the scores are divided by; dk is the key size of *one* head.

    Returns
    -------
    array, (..., n, d_out)

    Raises
    ------
    ShapeError
        For shapes that don't fit.
    ArgumentError
        If h doesn't divide the columns.

    Notes
    -----
    S4 has the title only; the formula is background (Vaswani et al. 2017, section 3.2.2).
    """
    X, Wq, Wk, Wv, Wo = floating(X=X, Wq=Wq, Wk=Wk, Wv=Wv, Wo=Wo)
    sizes = bind(
        ("X", X, ("n", "d")), ("Wq", Wq, ("d", "h dk")), ("Wk", Wk, ("d", "h dk")),
        ("Wv", Wv, ("d", "h dv")), ("Wo", Wo, ("h dv", "d_out")),
    )  # fmt: skip
    h = whole("h", h, least=1)
    for name, axis in (("Wq and Wk", "h dk"), ("Wv", "h dv")):
        if sizes[axis] % h:
            raise ArgumentError(f"h is {h}, but {name} have {sizes[axis]} columns, which {h} doesn't divide")
    divisor = scale_divisor(scale, sizes["h dk"] // h)
    Q, K, V = (_split(X @ W, h) for W in (Wq, Wk, Wv))  # (..., h, n, columns / h)
    if mask is not None:
        mask = boolean("mask", mask, X)
        fit_mask(mask, (*Q.shape[:-3], sizes["n"], sizes["n"]))  # before it gets the axis of the heads
        mask = mask[..., None, :, :] if mask.ndim > 2 else mask  # (..., 1, n, n): the same for all heads
    return _merge(sdpa(Q, K, V, mask, divisor)) @ Wo


def _split(x: Array, h: int) -> Array:
    xp = namespace(x)
    blocks = xp.reshape(x, (*x.shape[:-1], h, x.shape[-1] // h))  # (..., n, h * c) -> (..., n, h, c)
    return xp.moveaxis(blocks, -2, -3)  # (..., h, n, c)


def _merge(x: Array) -> Array:
    xp = namespace(x)
    blocks = xp.moveaxis(x, -3, -2)  # (..., h, n, c) -> (..., n, h, c)
    return xp.reshape(blocks, (*blocks.shape[:-2], blocks.shape[-2] * blocks.shape[-1]))  # (..., n, h * c)
