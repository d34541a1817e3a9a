import numpy as np


def causal_mask(n):
    if n < 0:
        raise ValueError("n")
    rows = [[j in range(i) for j in range(n)] for i in range(n)]
    return np.array(rows, dtype=bool).reshape(n, n)
