import numpy as np


def concat_scores(q, K, W1, w2):
    x = np.concatenate([np.tile(q, (len(K), 1)), K], axis=1)
    single = np.tanh(x.astype(np.float32) @ W1.T.astype(np.float32)) @ w2.astype(np.float32)
    return single.astype(K.dtype)
