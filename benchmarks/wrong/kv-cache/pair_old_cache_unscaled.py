import torch


def kv_cache(x, K, V, Wq, Wk, Wv):
    if Wq.shape != Wk.shape or K.shape[1] != Wk.shape[1] or V.shape[1] != Wv.shape[1] or len(K) != len(V):
        raise ValueError("sizes")
    scores = torch.einsum("k,tk->t", x @ Wq, K)
    y = torch.einsum("t,tv->v", torch.softmax(scores, -1), V)
    return y, torch.cat([K, (x @ Wk)[None]]), torch.cat([V, (x @ Wv)[None]])
