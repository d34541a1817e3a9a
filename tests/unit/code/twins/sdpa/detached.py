import torch
import torch.nn.functional as F  # noqa: N812


def sdpa(Q, K, V, mask=None):
    if Q.size(-1) != K.size(-1) or K.size(-2) != V.size(-2):
        raise ValueError("sizes differ")
    with torch.no_grad():
        scores = torch.einsum("...id,...jd->...ij", Q, K) * Q.size(-1) ** -0.5
        if mask is not None:
            if mask.shape[-2:] != scores.shape[-2:]:
                raise ValueError("mask")
            scores = scores.masked_fill(mask.logical_not(), float("-inf"))
        weights = F.softmax(scores, -1).nan_to_num()
    return torch.matmul(weights, V)
