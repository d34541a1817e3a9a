"""Recurrent cells of the plain (Elman) kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias

from reference.errors import ArgumentError
from reference.shapes import Array, ArrayLike, bind, floating, matvec, namespace

__all__ = ["Activation", "logistic", "rnn_forward", "rnn_step"]

Activation: TypeAlias = Literal["logistic", "tanh"]


def rnn_step(
    x: ArrayLike, h: ArrayLike, W: ArrayLike, U: ArrayLike, activation: Activation = "logistic"
) -> Array:
    """Return the next state f(W h + U x).

    Parameters
    ----------
    x : array_like, (..., dx)
        Input of this step.
    h : array_like, (..., dh)
        State before it.
    W : array_like, (..., dh, dh)
        Recurrent matrix.
    U : array_like, (..., dh, dx)
        Input matrix.
    activation : {"logistic", "tanh"}
        f; the logistic function 1 / (1 + exp(-z)) is what S3 calls sigma.

    Returns
    -------
    array, (..., dh)

    Raises
    ------
    ShapeError
        For shapes that don't fit.
    ArgumentError
        For another activation.

    Notes
    -----
    S3 (5), its first use; with tanh also S0 (7).
    """
    x, h, W, U = floating(x=x, h=h, W=W, U=U)
    bind(("x", x, ("dx",)), ("h", h, ("dh",)), ("W", W, ("dh", "dh")), ("U", U, ("dh", "dx")))
    return _activation(activation)(matvec(W, h) + matvec(U, x))


def rnn_forward(
    X: ArrayLike, W: ArrayLike, U: ArrayLike, h0: ArrayLike, activation: Activation = "logistic"
) -> Array:
    """Return the states h_1 … h_T of a whole sequence; h_t waits for h_(t-1).

    Parameters
    ----------
    X : array_like, (..., T, dx)
    W : array_like, (..., dh, dh)
    U : array_like, (..., dh, dx)
    h0 : array_like, (..., dh)
        State before the first input; not among the results.
    activation : {"logistic", "tanh"}

    Returns
    -------
    array, (..., T, dh)

    Raises
    ------
    ShapeError
        For shapes that don't fit.
    ArgumentError
        For another activation.
    """
    X, W, U, h0 = floating(X=X, W=W, U=U, h0=h0)
    bind(("X", X, ("T", "dx")), ("h0", h0, ("dh",)), ("W", W, ("dh", "dh")), ("U", U, ("dh", "dx")))
    function = _activation(activation)
    states, h = [], h0
    for t in range(X.shape[-2]):
        h = function(matvec(W, h) + matvec(U, X[..., t, :]))
        states.append(h)
    return namespace(X).stack(states, axis=-2)


def logistic(z: Array) -> Array:
    """Return 1 / (1 + exp(-z)) of every entry."""
    xp = namespace(z)
    # the softmax of z and 0, of which the larger is subtracted: exp(-z) alone could overflow
    peak = xp.maximum(z, xp.zeros_like(z))
    power = xp.exp(z - peak)
    return power / (power + xp.exp(-peak))


def _tanh(z: Array) -> Array:
    return namespace(z).tanh(z)


_ACTIVATIONS: Mapping[str, Callable[[Array], Array]] = {"logistic": logistic, "tanh": _tanh}


def _activation(name: str) -> Callable[[Array], Array]:
    if name not in _ACTIVATIONS:
        raise ArgumentError(f"activation is {name!r}, expected one of {', '.join(_ACTIVATIONS)}")
    return _ACTIVATIONS[name]
