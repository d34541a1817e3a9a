import numpy as np


def attention_entropy(A, normalised=False):
    def of_row(row):
        row = row[row > 0]
        return -(row @ np.log(row))

    H = np.apply_along_axis(of_row, -1, A)
    size = A.shape[-1]
    return (H / np.log(size) if normalised and size > 1 else H).astype(A.dtype)
