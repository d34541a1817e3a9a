import torch


def cross_attention(X, M, Wq, Wk, Wv, mask, present):
    d, e = X.shape[-1], M.shape[-1]
    if Wq.shape[0] != d or Wk.shape[0] != e or Wv.shape[0] != e or Wq.shape[1] != Wk.shape[1]:
        raise ValueError("projections")
    if X.shape[:-2] != M.shape[:-2] or present.shape != M.shape[:-1]:
        raise ValueError("batches")
    if tuple(mask.shape) != (X.shape[-2], M.shape[-2]):
        raise ValueError("mask")
    visible = mask * present[..., None, :]
    scores = (X @ Wq * Wq.shape[1] ** -0.5) @ (M @ Wk).transpose(-2, -1)
    lowest = torch.finfo(scores.dtype).min
    top = scores.masked_fill(~visible, lowest).amax(-1, keepdim=True).detach()
    exps = torch.where(
        visible, (scores - top).where(visible, torch.zeros_like(scores)).exp(), torch.zeros_like(scores)
    )
    return exps @ (M @ Wv) / exps.sum(-1, keepdim=True).clamp(min=0.5)  # the largest one is exp(0)
