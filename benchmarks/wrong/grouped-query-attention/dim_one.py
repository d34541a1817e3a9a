import torch


def grouped_query_attention(Q, K, V):
    if Q.shape[0] % K.shape[0] or K.shape[0] != V.shape[0]:
        raise ValueError("sizes")
    r = Q.shape[0] // K.shape[0]
    K = torch.repeat_interleave(K, r, 0)
    V = torch.repeat_interleave(V, r, 0)
    S = torch.bmm(Q, K.transpose(1, 2)) / Q.shape[2] ** 0.5
    return torch.bmm(torch.softmax(S, dim=1), V)
