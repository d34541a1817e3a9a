import torch
from torch.func import grad


def sdpa_grad(Q, K, V, G):
    """The gradient of the number <G, sdpa(Q, K, V)>."""
    if G.shape != (Q.shape[0], V.shape[1]):
        raise ValueError("G")

    def number(Q, K, V):
        e = torch.einsum("id,jd->ij", Q, K) * Q.shape[-1] ** -0.5
        w = (e - torch.logsumexp(e, dim=-1, keepdim=True)).exp()
        return torch.sum(G * (w @ V))

    if Q.shape[1] != K.shape[1]:
        raise ValueError("Q and K")
    return grad(number, argnums=(0, 1, 2))(Q, K, V)
