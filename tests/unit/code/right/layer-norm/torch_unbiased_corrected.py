import torch


def layer_norm(x, gamma, beta, eps=1e-5):
    d = x.size(-1)
    if gamma.size() != (d,) or beta.size() != (d,):
        raise ValueError("size")
    if d == 1:  # nothing is left of a single entry
        return 0 * x * gamma + beta
    variance = x.var(dim=-1, keepdim=True) * (d - 1) / d
    return (
        torch.einsum("...d,d->...d", (x - x.mean(-1, keepdim=True)) / (variance + eps).sqrt(), gamma) + beta
    )
