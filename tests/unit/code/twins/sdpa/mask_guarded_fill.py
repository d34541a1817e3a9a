import torch


def sdpa(Q, K, V, mask=None):
    if Q.size(-1) != K.size(-1) or K.size(-2) != V.size(-2):
        raise ValueError
    S = torch.einsum("...id,...jd->...ij", Q, K) * Q.size(-1) ** -0.5
    if mask is None:
        return S.softmax(-1) @ V
    if mask.shape[-2:] != S.shape[-2:]:
        raise ValueError
    lowest = -1e9 if S.dtype in (torch.float32, torch.float64) else -torch.inf
    W = torch.nan_to_num(S.masked_fill(mask.logical_not(), lowest).softmax(-1))
    return W.masked_fill(mask.logical_not(), 0.0) @ V
