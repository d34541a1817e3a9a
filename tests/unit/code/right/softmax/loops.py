import itertools
import math

import numpy as np


def softmax(x, axis=-1):
    axis = axis % x.ndim
    result = np.empty(x.shape, dtype=x.dtype)
    others = [range(size) for place, size in enumerate(x.shape) if place != axis]
    for place in itertools.product(*others):
        line = (*place[:axis], slice(None), *place[axis:])
        scores = [float(score) for score in x[line]]
        top = max(scores)
        exponentials = [math.exp(score - top) for score in scores]
        total = math.fsum(exponentials)
        result[line] = [e / total for e in exponentials]
    return result
