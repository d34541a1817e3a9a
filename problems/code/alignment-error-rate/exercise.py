"""``alignment_error_rate(A, sure, possible)``: how far a hard alignment is from an annotated one."""

import numpy as np

from engine.exercises import Exercise, RelationCall, array, probabilities, relation


def _few(values, shape):
    return values.integers(0, 3, shape) == 0


def _best(A: np.ndarray) -> np.ndarray:
    return np.arange(A.shape[1]) == A.argmax(axis=1)[:, None]


@relation("If exactly the largest weights are sure links, the error rate must be 0.")
def perfect(call: RelationCall) -> bool:
    return call.close(call.again(sure=_best(call.A), possible=np.zeros_like(call.possible)), 0.0)


@relation(
    "If the largest weights are exactly the possible links and no link is sure, the error rate must be 0."
)
def all_possible(call: RelationCall) -> bool:
    return call.close(call.again(sure=np.zeros_like(call.sure), possible=_best(call.A)), 0.0)


@relation("Only the largest weight of a row must become a link, however near the next one is.")
def close_second(call: RelationCall) -> bool:
    best = _best(call.A)
    A = np.where(best, 0.4, np.where(np.roll(best, 1, axis=1), 0.375, 0.02))
    return call.close(call.again(A=A / A.sum(axis=1, keepdims=True), sure=best, possible=best), 0.0)


@relation("Of equal largest weights the first must become the link.")
def ties(call: RelationCall) -> bool:
    first = np.arange(call.A.shape[1]) == np.zeros((len(call.A), 1))
    return call.close(
        call.again(A=np.full_like(call.A, 1 / call.A.shape[1]), sure=first, possible=first), 0.0
    )


@relation("Sure links that no largest weight has must lower 1 - AER as they raise |A| + |S|.")
def missed(call: RelationCall) -> bool:
    sure = call.sure | np.roll(_best(call.A), 1, axis=1)
    before, after = (len(call.A) + links.sum() for links in (call.sure, sure))
    return call.close((1 - call.again(sure=sure)) * after, (1 - call.result) * before, factor=float(after))


@relation("If no largest weight is an accepted link, the error rate must be 1.")
def nothing_right(call: RelationCall) -> bool:
    other = np.roll(_best(call.A), 1, axis=1)
    return call.close(call.again(sure=other, possible=other), 1.0)


@relation("Reordering the target words must change nothing.")
def order(call: RelationCall) -> bool:
    moved = {name: np.roll(array, 1, axis=0) for name, array in call.arguments.items()}
    return call.close(call.again(**moved), call.result)


@relation("Possible links that no largest weight has must make no difference.")
def further_links(call: RelationCall) -> bool:
    best = _best(call.A)
    return call.close(call.again(possible=call.possible | ~best), call.again(possible=call.possible & best))


exercise = Exercise(
    {
        "A": array("m n", probabilities()),
        "sure": array("m n", _few, dtype="bool"),
        "possible": array("m n", _few, dtype="bool"),
    },
    returns="number",
    relations=[perfect, all_possible, nothing_right, close_second, ties, missed, order, further_links],
    variations={
        "none-sure": lambda call: {"sure": np.zeros_like(call["sure"])},
        "all-possible": lambda call: {"possible": np.ones_like(call["possible"])},
        "outside": lambda call: {"possible": call["possible"] & ~call["sure"]},
    },
    gradients=False,
)
