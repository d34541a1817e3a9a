import torch


def grouped_query_attention(Q, K, V):
    assert Q.shape[0] % K.shape[0] == 0, "heads must divide"
    assert K.shape[:2] == V.shape[:2] and Q.shape[2] == K.shape[2]
    r = Q.shape[0] // K.shape[0]
    groups = torch.arange(Q.shape[0]) // r
    scores = Q @ K[groups].transpose(1, 2) / Q.shape[2] ** 0.5
    return scores.softmax(-1) @ V[groups]
