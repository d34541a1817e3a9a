import torch


def sdpa(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1] or K.shape[-2] != V.shape[-2]:
        raise ValueError("shapes")
    s = Q @ K.mT * Q.shape[-1] ** -0.5
    if mask is not None:
        if mask.shape[-2:] != s.shape[-2:]:
            raise ValueError("mask")
        s = s.where(mask, torch.tensor(float("-inf"), dtype=s.dtype))
    attention = torch.softmax(s, dim=-1).nan_to_num(0.0).float()
    return attention.to(V.dtype) @ V
