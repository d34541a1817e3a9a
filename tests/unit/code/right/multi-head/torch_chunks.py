import torch


def multi_head(X, Wq, Wk, Wv, Wo, h):
    if h < 1 or Wq.size(1) % h or not Wq.size(1) == Wk.size(1) == Wv.size(1):
        raise ValueError("heads")
    heads = []
    for Q, K, V in zip(*(torch.chunk(X @ W, h, dim=1) for W in (Wq, Wk, Wv)), strict=True):
        A = torch.softmax(Q @ K.T / Q.size(1) ** 0.5, dim=1)
        heads.append(A @ V)
    return torch.hstack(heads) @ Wo
