import torch


def softmax_vjp(w, g):
    if g.shape != w.shape:
        raise ValueError("g must look like w")
    inner = torch.linalg.vecdot(w, g, dim=-1).unsqueeze(-1)
    return torch.addcmul(w * g, w, inner, value=-1)
