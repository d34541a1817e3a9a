"""``layer_norm_grad(x, gamma, G, eps=1e-5)``: (dx, dgamma, dbeta), for rows whose entries lie apart."""

import numpy as np
from hypothesis import strategies as st

from engine.exercises import Exercise, array, numbers, optional, relation


def spread_rows(values, shape):
    # where the entries of a row come together, its gradient grows without bound
    ranks = values.integers(0, 2**40, shape).argsort(axis=-1)
    return ranks + values.eighths(1, shape) / 4


def normalised(x, eps):
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + eps)


@relation("The rows of dx must sum to 0, because one number added to a row changes no output.")
def sums_of_dx(call):
    return call.close(call.result[0].sum(axis=-1), 0)


@relation("If eps is tiny, a row of x times that of dx must sum to 0: a longer row gives the same output.")
def along_the_row(call):
    dx, _, _ = call.again(eps=1e-12)
    return call.close((call.x * dx).sum(axis=-1), 0, factor=16)


@relation("dbeta must be the sum of the rows of G.")
def sum_of_rows(call):
    return call.close(call.result[2], call.G.sum(axis=tuple(range(call.G.ndim - 1))))


@relation("dgamma must be the sum over all rows of G times the normalised row.")
def gamma_of_rows(call):
    products = call.G * normalised(call.x, call.eps)
    return call.close(call.result[1], products.sum(axis=tuple(range(products.ndim - 1))))


@relation("Making gamma a tenth larger must do so with dx, and leave dgamma and dbeta as they are.")
def gamma_doubled(call):
    dx, dgamma, dbeta = call.again(gamma=1.1 * call.gamma)
    same = call.close(dgamma, call.result[1]) and call.close(dbeta, call.result[2])
    return call.close(dx, 1.1 * call.result[0]) and same


@relation("If gamma times G is one number in a whole row, dx must be 0: normalised rows always sum to 0.")
def equal_gradients(call):
    dx, _, _ = call.again(gamma=np.ones_like(call.gamma), G=np.full_like(call.G, 1.5))
    return call.close(dx, 0)


@relation(
    "If gamma is 1 and G the normalised row, dx must be eps times G, over (variance + eps) to the power 1.5."
)
def gradient_along_the_row(call):
    G = normalised(call.x, call.eps)
    dx, _, _ = call.again(gamma=np.ones_like(call.gamma), G=G)
    variance = call.x.var(axis=-1, keepdims=True)
    return call.close(dx, G * call.eps / (variance + call.eps) ** 1.5)


@relation("If G is 0, all gradients must be 0.")
def no_gradient(call):
    dx, dgamma, dbeta = call.again(G=np.zeros_like(call.G))
    return call.close(dx, 0) and call.close(dgamma, 0) and call.close(dbeta, 0)


@relation("Doubling x and taking four times eps must halve dx, and leave dgamma as it is.")
def doubled(call):
    dx, dgamma, _ = call.again(x=2 * call.x, eps=4 * call.eps)
    return call.close(2 * dx, call.result[0]) and call.close(dgamma, call.result[1])


exercise = Exercise(
    {
        "x": array("... m d", spread_rows),
        "gamma": array("d", numbers(3)),
        "G": array("... m d"),
        "eps": optional(st.sampled_from([1e-3, 0.25, 2.0]), default=1e-5),
    },
    returns=["dx", "dgamma", "dbeta"],
    relations=[
        sums_of_dx,
        along_the_row,
        sum_of_rows,
        gamma_of_rows,
        gamma_doubled,
        equal_gradients,
        gradient_along_the_row,
        no_gradient,
        doubled,
    ],
    size_one=["m"],
    gradients=False,
    refuses={"gamma-as-row": lambda inputs: {"gamma": inputs["gamma"][None].copy()}},
)
