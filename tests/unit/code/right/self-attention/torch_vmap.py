import torch


def self_attention(X, Wq, Wk, Wv, causal=False):
    n = X.size(0)
    K, V = torch.matmul(X, Wk), torch.matmul(X, Wv)
    positions = torch.arange(n)

    def row(x, i):
        e = torch.mv(K, x @ Wq) * Wk.size(1) ** -0.5
        if causal:
            e = torch.where(positions <= i, e, -torch.inf)
        return torch.exp(torch.log_softmax(e, 0)) @ V

    return torch.vmap(row)(X, positions)
