import torch


def layer_norm(x, gamma, beta, eps=1e-5):
    d = x.shape[-1]
    if tuple(gamma.shape) != (d,) or tuple(beta.shape) != (d,):
        raise ValueError(f"expected {d} features")
    return torch.nn.functional.layer_norm(x, (d,), gamma, None, eps)
