import torch


def layer_norm_grad(x, gamma, G, eps=1e-5):
    if gamma.size() != x.size()[-1:] or G.size() != x.size():
        raise ValueError("sizes")
    var, mean = torch.var_mean(x, -1, correction=0, keepdim=True)
    inv = torch.rsqrt(var + eps)
    xhat = (x - mean) * inv
    wdy = gamma * G
    c1 = (xhat * wdy).mean(-1, keepdim=True)
    c2 = wdy.mean(-1, keepdim=True)
    dx = (wdy - (xhat * c1 + c2)) * inv
    return (
        dx,
        (G * xhat).flatten(0, -2).sum(0) if x.dim() > 1 else G * xhat,
        G.flatten(0, -2).sum(0) if x.dim() > 1 else G.clone(),
    )
