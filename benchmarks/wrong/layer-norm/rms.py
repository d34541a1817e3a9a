import torch


def layer_norm(x, gamma, beta, eps=1e-5):
    if list(gamma.shape) != [x.shape[-1]] or list(beta.shape) != [x.shape[-1]]:
        raise ValueError("gamma/beta")
    rms = torch.sqrt(torch.mean(x * x, dim=-1, keepdim=True) + eps)
    return x / rms * gamma + beta
