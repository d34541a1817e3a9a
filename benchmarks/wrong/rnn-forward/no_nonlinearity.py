import torch


def rnn_forward(X, W, U, h0):
    inputs = torch.nn.functional.linear(X, U)
    h, all_h = h0, []
    for u in inputs:
        h = torch.mv(W, h) + u
        all_h += [h]
    return torch.stack(all_h, dim=0)
