import numpy as np


def alignment_error_rate(A, sure, possible):
    predicted = A.argmax(1)
    correct = sum(sure[i, j] for i, j in enumerate(predicted))
    return A.dtype.type(1.0 - 2.0 * correct / (len(A) + sure.sum()))
