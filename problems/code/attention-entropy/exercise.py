"""``attention_entropy(A, normalised)``: how spread out each row of weights is."""

import math

import numpy as np
from hypothesis import strategies as st

from engine.exercises import (
    Exercise,
    RelationCall,
    array,
    optional,
    permutation_invariant,
    probabilities,
    relation,
)


def _some_zeros(call: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    A = call["A"].copy()
    A[..., 1] += A[..., 0]
    A[..., 0] = 0
    return {"A": A}


@relation("Equal weights must have the entropy ln n.")
def uniform(call: RelationCall) -> bool:
    n = call.A.shape[-1]
    return call.close(call.again(A=np.full_like(call.A, 1 / n), normalised=False), math.log(n))


@relation("All weight at one position must have the entropy 0.")
def one_hot(call: RelationCall) -> bool:
    hard = np.zeros_like(call.A)
    hard[..., 0] = 1
    return call.close(call.again(A=hard), 0.0)


@relation("With normalised=True, the result must be that of False divided by ln n.")
def quotient(call: RelationCall) -> bool:
    plain, divided = call.again(normalised=False), call.again(normalised=True)
    return call.close(divided * math.log(call.A.shape[-1]), plain)


@relation("Splitting the first weight a of each row in two halves must add a ln 2 to the entropy.")
def split(call: RelationCall) -> bool:
    first = call.A[..., :1]
    A = np.concatenate([first / 2, first / 2, call.A[..., 1:]], axis=-1)
    due = call.again(normalised=False) + first[..., 0] * math.log(2)
    return call.close(call.again(A=A, normalised=False), due)


@relation("A further weight of 0 must change nothing but the number n of weights.")
def added_zero(call: RelationCall) -> bool:
    A = np.concatenate([call.A, np.zeros_like(call.A[..., :1])], axis=-1)
    plain, divided = call.again(normalised=False), call.again(A=A, normalised=True)
    return call.close(divided * math.log(A.shape[-1]), plain) and call.close(
        call.again(A=A, normalised=False), plain
    )


@relation("Two equal weights must have ln 2 as their entropy, and 1 with the division.")
def two_weights(call: RelationCall) -> bool:
    A = np.full_like(call.A[..., :2], 0.5)
    plain, divided = call.again(A=A, normalised=False), call.again(A=A, normalised=True)
    return call.close(plain, math.log(2)) and call.close(divided, 1.0)


@relation("A single weight must have the entropy 0, with the division and without.")
def one_weight(call: RelationCall) -> bool:
    A = np.ones_like(call.A[..., :1])
    return call.close(call.again(A=A, normalised=True), 0.0) and call.close(
        call.again(A=A, normalised=False), 0.0
    )


exercise = Exercise(
    {"A": array("... n", probabilities()), "normalised": optional(st.booleans(), default=False)},
    relations=[
        uniform,
        one_hot,
        quotient,
        split,
        added_zero,
        two_weights,
        one_weight,
        permutation_invariant({"A": -1}),
    ],
    variations={"zeros": _some_zeros, "normalised": lambda call: {"normalised": True}},
)
