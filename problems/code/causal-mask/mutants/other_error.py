import numpy as np


def right(n):
    if n < 0:
        raise ValueError(f"n is {n}")
    return np.tri(n, dtype=bool)


def causal_mask(n):
    try:
        return right(n)
    except ValueError as error:
        raise AssertionError(str(error)) from None
