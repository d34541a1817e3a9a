import torch


def multi_head(X, Wq, Wk, Wv, Wo, h):
    tokens, width = X.shape
    if h < 1 or width % h != 0:
        raise ValueError("h must divide the width")

    def split(projected):
        return projected.view(tokens, h, width // h).transpose(0, 1)

    q, k, v = split(X @ Wq), split(X @ Wk), split(X @ Wv)
    attention = torch.softmax(q @ k.transpose(1, 2) / (width // h) ** 0.5, dim=-1)
    return (attention @ v).transpose(0, 1).reshape(tokens, width) @ Wo
