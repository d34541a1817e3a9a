import torch


def kv_cache(x, K, V, Wq, Wk, Wv):
    if Wq.shape != Wk.shape or K.shape[1] != Wk.shape[1] or V.shape[1] != Wv.shape[1] or len(K) != len(V):
        raise ValueError("sizes")
    K = torch.cat([(x @ Wk).unsqueeze(0), K])
    V = torch.cat([(x @ Wv).unsqueeze(0), V])
    return torch.softmax(x @ Wq @ K.T, dim=-1) @ V, K, V
