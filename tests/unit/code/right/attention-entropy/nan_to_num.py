import numpy as np


def attention_entropy(A, normalised=False):
    with np.errstate(divide="ignore", invalid="ignore"):
        products = np.nan_to_num(A * np.log(A))
    H = np.negative(products.sum(axis=-1))
    if not normalised:
        return H
    largest = np.log(A.shape[-1]).astype(A.dtype)
    return np.divide(H, largest) if largest > 0 else np.zeros_like(H)
