import torch


def grouped_query_attention(Q, K, V):
    n_rep = Q.shape[0] // K.shape[0]
    if Q.shape[0] % K.shape[0] or K.shape[0] != V.shape[0]:
        raise ValueError("bad heads")
    K = K.repeat(n_rep, 1, 1)  # like llama's repeat_kv
    V = V.repeat(n_rep, 1, 1)
    att = (Q @ K.transpose(1, 2)) / (Q.shape[-1] ** 0.5)
    return att.softmax(dim=-1) @ V
