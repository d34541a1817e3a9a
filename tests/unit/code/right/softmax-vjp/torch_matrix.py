import torch


def softmax_vjp(w, g):
    if w.shape != g.shape:
        raise ValueError(f"{tuple(w.shape)} != {tuple(g.shape)}")
    jacobian = torch.diag_embed(w) - w.unsqueeze(-1) * w.unsqueeze(-2)
    return torch.matmul(jacobian, g.unsqueeze(-1)).squeeze(-1)
