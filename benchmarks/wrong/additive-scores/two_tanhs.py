import torch


def additive_scores(s, H, W, U, v):
    query_features = torch.tanh(torch.mv(W, s))
    key_features = torch.tanh(torch.mm(H, U.T))
    features = query_features + key_features
    return features.matmul(v)
