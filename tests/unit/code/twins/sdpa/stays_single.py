import torch


def sdpa(Q, K, V, mask=None):
    if Q.size(-1) != K.size(-1) or K.size(-2) != V.size(-2):
        raise ValueError
    scores = Q @ K.mT / Q.size(-1) ** 0.5
    if mask is not None:
        if mask.shape[-2:] != scores.shape[-2:]:
            raise ValueError
        scores = scores.masked_fill(~mask, -torch.inf)
    return (torch.nan_to_num(scores.softmax(-1)) @ V).to(torch.float32)
