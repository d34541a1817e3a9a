from numpy import array


def causal_mask(n):
    if n < 0:
        raise ValueError
    return array([[j <= i for j in range(n)] for i in range(n)], dtype=bool).reshape(n, n)
