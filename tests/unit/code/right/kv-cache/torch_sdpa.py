import torch
import torch.nn.functional as F


def kv_cache(x, K, V, Wq, Wk, Wv):
    if Wq.shape != Wk.shape or len(K) != len(V) or K.shape[1] != Wk.shape[1] or V.shape[1] != Wv.shape[1]:
        raise ValueError("sizes")
    q, k, v = x[None] @ Wq, x[None] @ Wk, x[None] @ Wv
    K, V = torch.cat((K, k)), torch.cat((V, v))
    return F.scaled_dot_product_attention(q[None], K[None], V[None])[0, 0], K, V
