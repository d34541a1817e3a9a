import torch


def multi_head(X, Wq, Wk, Wv, Wo, h):
    n, dm = X.shape[0], Wq.shape[1]
    if h <= 0 or dm % h:
        raise ValueError("heads")
    d = dm // h

    def split(t):
        return t.reshape(n, h, d).permute(1, 0, 2)

    Q, K, V = split(X @ Wq), split(X @ Wk), split(X @ Wv)
    attention = torch.softmax(torch.bmm(Q, K.permute(0, 2, 1)) / d**0.5, dim=2)
    heads = torch.bmm(attention, V)
    concat = heads.reshape(n, dm)  # concatenate the heads
    return concat @ Wo
