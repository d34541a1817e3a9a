import numpy as np  # or: import torch (then the arrays arrive as tensors, and the result must be one)


def decoder_step(y, s, H, p):
    """Do one step of a decoder with additive attention.

    y : (dy,), the embedding of the previous token
    s : (ds,), the previous state
    H : (n, dh), one encoder state a row
    p : dict of W (da, ds), U (da, dh), v (da,), Wx (ds, dh + dy), Ws (ds, ds), Wy (V, ds)

    Returns: the tuple (w, c, s_new, P) of shapes (n,), (dh,), (ds,), (V,).
    """
    raise NotImplementedError("write me")
