from operator import mul

import numpy as np


def dot(a, b):
    return sum(map(mul, a, b))


def additive_scores(s, H, W, U, v):
    shapes = (len(s), H.shape[1], W.shape, U.shape, len(v))
    if shapes != (W.shape[1], U.shape[1], (len(v), len(s)), (len(v), H.shape[1]), W.shape[0]):
        raise ValueError(shapes)
    W, U, H, s, v = W.tolist(), U.tolist(), H.tolist(), s, v
    ws = [dot(row, s.tolist()) for row in W]
    return np.fromiter(
        (dot(v.tolist(), np.tanh([a + dot(row, h) for a, row in zip(ws, U, strict=True)])) for h in H),
        dtype=s.dtype,
        count=len(H),
    )
