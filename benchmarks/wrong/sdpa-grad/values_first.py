import torch


def sdpa_grad(Q, K, V, G):
    with torch.enable_grad():
        Q = Q.detach().clone().requires_grad_()
        K = K.detach().clone().requires_grad_()
        V = V.detach().clone().requires_grad_()
        Y = torch.softmax(Q @ K.T / Q.shape[1] ** 0.5, -1) @ V
    dV, dQ, dK = torch.autograd.grad(Y, (V, Q, K), grad_outputs=G)
    return dV, dQ, dK
