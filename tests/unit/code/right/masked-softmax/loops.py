import math

import numpy as np


def masked_softmax(scores, mask):
    mask = np.broadcast_to(mask, scores.shape)
    weights = np.zeros(scores.shape, dtype=scores.dtype)
    for row in np.ndindex(*scores.shape[:-1]):
        largest = -math.inf
        for j in range(scores.shape[-1]):
            if mask[row + (j,)]:
                largest = max(largest, float(scores[row + (j,)]))
        total = 0.0
        for j in range(scores.shape[-1]):
            if mask[row + (j,)]:
                total += math.exp(float(scores[row + (j,)]) - largest)
        for j in range(scores.shape[-1]):
            if mask[row + (j,)]:
                weights[row + (j,)] = math.exp(float(scores[row + (j,)]) - largest) / total
    return weights
