"""``online_softmax(m, l, o, x, V)``: one tile of keys, taken into a running maximum, sum and output."""

import numpy as np

from engine.exercises import Exercise, RelationCall, array, permutation_invariant, positive, relation, scores


def _first(call: RelationCall) -> dict[str, np.ndarray]:
    return {"m": np.full_like(call.m, -np.inf), "l": np.zeros_like(call.l), "o": np.zeros_like(call.o)}


@relation("After the first tile o / l must be attention over that tile.")
def plain(call: RelationCall) -> bool:
    V = call.V / 3  # no float32 holds a third
    _, total, output = call.again(**_first(call), V=V)
    e = np.exp(call.x - call.x.max(axis=1, keepdims=True))
    return call.close(output / total[:, None], e / e.sum(axis=1, keepdims=True) @ V)


@relation("Adding one number to all scores and to m must add it to the new m, and change nothing else.")
def shift(call: RelationCall) -> bool:
    (m, total, output), (old_m, old_total, old_output) = call.again(m=call.m + 8, x=call.x + 8), call.result
    return call.close(m, old_m + 8) and call.close(total, old_total) and call.close(output, old_output)


@relation(
    "A tile far below m must add nothing, and a tile far above it must leave nothing of what was before."
)
def far(call: RelationCall) -> bool:
    below, above = call.again(x=call.x - 4096), call.again(x=call.x + 4096)
    alone = call.again(**_first(call), x=call.x + 4096)
    same = [call.close(got, due) for got, due in zip(below, (call.m, call.l, call.o), strict=True)]
    return all(same) and all(call.close(got, due) for got, due in zip(above, alone, strict=True))


@relation("The same tile twice must give twice the sum and the output that it gives at first.")
def twice(call: RelationCall) -> bool:
    once = call.again(**_first(call))
    both = call.again(**_first(call), x=np.tile(call.x, 2), V=np.tile(call.V, (2, 1)))
    return call.close(both[1], 2 * once[1]) and call.close(both[2], 2 * once[2])


exercise = Exercise(
    {
        "m": array("q"),
        "l": array("q", positive()),
        "o": array("q dv"),
        "x": array("q n", scores()),
        "V": array("n dv"),
    },
    returns=("m", "l", "o"),
    relations=[plain, shift, far, twice, permutation_invariant({"x": 1, "V": 0})],
    variations={
        "first": lambda call: {"m": call["m"] - np.inf, "l": call["l"] * 0, "o": call["o"] * 0},
        "rising": lambda call: {"x": call["x"] + 6},
        "falling": lambda call: {"m": call["m"] + 6},
        "large": lambda call: {"m": call["m"] + 9999.5, "x": call["x"] + 10000},
    },
    size_one=("n",),
    gradients=False,
)
