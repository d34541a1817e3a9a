import numpy as np


def context(weights, H):
    return weights.reshape(-1, H.shape[0])[0] @ H


def context_flat(weights, H):
    return weights.reshape(-1, H.shape[0]) @ H if weights.ndim > 1 else weights @ H


def context_one_row(weights, H):
    (n,) = weights.shape
    if n != H.shape[0]:
        raise ValueError("sizes")
    return weights @ H


def context_states_left(weights, H):
    return np.dot(H.T, weights)


def context_loop(weights, H):
    total = np.zeros(H.shape[1], H.dtype)
    for w, h in zip(weights, H):
        total = total + w * h
    return total
