import torch


def grouped_query_attention(Q, K, V):
    r = Q.size(0) // K.size(0)
    if r * K.size(0) != Q.size(0) or K.size(0) != V.size(0):
        raise ValueError("h must be a multiple of g")
    K, V = K.repeat_interleave(r, dim=0), V.repeat_interleave(r, dim=0)
    weights = torch.bmm(Q, K.mT).div(Q.size(-1) ** 0.5).softmax(-1)
    return torch.bmm(weights, V)
