import math
from itertools import chain

import numpy as np


def concat_scores(q, K, W1, w2):
    da, width = W1.shape
    if len(w2) != da or len(q) + K.shape[1] != width:
        raise ValueError("W1 has the wrong shape")
    scores = np.empty(len(K), q.dtype)
    for j, k in enumerate(K):
        pair = list(chain(q.tolist(), k.tolist()))
        score = 0.0
        for a in range(da):
            z = 0.0
            for i in range(width):
                z += float(W1[a][i]) * pair[i]
            score += float(w2[a]) * math.tanh(z)
        scores[j] = score
    return scores
