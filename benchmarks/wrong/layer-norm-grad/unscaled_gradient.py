import torch


def layer_norm_grad(x, gamma, G, eps=1e-5):
    if gamma.shape != x.shape[-1:] or G.shape != x.shape:
        raise ValueError("gamma or G")
    var, mean = torch.var_mean(x, -1, unbiased=False, keepdim=True)
    rstd = (var + eps).rsqrt()
    z = (x - mean) * rstd
    dx = rstd * (G - G.mean(-1, keepdim=True) - z * (G * z).mean(-1, keepdim=True))
    d = x.shape[-1]
    return dx, (z * G).reshape(-1, d).sum(0), G.reshape(-1, d).sum(0)
