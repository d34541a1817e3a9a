import torch


def grouped_query_attention(Q, K, V):
    if Q.shape[0] % K.shape[0]:
        raise ValueError("heads")
    if K.shape[:2] != V.shape[:2]:
        raise ValueError("keys and values")
    k, v = K[0], V[0]  # shared by all heads
    scores = torch.einsum("hmd,nd->hmn", Q, k) / Q.shape[-1] ** 0.5
    return torch.einsum("hmn,nv->hmv", scores.softmax(-1), v)
