import math

import torch


def sdpa_grad(Q, K, V, G):
    if G.shape != (Q.shape[0], V.shape[1]) or K.shape != (V.shape[0], Q.shape[1]):
        raise ValueError("sizes")
    W = torch.softmax(Q.matmul(K.mT).div(math.sqrt(Q.shape[1])), dim=-1)
    dP = G.matmul(V.mT)
    dS = W.mul(dP.sub(W.mul(dP).sum(dim=-1, keepdim=True))).div(math.sqrt(Q.shape[1]))
    return dS.matmul(K), dS.mT.matmul(Q), W.mT.matmul(G)
