import torch


def grouped_query_attention(Q, K, V):
    if Q.shape[0] % K.shape[0] or V.shape[0] != K.shape[0]:
        raise ValueError("heads")
    g = K.shape[0]
    q = Q.unflatten(0, (g, -1))
    w = torch.einsum("grmd,gnd->grmn", q, K).softmax(dim=-1)
    return torch.einsum("grmn,gnv->grmv", w, V).flatten(0, 1)
