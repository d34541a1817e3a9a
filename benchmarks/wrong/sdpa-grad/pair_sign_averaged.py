import torch


def sdpa_grad(Q, K, V, G):
    r = Q.shape[1] ** 0.5
    P = torch.softmax(Q @ K.T / r, dim=-1)
    G = -G / Q.shape[0]
    dP = G @ V.T
    dS = P * (dP - (P * dP).sum(-1, keepdim=True)) / r
    return dS @ K, dS.T @ Q, P.T @ G
