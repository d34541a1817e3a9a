from functools import reduce
from itertools import compress
from math import exp, fsum

from numpy import array, broadcast_to


def one_row(row, visible):
    kept = list(compress(row, visible))
    if not kept:
        return [0.0] * len(row)
    top = reduce(max, kept)
    z = fsum(sorted(exp(x - top) for x in kept))
    return [exp(x - top) / z if seen else 0.0 for x, seen in zip(row, visible, strict=True)]


def masked_softmax(scores, mask):
    n = scores.shape[-1]
    rows = scores.reshape(-1, n).tolist()
    masks = broadcast_to(mask, scores.shape).reshape(-1, n).tolist()
    result = [one_row(row, visible) for row, visible in zip(rows, masks, strict=True)]
    return array(result, dtype=scores.dtype).reshape(scores.shape)
