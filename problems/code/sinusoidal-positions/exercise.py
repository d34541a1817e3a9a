"""``sinusoidal_positions(positions, d, base=10000.0)``: positions in any order, negative, far, not whole."""

import numpy as np
from hypothesis import strategies as st

from engine.exercises import Exercise, array, optional, relation


def places(values, shape):
    # multiples of 1/8 up to 25 on both sides, in no order
    return values.distinct(25, shape)


@relation("Position 0 must give 0 in the even columns, counted from 0, and 1 in the odd ones.")
def position_zero(call):
    return call.close(call.again(positions=np.zeros(1)), np.tile([0.0, 1.0], call.d // 2))


@relation("The squares of the two columns of a pair must sum to 1.")
def pairs_of_one(call):
    return call.close(call.result[:, 0::2] ** 2 + call.result[:, 1::2] ** 2, 1)


@relation("The product of two rows must depend only on how far apart their positions are.")
def products(call):
    other = call.again(positions=call.positions + 3.5)
    return call.close(other @ other.T, call.result @ call.result.T, factor=call.d)


@relation("The first pair must be the sine and the cosine of the position itself.")
def first_pair(call):
    due = np.stack([np.sin(call.positions), np.cos(call.positions)], axis=1)
    return call.close(call.result[:, :2], due)


@relation("Negative positions must turn the sines' signs and leave the cosines.")
def negated(call):
    signs = np.tile([-1.0, 1.0], call.d // 2)
    return call.close(call.again(positions=-call.positions), signs * call.result)


@relation("With twice as many columns, every second pair must be the same as before.")
def twice_the_columns(call):
    wide = call.again(d=2 * call.d).reshape(len(call.positions), call.d, 2)
    return call.close(wide[:, ::2].reshape(call.result.shape), call.result)


@relation(
    "If base is 2 to the power d/2, each pair must be at doubled positions what the pair before is at these."
)
def halved_from_pair_to_pair(call):
    base = 2.0 ** (call.d / 2)
    slow, fast = (call.again(positions=k * call.positions, base=base) for k in (1, 2))
    return call.close(fast[:, 2:], slow[:, :-2])


@relation("A row must follow from its own position alone.")
def rows_alone(call):
    return call.close(call.again(positions=call.positions[::-1].copy()), call.result[::-1])


exercise = Exercise(
    {
        "positions": array("n", places),
        "d": st.sampled_from([2, 4, 6, 8, 10]),
        "base": optional(st.sampled_from([100.0, 7.5]), default=10000.0),
    },
    relations=[
        position_zero,
        pairs_of_one,
        products,
        first_pair,
        negated,
        halved_from_pair_to_pair,
        twice_the_columns,
        rows_alone,
    ],
    valid=lambda positions, d, base: d >= 2 and d % 2 == 0 and base > 1,
    variations={"far": lambda inputs: {"positions": inputs["positions"] + 400, "d": 6, "base": 7.5}},
    size_one=["n"],
    gradients=False,
    refuses={
        "odd": lambda inputs: {"d": inputs["d"] + 1},
        "one-column": lambda inputs: {"d": 1},
        "no-column": lambda inputs: {"d": 0},
        "negative": lambda inputs: {"d": -2},
    },
)
