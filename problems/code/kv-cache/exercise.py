"""``kv_cache(x, K, V, Wq, Wk, Wv)``: one step, and that steps in a row give causal self-attention."""

import numpy as np

from engine.exercises import Exercise, array, relation


def small(values, shape):
    # where one weight is nearly 1, little shows of what the scores depend on
    return values.eighths(2, shape) / 8


def softmax(scores):
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


@relation("With an empty cache, the output must be the token's own value.")
def first_token(call):
    y, _, _ = call.again(K=call.K[:0].copy(), V=call.V[:0].copy())
    return call.close(y, call.x @ call.Wv)


@relation("The new cache must be the old one, with the token's key and value behind it.")
def cache(call):
    key, value = (call.x @ call.Wk)[None], (call.x @ call.Wv)[None]
    kept = call.close(call.result[1], np.concatenate([call.K, key]))
    return call.close(call.result[2], np.concatenate([call.V, value])) and kept


@relation("A step must give the last row of causal self-attention over all tokens.")
def last_row(call):
    tokens = np.stack([np.roll(call.x, place) * (1 - place / 4) for place in range(3)])
    Q, K, V = tokens @ call.Wq, tokens @ call.Wk, tokens @ call.Wv
    hidden = np.triu(np.ones((3, 3), dtype=bool), 1)
    rows = softmax(np.where(hidden, -np.inf, Q @ K.T / Q.shape[1] ** 0.5)) @ V
    steps = [call.again(x=tokens[t], K=K[:t].copy(), V=V[:t].copy())[0] for t in range(3)]
    return call.close(np.stack(steps), rows)


@relation("If Wq is zero, the output must be the mean of all values, the token's own among them.")
def zero_query(call):
    y, _, _ = call.again(Wq=0 * call.Wq)
    return call.close(y, np.concatenate([call.V, (call.x @ call.Wv)[None]]).mean(axis=0))


@relation("If all values are equal, the output must be that value.")
def equal_values(call):
    value = call.x @ call.Wv
    y, _, _ = call.again(V=np.tile(value, (len(call.V), 1)))
    return call.close(y, value)


@relation("Reordering keys and values of the cache together must not change the output.")
def cache_reordered(call):
    y, _, _ = call.again(K=call.K[::-1].copy(), V=call.V[::-1].copy())
    return call.close(y, call.result[0])


@relation("Repeating the columns of Wq, Wk and K four times must be the same as doubling Wq.")
def repeated_columns(call):
    wide = {name: np.tile(call.arguments[name], (1, 4)) for name in ("Wq", "Wk", "K")}
    return call.close(call.again(**wide)[0], call.again(Wq=2 * call.Wq)[0])


@relation(
    "With one key in the cache, its weight must be the logistic function of its score minus the token's own."
)
def two_keys(call):
    y, _, _ = call.again(K=call.K[:1].copy(), V=call.V[:1].copy())
    score = (call.x @ call.Wq) @ (call.K[0] - call.x @ call.Wk) / call.K.shape[1] ** 0.5
    old = 1 / (1 + np.exp(-score))
    return call.close(y, old * call.V[0] + (1 - old) * (call.x @ call.Wv))


exercise = Exercise(
    {
        "x": array("d"),
        "K": array("t dk"),
        "V": array("t dv"),
        "Wq": array("d dk", small),
        "Wk": array("d dk"),
        "Wv": array("d dv"),
    },
    returns=["y", "K_new", "V_new"],
    relations=[
        first_token,
        cache,
        last_row,
        zero_query,
        equal_values,
        equal_values.on("loud"),
        cache_reordered,
        repeated_columns,
        two_keys,
    ],
    variations={"loud": lambda inputs: {"x": 64 * inputs["x"], "K": 64 * inputs["K"]}},
    size_one=["t", "dk"],
    size_zero=["t"],
    refuses=True,
)
