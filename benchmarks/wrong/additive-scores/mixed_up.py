import numpy as np


def additive_scores(s, H, W, U, v):
    same_size = W.shape[1] == U.shape[1]
    if W.shape[1] != s.shape[0] or U.shape[1] != H.shape[1]:
        raise ValueError("sizes")
    if same_size:
        decoder_part, encoder_part = U @ s, H @ W.T
    else:
        decoder_part, encoder_part = W @ s, H @ U.T
    return np.tanh(decoder_part + encoder_part) @ v
