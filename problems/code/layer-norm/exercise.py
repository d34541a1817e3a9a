"""``layer_norm(x, gamma, beta, eps=1e-5)``: ordinary rows, rows far from 0, and rows of equal entries."""

import numpy as np
from hypothesis import strategies as st

from engine.exercises import Exercise, array, numbers, optional, relation, shift_invariant


def spread_rows(values, shape):
    # entries of a row lie at least 1 apart: where they come together, gradients grow without bound
    ranks = values.integers(0, 2**40, shape).argsort(axis=-1)
    return ranks + values.eighths(1, shape) / 4


def normalised(call):
    """Return the result without scale and shift."""
    return call.again(gamma=np.ones_like(call.gamma), beta=np.zeros_like(call.beta))


@relation("If gamma is 1 and beta is 0, every row must have the mean 0.")
def mean_of_rows(call):
    return call.close(normalised(call).mean(axis=-1), 0)


@relation("If gamma is 1 and beta is 0, the mean of a row's squares must be its variance over that plus eps.")
def variance_of_rows(call):
    variance = call.x.var(axis=-1)
    return call.close((normalised(call) ** 2).mean(axis=-1), variance / (variance + call.eps), factor=4)


@relation("If gamma is 1 and beta is 0, a larger entry of a row must give a larger result.")
def order_of_entries(call):
    order = call.x.argsort(axis=-1)
    return bool(np.all(np.diff(np.take_along_axis(normalised(call), order, -1), axis=-1) > -call.slack))


@relation("Doubling x and taking four times eps must not change the result.")
def doubled(call):
    narrow = call.x / 16  # beside the variance of a wide row no eps would show
    return call.close(call.again(x=2 * narrow, eps=4 * call.eps), call.again(x=narrow))


@relation("Adding 0.1 to beta must add 0.1 to the result.")
def raised(call):
    return call.close(call.again(beta=call.beta + 0.1), call.result + 0.1)


@relation("Making gamma a tenth larger must take the result a tenth farther from beta.")
def stretched(call):
    return call.close(call.again(gamma=1.1 * call.gamma) - call.beta, 1.1 * (call.result - call.beta))


@relation("A row of equal entries must give beta.")
def equal_entries(call):
    return call.close(call.again(x=np.full_like(call.x, 0.75)), call.beta)


@relation("A row must give the same alone as among others.")
def rows_alone(call):
    return call.close(call.again(x=call.x[..., :1, :]), call.result[..., :1, :])


@relation("Reordering the entries of x, gamma and beta together must reorder those of the result.")
def entries_moved(call):
    moved = {name: np.roll(call.arguments[name], 1, axis=-1) for name in ("x", "gamma", "beta")}
    return call.close(call.again(**moved), np.roll(call.result, 1, axis=-1))


def far(inputs):
    # squares of so many digits are rounded, while sums and differences of the entries are exact
    return {"x": (1 + 2.0**-8) * inputs["x"] + 2.0**20}


exercise = Exercise(
    {
        "x": array("... m d", spread_rows),
        "gamma": array("d", numbers(3)),
        "beta": array("d", numbers(3)),
        "eps": optional(st.sampled_from([1e-3, 0.25, 2.0]), default=1e-5),
    },
    relations=[
        mean_of_rows,
        variance_of_rows,
        variance_of_rows.on("far"),
        order_of_entries,
        shift_invariant("x"),
        doubled,
        raised,
        stretched,
        equal_entries,
        rows_alone,
        entries_moved,
    ],
    variations={"far": far},
    size_one=["m", "d"],
    refuses={"gamma-as-row": lambda inputs: {"gamma": inputs["gamma"][None].copy()}},
)
