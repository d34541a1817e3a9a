import numpy as np


def alignment_error_rate(A, sure, possible):
    j = np.expand_dims(A.argmax(1), 1)
    points = sure.astype(int) + np.logical_or(sure, possible).astype(int)
    reached = np.take_along_axis(points, j, axis=1).sum()
    most = A.shape[0] + sure.astype(int).sum()
    return (1 - reached / most).astype(A.dtype)
