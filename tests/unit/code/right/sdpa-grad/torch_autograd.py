import torch


def sdpa_grad(Q, K, V, G):
    Q, K, V = (A.detach().clone().requires_grad_(True) for A in (Q, K, V))
    output = torch.softmax(Q @ K.T / Q.shape[1] ** 0.5, dim=-1) @ V
    if G.shape != output.shape:
        raise ValueError("G")
    output.backward(G)
    return Q.grad, K.grad, V.grad
