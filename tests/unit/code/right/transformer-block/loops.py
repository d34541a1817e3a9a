import math

import numpy as np


def norm(row, gain, bias):
    mean = math.fsum(row) / len(row)
    variance = math.fsum((x - mean) ** 2 for x in row) / len(row)
    return [(x - mean) / math.sqrt(variance + 1e-5) * g + b for x, g, b in zip(row, gain, bias, strict=True)]


def times(row, W):
    return [math.fsum(x * w for x, w in zip(row, column, strict=True)) for column in zip(*W, strict=True)]


def transformer_block(X, p):
    dtype, X = X.dtype, X.tolist()
    p = {name: array.tolist() for name, array in p.items()}
    N = [norm(row, p["gain1"], p["bias1"]) for row in X]
    Q, K, V = ([times(row, p[name]) for row in N] for name in ("Wq", "Wk", "Wv"))
    Y = []
    for x, q in zip(X, Q, strict=True):
        scores = [math.fsum(a * b for a, b in zip(q, k, strict=True)) / math.sqrt(len(q)) for k in K]
        e = [math.exp(score - max(scores)) for score in scores]
        mixed = [
            math.fsum(w * v for w, v in zip(e, column, strict=True)) / math.fsum(e) for column in zip(*V)
        ]
        Y.append([a + b for a, b in zip(x, times(mixed, p["Wo"]), strict=True)])
    out = []
    for y in Y:
        hidden = times(norm(y, p["gain2"], p["bias2"]), p["W1"])
        hidden = [max(0.0, h + c) for h, c in zip(hidden, p["c1"], strict=True)]
        out.append([a + b + c for a, b, c in zip(y, times(hidden, p["W2"]), p["c2"], strict=True)])
    return np.array(out, dtype=dtype)
