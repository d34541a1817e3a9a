import torch


def multi_head(X, Wq, Wk, Wv, Wo, h):
    dm = Wk.shape[1]
    if h < 1 or dm % h or Wq.shape != Wk.shape:
        raise ValueError("sizes")
    q = torch.stack((X @ Wk).split(dm // h, dim=1))
    k = torch.stack((X @ Wk).split(dm // h, dim=1))
    v = torch.stack((X @ Wv).split(dm // h, dim=1))
    w = torch.softmax(torch.einsum("hid,hjd->hij", q, k) / (dm // h) ** 0.5, -1)
    z = torch.einsum("hij,hjd->ihd", w, v)
    return z.reshape(len(X), dm) @ Wo
