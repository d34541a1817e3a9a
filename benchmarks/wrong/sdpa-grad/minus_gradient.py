import torch


def sdpa_grad(Q, K, V, G):
    q, k, v = (t.detach().clone().requires_grad_(True) for t in (Q, K, V))
    if G.shape != (q.shape[0], v.shape[1]):
        raise ValueError("G does not fit")
    out = torch.softmax(q @ k.T / q.shape[1] ** 0.5, dim=1) @ v
    loss = -(out * G).sum()
    loss.backward()
    return q.grad, k.grad, v.grad
