"""``grouped_query_attention(Q, K, V)``: neighbouring heads share the keys and values of one group."""

import numpy as np
from hypothesis import strategies as st

from engine.exercises import Exercise, RelationCall, array, linear_in, permutation_equivariant, relation


@relation(
    "If all values of a group are equal, its heads must give that value: each query's weights sum to 1."
)
def weights_sum(call: RelationCall) -> bool:
    constant = np.broadcast_to(call.V[:, :1] / 3, call.V.shape).copy()  # no float32 holds a third
    due = np.repeat(constant[:, :1], len(call.Q) // len(call.V), axis=0)
    return call.close(call.again(V=constant), np.broadcast_to(due, call.result.shape))


@relation("Other keys and values of the last group must change nothing for the heads of the first one.")
def other_group(call: RelationCall) -> bool:
    K, V = call.K.copy(), call.V.copy()
    K[-1], V[-1] = 1 - K[-1], 1 - V[-1]
    first = len(call.Q) // len(K)
    return call.close(call.again(K=K, V=V)[:first], call.result[:first])


@relation(
    "Heads of one group that ask the same must give the same, and heads of other groups something else."
)
def shared(call: RelationCall) -> bool:
    g = len(call.K)
    heads = call.again(Q=np.broadcast_to(call.Q[:1], call.Q.shape).copy())
    by_group = heads.reshape(g, -1, *heads.shape[1:])
    return call.close(by_group, by_group[:, :1]) and not np.allclose(by_group[0, 0], by_group[1, 0])


@relation("Writing every group out once for each of its heads must change nothing.")
def written_out(call: RelationCall) -> bool:
    K, V = (np.repeat(array, len(call.Q) // len(array), axis=0) for array in (call.K, call.V))
    return call.close(call.again(K=K, V=V), call.result)


@relation("Reordering keys and values together must change nothing.")
def key_order(call: RelationCall) -> bool:
    return call.close(call.again(K=np.roll(call.K, 1, axis=1), V=np.roll(call.V, 1, axis=1)), call.result)


@relation("Writing every entry of queries and keys four times must be like doubling the queries.")
def scale(call: RelationCall) -> bool:
    Q, K = np.tile(call.Q, 4), np.tile(call.K, 4)
    return call.close(call.again(Q=Q, K=K), call.again(Q=2 * call.Q), factor=4)


@relation("Adding one vector to all keys must change nothing, however long it is.")
def key_shift(call: RelationCall) -> bool:
    return call.close(call.again(K=call.K + 1024), call.result, factor=256)  # of larger scores


@relation("The result must be right for scores in the thousands and far apart, too.")
def far_apart(call: RelationCall) -> bool:
    heads = []
    for head, Q in enumerate(1024 * call.Q):
        group = head * len(call.K) // len(call.Q)
        e = Q @ call.K[group].T / Q.shape[1] ** 0.5
        weights = np.exp(e - np.logaddexp.reduce(e, axis=1, keepdims=True))
        heads.append(weights @ call.V[group])
    return call.close(call.again(Q=1024 * call.Q), heads, factor=2048)  # scores are 1,000 times as large


exercise = Exercise(
    {"Q": array("g*r m d"), "K": array("g n d"), "V": array("g n dv")},
    sizes={"g": st.sampled_from([2, 3]), "r": st.sampled_from([2, 3])},
    size_long=["g", "r"],
    relations=[
        weights_sum,
        other_group,
        shared,
        written_out,
        scale,
        key_order,
        key_shift,
        far_apart,
        linear_in("V"),
        permutation_equivariant("Q", axis=1),
    ],
    variations={
        "one-group": lambda call: {"K": call["K"][:1], "V": call["V"][:1]},
    },
    refuses={
        "no multiple": lambda call: {"Q": call["Q"][1:]},
        "fewer heads than groups": lambda call: {"Q": call["Q"][:1]},
    },
)
