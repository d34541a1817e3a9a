import torch


def multi_head(X, Wq, Wk, Wv, Wo, h):
    if h < 1 or Wq.shape[1] % h != 0:
        raise ValueError("h")
    outputs = []
    for q, k, v in zip((X @ Wq).chunk(h, dim=1), (X @ Wk).chunk(h, dim=1), (X @ Wv).chunk(h, dim=1)):
        outputs.append(torch.softmax(q @ k.T, dim=1) @ v)
    return torch.cat(outputs, dim=1) @ Wo
