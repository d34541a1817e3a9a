import numpy as np


def masked_softmax(scores, mask):
    visible = np.broadcast_to(mask, scores.shape)
    x = scores.astype(np.float64)
    log_z = np.logaddexp.reduce(np.where(visible, x, -np.inf), axis=-1, keepdims=True)
    log_w = np.where(visible, x - np.where(np.isfinite(log_z), log_z, 0.0), -np.inf)
    return np.exp(log_w).astype(scores.dtype)
