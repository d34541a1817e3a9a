import numpy as np


def hard_alignment(A):
    columns = np.arange(A.shape[1])
    return (columns == np.argmax(A, axis=1)[:, np.newaxis]).astype(A.dtype)
