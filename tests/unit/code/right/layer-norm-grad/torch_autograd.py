import torch


def layer_norm_grad(x, gamma, G, eps=1e-5):
    if gamma.shape != x.shape[-1:] or G.shape != x.shape:
        raise ValueError("gamma or G")
    with torch.enable_grad():
        leaves = [x.detach().clone().requires_grad_(), gamma.detach().clone().requires_grad_()]
        leaves.append(torch.zeros_like(leaves[1], requires_grad=True))
        out = torch.nn.functional.layer_norm(leaves[0], x.shape[-1:], leaves[1], leaves[2], eps)
        return torch.autograd.grad(out, leaves, G)
