import torch


def sdpa_grad(Q, K, V, G):
    r = Q.shape[1] ** 0.5
    P = torch.softmax(Q @ K.T / r, dim=0)
    dP = G @ V.T
    dS = P * (dP - (P * dP).sum(dim=0, keepdim=True))
    return dS @ K / r, dS.T @ Q / r, P.T @ G
