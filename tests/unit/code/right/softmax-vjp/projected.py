from math import fsum

from numpy import array


def one(w, g):
    products = [a * b for a, b in zip(w, g, strict=True)]
    s = fsum(products)
    return [p - a * s for p, a in zip(products, w, strict=True)]


def softmax_vjp(w, g):
    if w.shape != g.shape:
        raise ValueError("the gradient has another shape than the weights")
    n = w.shape[-1]
    rows = map(one, w.reshape(-1, n).tolist(), g.reshape(-1, n).tolist())
    return array(list(rows), dtype=w.dtype).reshape(w.shape)
