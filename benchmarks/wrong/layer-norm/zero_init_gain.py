import torch


def layer_norm(x, gamma, beta, eps=1e-5):
    if gamma.shape != x.shape[-1:] or beta.shape != x.shape[-1:]:
        raise ValueError("gamma or beta")
    var, mean = torch.var_mean(x, dim=-1, correction=0, keepdim=True)
    scale = 1.0 + gamma  # gamma starts at zero
    return torch.addcmul(beta, (x - mean) * (var + eps).rsqrt(), scale)
