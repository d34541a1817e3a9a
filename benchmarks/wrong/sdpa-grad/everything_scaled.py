import torch


def sdpa_grad(Q, K, V, G):
    scale = Q.shape[1] ** -0.5
    A = torch.softmax(scale * Q @ K.T, dim=1)
    dA = G @ V.T
    dS = A * (dA - (A * dA).sum(1, keepdim=True))
    dQ, dK, dV = dS @ K, dS.T @ Q, A.T @ G
    return tuple(scale * grad for grad in (dQ, dK, dV))
