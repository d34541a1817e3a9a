import torch.nn.functional as F  # noqa: N812


def multi_head(X, Wq, Wk, Wv, Wo, h):
    n, dm = len(X), Wq.shape[1]
    if h < 1 or dm % h != 0:
        raise ValueError("h")
    if Wk.shape != Wq.shape or Wv.shape != Wq.shape:
        raise ValueError("Wk or Wv")
    Q, K, V = [(X @ W).view(n, h, dm // h).transpose(0, 1) for W in (Wq, Wk, Wv)]
    Z = F.scaled_dot_product_attention(Q.unsqueeze(0), K.unsqueeze(0), V.unsqueeze(0)).squeeze(0)
    return Z.transpose(0, 1).reshape(n, dm) @ Wo
