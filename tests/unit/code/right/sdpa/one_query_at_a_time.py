import numpy as np


def attend(q, K, V, visible):
    K, V = K[visible], V[visible]
    if len(K) == 0:
        return np.zeros(V.shape[1], V.dtype)
    e = K @ q / q.dtype.type(len(q)) ** q.dtype.type(0.5)
    w = np.exp(e - e.max())
    return (w / w.sum()) @ V


def sdpa(Q, K, V, mask=None):
    if Q.ndim > 2:
        masks = [None] * len(Q) if mask is None else mask if mask.ndim == Q.ndim else [mask] * len(Q)
        return np.stack([sdpa(*parts) for parts in zip(Q, K, V, masks, strict=True)])
    if K.shape[1] != Q.shape[1] or V.shape[0] != K.shape[0]:
        raise ValueError("these matrices don't belong together")
    if mask is None:
        mask = np.ones((len(Q), len(K)), dtype=bool)
    if mask.shape != (len(Q), len(K)):
        raise ValueError("this mask doesn't belong to these matrices")
    return np.array([attend(q, K, V, visible) for q, visible in zip(Q, mask, strict=True)])
