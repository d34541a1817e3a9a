from functools import partial
from operator import mul

from numpy import asarray


def bilinear_scores(q, K, W):
    def dot(a, b):
        if len(a) != len(b):
            raise ValueError("lengths")
        return sum(map(mul, a, b))

    columns = list(zip(*W.tolist(), strict=True))
    projected = [dot(q.tolist(), column) for column in columns]
    return asarray(list(map(partial(dot, projected), K.tolist())), dtype=q.dtype)
