import torch


def online_softmax(m, l, o, x, V):
    """The tile's sum by logsumexp, relative to its own maximum first."""
    tile = x.amax(1)
    top = torch.where(m > tile, m, tile)
    tile_sum = torch.logsumexp(x - tile[:, None], 1).exp()
    before, here = torch.exp(m - top), torch.exp(tile - top)
    mixture = torch.einsum("qn,nv->qv", torch.exp(x - tile[:, None]), V)
    return top, before * l + here * tile_sum, before[:, None] * o + here[:, None] * mixture
