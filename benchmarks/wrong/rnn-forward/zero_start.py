import torch


def rnn_forward(X, W, U, h0):
    if W.shape[1] != h0.shape[0]:
        raise ValueError("h0")
    h = torch.zeros_like(h0)
    out = []
    for t in range(len(X)):
        h = torch.sigmoid(torch.matmul(W, h) + torch.matmul(U, X[t]))
        out.append(h)
    return torch.stack(out)
