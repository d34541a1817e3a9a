import numpy as np


def context(weights, H):
    return weights / weights.sum(axis=-1, keepdims=True) @ H


def context_absolute(weights, H):
    return weights / np.abs(weights).sum(axis=-1, keepdims=True) @ H


def context_after(weights, H):
    return weights @ H / weights.sum(axis=-1, keepdims=True)
