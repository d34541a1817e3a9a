"""``cross_entropy(logits, labels, pad)``: the mean loss of the positions that count, and its exponential."""

from typing import Any

import numpy as np
from hypothesis import strategies as st

from engine.exercises import Exercise, RelationCall, array, relation, scores, whole


def _outside(pad: int) -> Any:
    """Give padded positions a label that is no token."""
    return lambda call: {"labels": np.where(call["labels"] == call["pad"], pad, call["labels"]), "pad": pad}


@relation("The perplexity must be the exponential of the loss.")
def exponential(call: RelationCall) -> bool:
    loss, perplexity = call.result
    return call.close(perplexity, np.exp(loss), factor=8)


@relation("Adding one number to all logits of a position must change nothing.")
def shift(call: RelationCall) -> bool:
    by = np.arange(call.labels.size).reshape(call.labels.shape) * 1024.0
    return call.close(
        call.again(logits=call.logits + by[..., None]), call.result, factor=256
    )  # logits are large


@relation("The logits of positions that don't count must make no difference.")
def pads(call: RelationCall) -> bool:
    padded = (call.labels == call.pad)[..., None]
    return call.close(call.again(logits=np.where(padded, 3 - 2 * call.logits, call.logits)), call.result)


@relation("Equal logits must give the perplexity V, the number of tokens.")
def uniform(call: RelationCall) -> bool:
    labels = np.where(np.arange(call.labels.shape[-1]) == 0, 1, call.labels)
    pad = 0 if call.pad == 1 else call.pad
    _, perplexity = call.again(logits=call.logits * 0, labels=labels, pad=pad)
    return call.close(perplexity, call.logits.shape[-1], factor=4)


@relation("The loss times N must be the sum of the losses of the positions that count, each alone.")
def one_by_one(call: RelationCall) -> bool:
    positions = [place for place in np.ndindex(*call.labels.shape) if call.labels[place] != call.pad]
    alone = [
        call.again(logits=call.logits[place][None], labels=call.labels[place][None]) for place in positions
    ]
    return call.close(
        call.result[0] * len(positions), sum(loss for loss, _ in alone), factor=4 * len(positions)
    )


@relation("The loss must be right if one label lies 1,000 below another logit of its position.")
def far(call: RelationCall) -> bool:
    # four times the positions: their mean keeps the perplexity, exp(loss), within float64
    logits, labels = np.concatenate([call.logits] * 4, axis=-2), np.concatenate([call.labels] * 4, axis=-1)
    counts = labels != call.pad
    for place in np.argwhere(counts)[:1].tolist():
        logits[(*place, (labels[tuple(place)] + 1) % logits.shape[-1])] += 1000
    rows, right = logits[counts], labels[counts]
    losses = np.logaddexp.reduce(rows, axis=1) - rows[np.arange(len(rows)), right]
    due = losses.mean() if counts.any() else 0.0
    return call.close(call.again(logits=logits, labels=labels)[0], due, factor=1000)


@relation("If no position counts, the loss must be 0 and the perplexity 1.")
def nothing(call: RelationCall) -> bool:
    loss, perplexity = call.again(labels=np.full_like(call.labels, call.pad))
    return call.close(loss, 0.0) and call.close(perplexity, 1.0)


exercise = Exercise(
    {
        "logits": array("... n V", scores()),
        "labels": array("... n", whole(0, 3), dtype="int64"),
        "pad": st.sampled_from([0, 1, 2, 3]),
    },
    returns=("loss", "perplexity"),
    sizes={"V": st.sampled_from([4, 6])},
    size_long=["V"],
    relations=[exponential, shift, pads, uniform, one_by_one, far, nothing],
    variations={
        "outside": _outside(-1),
        "far-outside": _outside(-100),
        "all": lambda call: {"pad": -1},
        "none": lambda call: {"labels": np.full_like(call["labels"], call["pad"])},
    },
)
