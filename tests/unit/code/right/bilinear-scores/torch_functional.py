import torch
import torch.nn.functional as F  # noqa: N812


def bilinear_scores(q, K, W):
    n = K.size(0)
    return F.bilinear(q.expand(n, -1).contiguous(), K.contiguous(), W.unsqueeze(0)).squeeze(-1)
