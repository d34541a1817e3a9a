import torch


def one_row(row, gamma, g, eps):
    d = len(row)
    centred = row - row.mean()
    s = (centred.dot(centred) / d + eps).sqrt()
    z = centred / s
    t = gamma * g
    return (t - t.mean() - z * (t.dot(z) / d)) / s, g * z


def layer_norm_grad(x, gamma, G, eps=1e-5):
    d = x.shape[-1]
    if gamma.shape != (d,) or G.shape != x.shape:
        raise ValueError("shapes of x, gamma, G")
    dx, dgamma, dbeta = [], torch.zeros_like(gamma), torch.zeros_like(gamma)
    for row, g in zip(x.reshape(-1, d), G.reshape(-1, d)):
        moved, scaled = one_row(row, gamma, g, eps)
        dx.append(moved)
        dgamma = dgamma + scaled
        dbeta = dbeta + g
    return torch.stack(dx).reshape(x.shape), dgamma, dbeta
