"""``rotary_positions(x, positions, base=10000.0)``: positions in any order, negative, far, not whole."""

import numpy as np
from hypothesis import strategies as st

from engine.exercises import Exercise, array, linear_in, optional, relation


def places(values, shape):
    # multiples of 1/8 up to 25 on both sides, in no order
    return values.distinct(25, shape)


def products(rows):
    return rows @ np.swapaxes(rows, -1, -2)


@relation("At position 0 nothing must change.")
def position_zero(call):
    return call.close(call.again(positions=0 * call.positions), call.x)


@relation("Every pair must keep its length.")
def lengths(call):
    pairs = call.result.reshape(-1, 2), call.x.reshape(-1, 2)
    return call.close(*((pair**2).sum(axis=-1) for pair in pairs), factor=4)


@relation("Moving all positions alike must not change the products of rows.")
def moved_alike(call):
    other = call.again(positions=call.positions + 3.6)
    return call.close(products(other), products(call.result), factor=4 * call.x.shape[-1])


@relation("Turning on by the negative positions must undo the turn.")
def undone(call):
    return call.close(call.again(x=turned(call, call.positions), positions=-call.positions), call.x)


def turned(call, positions):
    d = call.x.shape[-1]
    turns = np.exp(1j * positions[:, None] * call.base ** (-np.arange(0, d, 2) / d))
    pairs = (call.x[..., 0::2] + 1j * call.x[..., 1::2]) * turns
    return np.stack([pairs.real, pairs.imag], axis=-1).reshape(call.x.shape)


@relation("The first pair must turn by the position itself.")
def first_pair(call):
    angle, first, second = call.positions, call.x[..., 0], call.x[..., 1]
    return call.close(call.result[..., 0], np.cos(angle) * first - np.sin(angle) * second)


@relation("If base is 1 up to rounding, all pairs must turn alike.")
def equal_pairs(call):
    pair = np.tile(call.x[..., :2], call.x.shape[-1] // 2)
    every = call.again(x=pair, base=1.0 + 2.0**-50)
    return call.close(every, np.tile(every[..., :2], pair.shape[-1] // 2))


@relation("Each pair must be turned by itself: what the other entries hold must not matter.")
def pairs_alone(call):
    other = call.x.copy()
    other[..., 2:] = other[..., 2:] * 2 + 1
    return call.close(call.again(x=other)[..., :2], call.result[..., :2])


exercise = Exercise(
    {
        "x": array("... n 2*pairs"),
        "positions": array("n", places),
        "base": optional(st.sampled_from([100.0, 7.5]), default=10000.0),
    },
    relations=[
        position_zero,
        lengths,
        moved_alike,
        undone,
        first_pair,
        equal_pairs,
        pairs_alone,
        linear_in("x"),
    ],
    valid=lambda x, positions, base: x.shape[-1] % 2 == 0 and base > 1,
    variations={
        "far": lambda inputs: {"positions": inputs["positions"] + 400},
        "pair": lambda inputs: {"x": inputs["x"][..., :2].copy()},
    },
    size_one=["n"],
    gradients=["x"],
    refuses={
        "odd": lambda inputs: {"x": inputs["x"][..., :-1].copy()},
        "column": lambda inputs: {"positions": inputs["positions"][:, None].copy()},
        # here the halves of the pairs are broadcast
        "three-entries": lambda inputs: {"x": inputs["x"][..., :3].copy()},
        "one-entry": lambda inputs: {"x": inputs["x"][..., :1].copy()},
    },
)
