import math

import numpy as np


def cross_entropy(logits, labels, pad):
    total, count = 0.0, 0
    for row, label in zip(logits.reshape(-1, logits.shape[-1]), labels.reshape(-1), strict=True):
        if label == pad:
            continue
        scores = [float(x) for x in row]
        top = max(scores)
        log_z = top + math.log(math.fsum(math.exp(x - top) for x in scores))
        total += log_z - scores[label]
        count += 1
    loss = total / count if count else 0.0
    return np.asarray(loss, logits.dtype), np.asarray(math.exp(loss), logits.dtype)
