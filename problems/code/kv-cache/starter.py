import numpy as np  # or: import torch (then the arrays arrive as tensors, and the results must be tensors)


def kv_cache(x, K, V, Wq, Wk, Wv):
    """Do one step of attention with a cache.

    x : (d,), the new token
    K, V : (t, dk) and (t, dv), the cached keys and values of the t tokens before it; t may be 0
    Wq, Wk, Wv : (d, dk), (d, dk) and (d, dv)

    Returns: the tuple (y, K_new, V_new), of the shapes (dv,), (t+1, dk) and (t+1, dv).
    """
    raise NotImplementedError("write me")
