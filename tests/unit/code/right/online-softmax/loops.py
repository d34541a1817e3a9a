import math

import numpy as np


def online_softmax(m, l, o, x, V):
    m, l, o = m.copy(), l.copy(), o.copy()
    for i in range(len(m)):
        old = float(m[i])
        new = max(old, *(float(score) for score in x[i]), -math.inf)
        shrink = math.exp(old - new)
        weights = [math.exp(float(score) - new) for score in x[i]]
        m[i] = new
        l[i] = float(l[i]) * shrink + math.fsum(weights)
        for c in range(V.shape[1]):
            o[i, c] = float(o[i, c]) * shrink + math.fsum(w * float(v) for w, v in zip(weights, V[:, c]))
    return m, l, o
