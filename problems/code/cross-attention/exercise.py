"""``cross_attention(X, M, Wq, Wk, Wv, mask, present)``: attention to another sentence, under two masks."""

import numpy as np

from engine.exercises import Exercise, array, relation


def seen(values, shape):
    # Everybody sees the first row of M, so that both masks together leave something. Of two neighbours one
    # sees what the other doesn't.
    mask = values.integers(0, 2, shape) > 0
    for place, row in enumerate(mask.reshape(-1, shape[-1])):
        row[0] = True
        row[1:2] = place % 2 == 1
    return mask


def small(values, shape):
    # where one weight is nearly 1, little shows of what the scores depend on
    return values.eighths(2, shape) / 8


def visible(call):
    return call.mask & call.present[..., None, :]


@relation("If all rows of M are equal, each row of the result must be their value.")
def equal_rows(call):
    same = np.repeat(call.M[..., :1, :], call.M.shape[-2], axis=-2)
    return call.close(call.again(M=same), same[..., :1, :] @ call.Wv)


@relation("If Wq is zero, each row must get the mean of the values that it sees.")
def zero_queries(call):
    weights = visible(call) / visible(call).sum(axis=-1, keepdims=True)
    return call.close(call.again(Wq=0 * call.Wq), weights @ (call.M @ call.Wv))


@relation("What a padded row of M holds must not matter.")
def padding_ignored(call):
    other = np.where(call.present[..., None], call.M, 2 * call.M + 50)
    return call.close(call.again(M=other), call.result)


@relation("A row of M that nobody may see must be the same as padding.")
def column_hidden(call):
    hidden, padded = call.mask.copy(), call.present.copy()
    hidden[:, -1], padded[..., -1] = False, False
    return call.close(call.again(mask=hidden), call.again(present=padded))


@relation("A hidden row of M must be the same as one that isn't in M at all.")
def left_out(call):
    padded = call.present.copy()
    padded[..., -1] = False
    shorter = {"M": call.M[..., :-1, :].copy(), "mask": call.mask[:, :-1].copy()}
    return call.close(
        call.again(present=padded), call.again(**shorter, present=call.present[..., :-1].copy())
    )


@relation("A row of X that may see one row of M only must get its value.")
def one_visible(call):
    mask = np.zeros_like(call.mask)
    mask[:, 0] = True
    return call.close(call.again(mask=mask), np.zeros_like(call.result) + (call.M @ call.Wv)[..., :1, :])


@relation("Repeating the columns of Wq and Wk four times must be the same as doubling Wq.")
def repeated_columns(call):
    wide = call.again(Wq=np.tile(call.Wq, (1, 4)), Wk=np.tile(call.Wk, (1, 4)))
    return call.close(wide, call.again(Wq=2 * call.Wq))


@relation(
    "With two rows of M, the first one's weight must be the logistic function of how far its score is above."
)
def two_rows(call):
    M = call.M[..., :2, :].copy()
    everywhere = {"mask": np.ones_like(call.mask[:, :2]), "present": np.ones_like(call.present[..., :2])}
    keys, values = M @ call.Wk, M @ call.Wv
    scores = (
        (call.X @ call.Wq) @ (keys[..., :1, :] - keys[..., 1:, :]).swapaxes(-1, -2) / call.Wq.shape[1] ** 0.5
    )
    first = 1 / (1 + np.exp(-scores))
    return call.close(
        call.again(M=M, **everywhere), first * values[..., :1, :] + (1 - first) * values[..., 1:, :]
    )


@relation("A row of X that sees nothing must get zeros.")
def zeros_for_nothing(call):
    return call.close(np.where(visible(call).any(axis=-1, keepdims=True), 0, call.result), 0)


@relation("Reordering the rows of X and of mask must reorder the rows of the result.")
def queries_moved(call):
    moved = call.again(X=np.roll(call.X, 1, axis=-2), mask=np.roll(call.mask, 1, axis=0))
    return call.close(moved, np.roll(call.result, 1, axis=-2))


def with_nothing_visible(inputs):
    mask = inputs["mask"].copy()
    mask[0] = False
    return {"mask": mask}


def all_padding(inputs):
    return {"present": np.zeros_like(inputs["present"])}


def loud(inputs):
    # scores of billions on both sides of 0
    return {"X": inputs["X"] * 2.0**16, "M": inputs["M"] * 2.0**16}


def low(inputs):
    # all scores lie billions below 0, those of visible rows too
    large = {name: (np.abs(inputs[name]) + 1) * 2.0**16 for name in ("X", "M")}
    return large | {"Wq": np.abs(inputs["Wq"]) + 1, "Wk": -1 - np.abs(inputs["Wk"])}


exercise = Exercise(
    {
        "X": array("... m d"),
        "M": array("... n e"),
        "Wq": array("d dk", small),
        "Wk": array("e dk"),
        "Wv": array("e dv"),
        "mask": array("m n", seen, dtype="bool"),
        "present": array("... n", seen, dtype="bool"),
    },
    relations=[
        equal_rows,
        equal_rows.on("low"),
        padding_ignored.on("loud"),
        zeros_for_nothing.on("unseeing"),
        zero_queries,
        padding_ignored,
        column_hidden,
        left_out,
        one_visible,
        repeated_columns,
        two_rows,
        queries_moved,
    ],
    variations={
        "unseeing": with_nothing_visible,
        "padding": all_padding,
        "loud": loud,
        "low": low,
    },
    size_one=["m", "n", "dk"],
    refuses={
        "present-for-each-query": lambda inputs: {"present": inputs["mask"].copy()},
        "no-sentences-in-M": lambda inputs: {"X": np.stack([inputs["X"]] * 2)},
    },
)
