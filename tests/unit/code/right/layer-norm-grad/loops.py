import math

import numpy as np


def layer_norm_grad(x, gamma, G, eps=1e-5):
    d = x.shape[-1]
    if gamma.shape != (d,) or G.shape != x.shape:
        raise ValueError("sizes")
    scale = gamma.tolist()
    dx, dgamma, dbeta = [], [0.0] * d, [0.0] * d
    for row, grads in zip(x.reshape(-1, d).tolist(), G.reshape(-1, d).tolist()):
        mean = math.fsum(row) / d
        centred = [v - mean for v in row]
        root = math.sqrt(math.fsum(c * c for c in centred) / d + eps)
        z = [c / root for c in centred]
        inner = [s * g for s, g in zip(scale, grads)]
        first = math.fsum(inner) / d
        second = math.fsum(a * b for a, b in zip(inner, z)) / d
        dx.append([(inner[i] - first - z[i] * second) / root for i in range(d)])
        for i in range(d):
            dgamma[i] += grads[i] * z[i]
            dbeta[i] += grads[i]
    kind = x.dtype
    return np.array(dx, kind).reshape(x.shape), np.array(dgamma, kind), np.array(dbeta, kind)
