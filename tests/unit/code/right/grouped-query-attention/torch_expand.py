import torch


def grouped_query_attention(Q, K, V):
    h, m, d = Q.shape
    g, n, _ = K.shape
    if h % g != 0 or K.shape[2] != d or V.shape[:2] != K.shape[:2]:
        raise ValueError("sizes")
    K = K.unsqueeze(1).expand(g, h // g, n, K.shape[2]).flatten(0, 1)
    V = V.unsqueeze(1).expand(g, h // g, n, V.shape[2]).flatten(0, 1)
    scores = torch.einsum("hmd,hnd->hmn", Q, K) / d**0.5
    scores = scores - scores.amax(dim=2, keepdim=True)
    weights = scores.exp()
    return torch.einsum("hmn,hnv->hmv", weights / weights.sum(dim=2, keepdim=True), V)
