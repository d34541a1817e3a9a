import numpy as np


def masked_softmax(scores, mask):
    mask = np.broadcast_to(mask, scores.shape)
    weights = np.zeros(scores.shape)
    for index in np.ndindex(scores.shape[:-1]):
        seen = mask[index]
        if not seen.any():
            continue
        row = scores[index][seen].astype(float)
        row = np.exp(row - row.max())
        weights[index + (seen,)] = row / row.sum()
    return weights
