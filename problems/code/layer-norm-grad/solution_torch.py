import torch


def layer_norm_grad(x, gamma, G, eps=1e-5):
    if gamma.shape != x.shape[-1:] or G.shape != x.shape:  # torch would broadcast a size of 1
        raise ValueError("gamma or G doesn't fit x")
    centred = x - x.mean(dim=-1, keepdim=True)
    root = torch.sqrt((centred**2).mean(dim=-1, keepdim=True) + eps)
    normal = centred / root
    inner = gamma * G  # the gradient with respect to the normalised row
    # every entry moves the mean and the variance, and through them all entries of its row
    through_mean = inner.mean(dim=-1, keepdim=True)
    through_variance = normal * (inner * normal).mean(dim=-1, keepdim=True)
    dx = (inner - through_mean - through_variance) / root
    d = x.shape[-1]  # with all rows in one axis; a single row is a sum of one
    return dx, (G * normal).reshape(-1, d).sum(dim=0), G.reshape(-1, d).sum(dim=0)
