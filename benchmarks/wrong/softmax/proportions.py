import numpy as np


def softmax(x, axis=-1):
    # every score as a share of the total
    total_score = x.sum(axis=axis, keepdims=True)
    shares = x / total_score
    return shares
