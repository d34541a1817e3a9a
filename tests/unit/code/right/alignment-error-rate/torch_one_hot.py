import torch
import torch.nn.functional as F  # noqa: N812


def alignment_error_rate(A, sure, possible):
    links = F.one_hot(A.argmax(dim=-1), A.shape[-1]).to(A.dtype)
    S = sure.to(A.dtype)
    P = torch.logical_or(sure, possible).to(A.dtype)
    return 1 - ((links * S).sum() + (links * P).sum()) / (links.sum() + S.sum())
