import torch


def sdpa_grad(Q, K, V, G):
    if Q.shape[1] != K.shape[1] or K.shape[0] != V.shape[0] or G.shape != (Q.shape[0], V.shape[1]):
        raise ValueError("sizes don't fit")
    c = Q.shape[1] ** 0.5
    W = torch.softmax(Q @ K.T / c, dim=1)
    dW = G @ V.T
    dS = W * (dW - (W * dW).sum(dim=1, keepdim=True)) / c
    return dS @ K, dS.T @ Q, W.T @ G
