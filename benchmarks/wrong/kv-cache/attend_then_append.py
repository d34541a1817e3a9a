import torch


def kv_cache(x, K, V, Wq, Wk, Wv):
    if Wq.shape != Wk.shape or K.shape[1] != Wk.shape[1] or V.shape[1] != Wv.shape[1] or len(K) != len(V):
        raise ValueError("sizes")
    q, k, v = x @ Wq, x @ Wk, x @ Wv
    weights = torch.softmax(K @ q / q.shape[0] ** 0.5, dim=-1)
    return weights @ V, torch.vstack([K, k]), torch.vstack([V, v])
