import torch


def kv_cache(x, K, V, Wq, Wk, Wv):
    if Wq.shape != Wk.shape or K.shape[1] != Wk.shape[1] or V.shape[1] != Wv.shape[1] or len(K) != len(V):
        raise ValueError("sizes")
    keys = torch.cat((K, (x @ Wk).view(1, -1)), 0)
    values = torch.cat((V, (x @ Wv).view(1, -1)), 0)
    attn = torch.nn.functional.softmax(x @ Wq @ keys.T, dim=0)
    return torch.einsum("t,td->d", attn, values), keys, values
