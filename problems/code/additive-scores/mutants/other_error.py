import numpy as np


def right(s, H, W, U, v):
    if W.shape != (len(v), len(s)) or U.shape != (len(v), H.shape[1]):
        raise ValueError(f"shapes don't fit: s {s.shape}, H {H.shape}, W {W.shape}, U {U.shape}, v {v.shape}")
    hidden = np.tanh(W @ s + H @ U.T)  # (n, da): row j is tanh(W s + U h_j)
    return hidden @ v


def additive_scores(s, H, W, U, v):
    try:
        return right(s, H, W, U, v)
    except ValueError as error:
        raise AssertionError(str(error)) from None
